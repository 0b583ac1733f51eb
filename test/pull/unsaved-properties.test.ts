import fc from "fast-check";
import { expect, it } from "vitest";
import { functionYaml, handler, triggerYaml } from "../support/function-files.ts";
import type { Files } from "../support/git-repository.ts";
import { filesBelow, type PullWorld, pullWorld, put } from "./pull-world.ts";

const NAMES = ["a", "b", "c"];
const COMMITTED: Files = Object.fromEntries(
  NAMES.flatMap((name) => [
    [
      `functions/${name}/function.yaml`,
      `# ${name}\n${functionYaml(name, { memoryMB: 64 })}${triggerYaml(`${name}-t`, name)}`,
    ],
    [`functions/${name}/handler.py`, handler()],
    [`functions/${name}/data.txt`, name],
  ]),
);
const PATHS = [
  ...Object.keys(COMMITTED),
  "functions/a/new.txt",
  "functions/d/handler.py",
  "functions/b/in/x",
  "README.md",
];

/** What a user did and has not committed. */
const edit = fc.tuple(
  fc.constantFrom(...PATHS),
  fc.constantFrom<string | null>(null, "mine", "# edited\n", functionYaml("mine")),
);

/** What became of an object on the server. */
const change = fc.oneof(
  fc.record({ name: fc.constantFrom(...NAMES, "d"), memoryMB: fc.constantFrom(64, 128, 256) }),
  fc.record({ name: fc.constantFrom(...NAMES, "d"), code: fc.constantFrom(handler("x"), handler(), "mine") }),
  fc.record({ name: fc.constantFrom(...NAMES), isRemoved: fc.constant(true) }),
);
type Change = { name: string; memoryMB?: number; code?: string; isRemoved?: true };

async function onServer(world: PullWorld, { name, memoryMB, code, isRemoved }: Change): Promise<void> {
  const present = await world.get("Function", name);
  if (isRemoved && present) await world.remove("Function", name);
  else if (!isRemoved) {
    const source = code !== undefined || !present ? { "handler.py": code ?? handler(), "more.txt": "more" } : undefined;
    await world.write("Function", name, { runtime: "python3.11", ...(memoryMB !== undefined && { memoryMB }) }, source);
  }
}

it("a pull without force loses nothing that is not committed, and a second one has nothing left to do", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(edit, { maxLength: 4 }),
      fc.array(change, { maxLength: 4 }),
      fc.boolean(),
      async (edits, changes, prune) => {
        const world = await pullWorld(COMMITTED);
        for (const one of changes) await onServer(world, one);
        for (const [path, text] of edits) await put(world.git.work, { [path]: text });
        const before = await filesBelow(world.git.work);
        const dirty = PATHS.filter((path) => !sameBytes(before[path], COMMITTED[path]));

        const args = prune ? ["--prune"] : [];
        await world.pulled(...args);
        const after = await filesBelow(world.git.work);
        for (const path of dirty) expect([path, after[path]]).toEqual([path, before[path]]);
        // What was committed can be had back.
        await world.pulled(...args);
        expect(await filesBelow(world.git.work)).toEqual(after);
      },
    ),
    { numRuns: 40 },
  );
});

function sameBytes(a: Files[string] | undefined, b: Files[string] | undefined): boolean {
  if (a === undefined || b === undefined || a === null || b === null) return (a ?? undefined) === (b ?? undefined);
  return Buffer.from(a as Uint8Array).equals(Buffer.from(b as string));
}
