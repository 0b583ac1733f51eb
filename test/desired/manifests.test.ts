import { expect, it } from "vitest";
import { functionFolder, functionYaml, handler, triggerYaml } from "../support/function-files.ts";
import { desiredFrom, faultsIn, objectsIn } from "./open-reader.ts";

const HELLO = "functions/hello/function.yaml";

it("every manifest below the path is read, wherever it stands and however many documents it has", async () => {
  const { read } = await desiredFrom({
    ...functionFolder("hello"),
    "functions/hello/more/extra.yaml": triggerYaml("extra", "hello"),
    "job.yaml": functionYaml("at-the-root"),
    "handler.py": handler(),
    "values.yaml": "apiVersion: v1\nkind: ConfigMap\n",
  });
  expect(objectsIn(await read())).toEqual([
    "Function/at-the-root job.yaml:3",
    `Function/hello ${HELLO}:3`,
    "Trigger/extra functions/hello/more/extra.yaml:3",
    `Trigger/hello-http ${HELLO}:9`,
  ]);
});

it("malformed YAML blocks its own objects and all pruning, and nothing else (lesson 2)", async () => {
  const { repository, read } = await desiredFrom({ ...functionFolder("hello"), ...functionFolder("other") });
  await repository.commit("break", { [HELLO]: "apiVersion: sless.kube5s.ru/v1alpha1\nkind: [Function\n" });
  const state = await read({ [HELLO]: ["Function/demo/hello", "Trigger/demo/hello-http"] });
  expect(faultsIn(state)[0]).toMatch(/^yaml_syntax functions\/hello\/function\.yaml:\d+:\d+$/);
  expect(state.blocksPruning).toBe(true);
  expect([...state.blocked].sort()).toEqual(["Function/demo/hello", "Trigger/demo/hello-http"]);
  expect(objectsIn(state).map((line) => line.split(" ")[0])).toEqual(["Function/other", "Trigger/other-http"]);
});

it("an invalid field blocks every object of its file, named in any of its documents", async () => {
  const text = functionYaml("hello", { memoryMB: "much" }) + triggerYaml("hello-http", "hello");
  const { read } = await desiredFrom({ ...functionFolder("hello"), [HELLO]: text });
  const state = await read();
  expect(faultsIn(state)).toEqual([`manifest_invalid ${HELLO}:7:3`]);
  expect(state.objects).toEqual([]);
  expect([...state.blocked].sort()).toEqual(["Function/demo/hello", "Trigger/demo/hello-http"]);
});

it("a file that held objects and no longer looks like a manifest blocks pruning instead of deleting them", async () => {
  const file = "functions/hello/objects.yaml";
  const { repository, read } = await desiredFrom({
    [file]: functionYaml("hello"),
    "functions/hello/handler.py": handler(),
  });
  await repository.commit("lose apiVersion", { [file]: "kind: Function\n" });
  expect(faultsIn(await read())).toEqual([]);
  const state = await read({ [file]: ["Function/demo/hello"] });
  expect(faultsIn(state)).toEqual([`no_longer_a_manifest ${file}`]);
  expect(state.diagnostics[0]?.message).toContain("Function/demo/hello");
  expect(state.blocksPruning).toBe(true);
  expect([...state.blocked]).toEqual(["Function/demo/hello"]);
});

it.each(["", "# kind: Function\n", "---\n---\n", "{}\n"])(
  "a manifest of a fixed name that was emptied to %j blocks pruning, for nobody deleted the file",
  async (emptied) => {
    const { repository, read } = await desiredFrom(functionFolder("hello"));
    await repository.commit("empty it", { [HELLO]: emptied });
    const state = await read({ [HELLO]: ["Function/demo/hello"] });
    expect(state.diagnostics.map(({ file }) => file)).toContain(HELLO);
    expect(state.blocksPruning).toBe(true);
    expect([...state.blocked]).toEqual(["Function/demo/hello"]);
  },
);

it("an empty manifest that never held anything is no fault", async () => {
  const { read } = await desiredFrom({ ...functionFolder("hello"), "functions/new/function.yaml": "" });
  expect(faultsIn(await read())).toEqual([]);
});

it("a manifest that was deleted is no fault", async () => {
  const { repository, read } = await desiredFrom(functionFolder("hello"));
  await repository.commit("remove", { [HELLO]: null, "README.md": "gone" });
  const state = await read({ [HELLO]: ["Function/demo/hello"] });
  expect(state).toMatchObject({ objects: [], diagnostics: [], blocksPruning: false });
});

it("two manifests of one name are both told and both blocked, without blocking pruning", async () => {
  const { read } = await desiredFrom({
    ...functionFolder("hello"),
    "copy/function.yaml": functionYaml("hello"),
    "copy/handler.py": handler(),
  });
  const state = await read();
  expect(faultsIn(state)).toEqual(["name_taken copy/function.yaml:3:1", `name_taken ${HELLO}:3:1`]);
  for (const { message } of state.diagnostics) expect(message).toContain(`copy/function.yaml:3 and ${HELLO}:3`);
  expect([...state.blocked]).toEqual(["Function/demo/hello"]);
  expect(objectsIn(state)).toEqual([`Trigger/hello-http ${HELLO}:9`]);
  expect(state.blocksPruning).toBe(false);
});

it("a function and a service of one name are both blocked", async () => {
  const { read } = await desiredFrom({
    "a/function.yaml": functionYaml("same"),
    "a/handler.py": handler(),
    "b/service.yaml": functionYaml("same").replace("kind: Function", "kind: Service"),
    "b/handler.py": handler(),
  });
  const state = await read();
  expect(faultsIn(state)).toEqual(["name_taken a/function.yaml:3:1", "name_taken b/service.yaml:3:1"]);
  expect([...state.blocked].sort()).toEqual(["Function/demo/same", "Service/demo/same"]);
});

it("a manifest that is a symbolic link is a fault, for its objects stand elsewhere (lesson 13)", async () => {
  const { read } = await desiredFrom({
    ...functionFolder("hello"),
    "functions/linked/function.yaml": { symlink: "../hello/function.yaml" },
  });
  const state = await read();
  expect(faultsIn(state)).toEqual(["source_unsupported functions/linked/function.yaml"]);
  expect(state.blocksPruning).toBe(true);
});

it("a path that is not there is an error, never an empty set (lesson 1)", async () => {
  const { repository, read } = await desiredFrom(functionFolder("hello"), { path: "./functions/" });
  expect(objectsIn(await read())).toHaveLength(2);
  await repository.git("mv", "functions", "elsewhere");
  await repository.commit("move", {});
  await expect(read()).rejects.toMatchObject({ code: "path_not_found", details: { path: "./functions/" } });
});

it.each(["../", "functions/../..", "/functions", "functions/hello/handler.py"])(
  "the path %s is no folder of the repository",
  async (path) => {
    const { read } = await desiredFrom(functionFolder("hello"), { path });
    await expect(read()).rejects.toMatchObject({ code: "path_not_found" });
  },
);

it("a folder emptied on purpose wants nothing, without a fault (lesson 7)", async () => {
  const { repository, read } = await desiredFrom(functionFolder("hello"), { path: "functions" });
  await repository.commit("empty it", { "functions/hello": null, "functions/.gitkeep": "" });
  expect(await read()).toMatchObject({ objects: [], diagnostics: [], blocksPruning: false });
});

it("a repository emptied on purpose wants nothing", async () => {
  const { repository, read } = await desiredFrom(functionFolder("hello"));
  await repository.commit("empty it", { functions: null });
  expect(await read()).toMatchObject({ objects: [], diagnostics: [], blocksPruning: false });
});

it("more entries than the limit are refused as a whole", async () => {
  const { read } = await desiredFrom(functionFolder("hello"), { limits: { maxEntries: 3 } });
  await expect(read()).rejects.toMatchObject({ code: "repository_too_large" });
});

it("a tree that names endless paths is refused before they are walked", async () => {
  const { repository, read } = await desiredFrom(functionFolder("hello"), { limits: { maxEntries: 10_000 } });
  let tree = await repository.git("rev-parse", "HEAD:functions/hello");
  for (let level = 0; level < 12; level += 1) tree = await treeOf(repository, tree, 10);
  const commit = await repository.git("commit-tree", tree, "-m", "bomb");
  await repository.git("reset", "--quiet", "--soft", commit);
  await expect(read()).rejects.toMatchObject({ code: "repository_too_large" });
});

it.each<[string, object]>([
  ["YAML", { maxYamlBytes: 10_000 }],
  ["manifests", { maxManifestBytes: 10_000 }],
  ["objects", { maxManifests: 100 }],
])("one manifest in ever so many places is more %s than the limit, and nobody waits for it", async (_what, limits) => {
  const { repository, read } = await desiredFrom(functionFolder("hello"), { limits });
  let tree = await repository.git("rev-parse", "HEAD:functions/hello");
  for (let level = 0; level < 3; level += 1) tree = await treeOf(repository, tree, 10);
  const commit = await repository.git("commit-tree", tree, "-m", "copies");
  await repository.git("reset", "--quiet", "--soft", commit);
  await expect(read()).rejects.toMatchObject({ code: "repository_too_large" });
});

it("manifests that come commit by commit count as those that are there at once", async () => {
  const { repository, read } = await desiredFrom(functionFolder("a"), { limits: { maxManifestBytes: 500 } });
  await repository.commit("add b", functionFolder("b"));
  await expect(read()).resolves.toMatchObject({ diagnostics: [] });
  for (const name of ["c", "d"]) await repository.commit(`add ${name}`, functionFolder(name));
  await expect(read()).rejects.toMatchObject({ code: "repository_too_large" });
});

it("while many manifests are read other work goes on", async () => {
  const { repository, read } = await desiredFrom(functionFolder("hello"));
  let tree = await repository.git("rev-parse", "HEAD:functions/hello");
  for (let level = 0; level < 3; level += 1) tree = await treeOf(repository, tree, 12);
  const commit = await repository.git("commit-tree", tree, "-m", "copies");
  await repository.git("reset", "--quiet", "--soft", commit);
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  count();
  const { diagnostics } = await read().finally(() => {
    isOver = true;
  });
  expect(diagnostics.length).toBeGreaterThan(1_000);
  expect(turns).toBeGreaterThan(10);
});

/** A tree whose folders are all the same other tree. */
async function treeOf(repository: { work: string }, inner: string, width: number): Promise<string> {
  const { execFileSync } = await import("node:child_process");
  const lines = Array.from({ length: width }, (_, at) => `040000 tree ${inner}\td${at}\n`).join("");
  return execFileSync("git", ["-C", repository.work, "mktree"], { input: lines, encoding: "utf8" }).trim();
}
