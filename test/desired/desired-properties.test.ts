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
/** Changes of a commit, and whether the repository can be read only in part when it is first looked at. */
const commit = fc.record({
  changes: fc.array(change, { minLength: 1, maxLength: 4 }),
  isTorn: fc.boolean(),
});
const history = fc.array(commit, { minLength: 1, maxLength: 8 });

it("whatever was read before, a revision wants the same as if it were read first", async () => {
  await fc.assert(
    fc.asyncProperty(history, fc.boolean(), fc.constantFrom("", "x"), async (commits, isKnown, path) => {
      const { git, commit } = memoryGit();
      let isTorn = false;
      const torn = {
        ...git,
        sizes: async (ids: readonly string[]) => (isTorn ? Promise.reject(new Error("torn")) : git.sizes(ids)),
      };
      const options = { path, namespace: "demo", runtimes };
      const incremental = openDesiredReader({ ...options, git: torn as GitReader });
      const files = new Map([["x/kept.txt", "kept"]]);
      let known: KnownObjects = { manifestFiles: new Map() };
      for (const { changes, ...one } of commits) {
        for (const [folder, [name, text]] of changes) {
          if (text === undefined) files.delete(folder + name);
          else files.set(folder + name, text);
        }
        const resolved = commit(files);
        isTorn = one.isTorn;
        if (isTorn) await incremental.read(resolved, known).catch(() => undefined);
        isTorn = false;
        const state = await incremental.read(resolved, known);
        expect(state).toEqual(await openDesiredReader({ ...options, git: git as GitReader }).read(resolved, known));
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
