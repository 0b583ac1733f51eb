import fc from "fast-check";
import { expect, it } from "vitest";
import { refOf, refText } from "../../src/apis/index.ts";
import { type KnownObjects, openDesiredReader } from "../../src/desired/index.ts";
import type { DesiredState } from "../../src/plan/index.ts";
import type { GitReader } from "../../src/source/index.ts";
import { document, functionYaml, handler, runtimes, triggerYaml } from "../support/function-files.ts";
import { memoryGit } from "./memory-git.ts";

/** What a file may become; undefined removes it. */
const TEXTS: readonly (string | undefined)[] = [
  undefined,
  functionYaml("a"),
  functionYaml("b", { sourceDir: "x" }),
  functionYaml("c") + triggerYaml("t", "c"),
  document("FunctionJob", "j", { runtime: "nodejs20" }),
  triggerYaml("t", "a"),
  "apiVersion: sless.kube5s.ru/v1alpha1\nkind: [",
  "apiVersion: v1\nkind: ConfigMap\n",
  "key: value\n",
];
const IGNORES: readonly (string | undefined)[] = [undefined, "*.txt\n", "x/\n", "handler.py\n"];
const FOLDERS = ["", "x/", "x/y/", "z/"];

const change = fc.tuple(
  fc.constantFrom(...FOLDERS),
  fc.oneof(
    fc.tuple(fc.constantFrom("function.yaml", "other.yaml"), fc.constantFrom(...TEXTS)),
    fc.tuple(fc.constant("handler.py"), fc.constantFrom(undefined, handler("1"), handler("2"))),
    fc.tuple(fc.constant("notes.txt"), fc.constantFrom(undefined, "1", "2")),
    fc.tuple(fc.constant(".slessignore"), fc.constantFrom(...IGNORES)),
  ),
);
const history = fc.array(fc.array(change, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 8 });

it("whatever was read before, a revision wants the same as if it were read first", async () => {
  await fc.assert(
    fc.asyncProperty(history, fc.boolean(), async (commits, isKnown) => {
      const { git, commit } = memoryGit();
      const options = { git: git as GitReader, path: "", namespace: "demo", runtimes };
      const incremental = openDesiredReader(options);
      const files = new Map<string, string>();
      let known: KnownObjects = { manifestFiles: new Map() };
      for (const changes of commits) {
        for (const [folder, [name, text]] of changes) {
          if (text === undefined) files.delete(folder + name);
          else files.set(folder + name, text);
        }
        const resolved = commit(files);
        const state = await incremental.read(resolved, known);
        expect(state).toEqual(await openDesiredReader(options).read(resolved, known));
        if (isKnown) known = { manifestFiles: heldIn(state) };
      }
    }),
    { numRuns: 300 },
  );
});

/** `refText` by file, as the objects of an applied state tell it. */
function heldIn({ objects }: DesiredState): KnownObjects["manifestFiles"] {
  const held = new Map<string, string[]>();
  for (const { file, intent } of objects) held.set(file, [...(held.get(file) ?? []), refText(refOf(intent))]);
  return held;
}
