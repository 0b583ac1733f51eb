import { expect, it } from "vitest";
import { openDesiredReader } from "../../src/desired/index.ts";
import type { GitReader, ObjectId } from "../../src/source/index.ts";
import { openIsomorphicReader } from "../../src/source/isomorphic/index.ts";
import { functionFolder, functionYaml, handler, runtimes } from "../support/function-files.ts";
import { desiredFrom, faultsIn, objectsIn } from "./open-reader.ts";

/** Notes which trees and blobs are asked for. */
function noting(git: GitReader, noted: { trees: ObjectId[]; blobs: ObjectId[] }): GitReader {
  return {
    ...git,
    trees(ids) {
      noted.trees.push(...ids);
      return git.trees(ids);
    },
    blobs(ids) {
      noted.blobs.push(...ids);
      return git.blobs(ids);
    },
  };
}

it("an unchanged folder is not read again, and its objects stay the same", async () => {
  const noted = { trees: [] as ObjectId[], blobs: [] as ObjectId[] };
  const names = ["a", "b", "c", "d"];
  const { repository, read } = await desiredFrom(Object.assign({}, ...names.map((name) => functionFolder(name))), {
    wrap: (git) => noting(git, noted),
  });
  const before = await read();
  noted.trees.length = 0;
  noted.blobs.length = 0;
  await repository.commit("change b", {
    "functions/b/handler.py": handler("new"),
    "functions/b/function.yaml": functionYaml("b", { memoryMB: 256 }),
  });
  const after = await read();
  const changed = ["HEAD^{tree}", "HEAD:functions", "HEAD:functions/b"];
  expect(noted.trees).toEqual(await Promise.all(changed.map((name) => repository.git("rev-parse", name))));
  expect(noted.blobs).toEqual([await repository.git("rev-parse", "HEAD:functions/b/function.yaml")]);
  const kept = after.objects.filter((object) => before.objects.includes(object));
  expect(kept.map(({ intent }) => intent.metadata.name)).toEqual(["a", "a-http", "c", "c-http", "d", "d-http"]);
  expect(objectsIn(after).map((line) => line.split(" ")[0])).toContain("Function/b");
});

it("reading the same revision again reads nothing", async () => {
  const noted = { trees: [] as ObjectId[], blobs: [] as ObjectId[] };
  const { read } = await desiredFrom(functionFolder("a"), { wrap: (git) => noting(git, noted) });
  const first = await read();
  noted.trees.length = 0;
  noted.blobs.length = 0;
  expect((await read()).objects).toEqual(first.objects);
  expect(noted).toEqual({ trees: [], blobs: [] });
});

it("a changed .slessignore above changes the sources below it, and going back brings them back", async () => {
  const { repository, read } = await desiredFrom({ ...functionFolder("a"), "functions/a/notes.txt": "n" });
  const digest = async () => (await read()).objects[0]?.source?.digest;
  const first = await digest();
  await repository.commit("ignore", { ".slessignore": "*.txt\n" });
  const ignored = await digest();
  expect(ignored).not.toBe(first);
  await repository.commit("undo", { ".slessignore": null });
  expect(await digest()).toBe(first);
});

it("a fault goes when the commit that mends it comes", async () => {
  const { repository, read } = await desiredFrom(functionFolder("a"));
  await repository.commit("break", { "functions/a/handler.py": null });
  expect(faultsIn(await read())).toEqual(["source_missing functions/a/function.yaml:5:1"]);
  await repository.commit("mend", { "functions/a/handler.py": handler() });
  expect(faultsIn(await read())).toEqual([]);
});

it("a new workload within a source takes its folder out of it", async () => {
  const { repository, read } = await desiredFrom({
    "function.yaml": functionYaml("outer"),
    "handler.py": handler(),
    "inner/handler.py": handler(),
  });
  const filesOf = async (name: string) =>
    (await read()).objects.find(({ intent }) => intent.metadata.name === name)?.source?.files.map(({ path }) => path);
  expect(await filesOf("outer")).toEqual(["handler.py", "inner/handler.py"]);
  await repository.commit("divide", { "inner/function.yaml": functionYaml("inner") });
  expect(await filesOf("outer")).toEqual(["handler.py"]);
});

it("a failed read forgets nothing and invents nothing", async () => {
  let failing = false;
  const wrap = (git: GitReader): GitReader => ({
    ...git,
    blobs: async (ids) => (failing ? Promise.reject(new Error("torn")) : git.blobs(ids)),
  });
  const { repository, read } = await desiredFrom(functionFolder("a"), { wrap });
  const before = await read();
  await repository.commit("change", { "functions/a/function.yaml": functionYaml("a", { memoryMB: 256 }) });
  failing = true;
  await expect(read()).rejects.toThrow("torn");
  failing = false;
  expect((await read()).objects).toHaveLength(1);
  expect(before.objects).toHaveLength(2);
});

it("both adapters of Git lead to the same desired state", async () => {
  const { repository, read } = await desiredFrom({
    ...functionFolder("a"),
    "functions/a/link": { symlink: "handler.py" },
    ...functionFolder("b"),
    "functions/b/.slessignore": "x\n",
    "functions/b/x": "",
  });
  const git = await openIsomorphicReader({ repository: repository.dir });
  const reader = openDesiredReader({ git, path: "", namespace: "demo", runtimes });
  expect(await reader.read(await git.resolve({}), { manifestFiles: new Map() })).toEqual(await read());
  await git.close();
});
