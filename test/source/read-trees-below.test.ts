import { expect, it, onTestFinished } from "vitest";
import { readTreesBelow } from "../../src/source/index.ts";
import { openIsomorphicReader } from "../../src/source/isomorphic/index.ts";
import { gitRepository } from "../support/git-repository.ts";

const files = { "a/b/c/x": "1", "a/y": "2", "same/b/c/x": "1", z: "3", module: { submodule: "1".repeat(40) } };

async function opened() {
  const repository = await gitRepository(files);
  const reader = await openIsomorphicReader({ repository: repository.dir });
  onTestFinished(() => reader.close());
  const asked: string[][] = [];
  const trees: typeof reader.trees = (ids) => {
    asked.push([...ids]);
    return reader.trees(ids);
  };
  const id = (path: string) => repository.git("rev-parse", `HEAD:${path}`);
  return { repository, reader: { trees }, asked, id, root: await id("") };
}

const nothing = { isKnown: () => false };

it("reads every tree once, level by level, however often it stands there", async () => {
  const { reader, asked, id, root } = await opened();
  const trees = await readTreesBelow(reader, root, nothing);
  const [a, same, b, c] = await Promise.all(["a", "same", "a/b", "a/b/c"].map(id));
  expect(new Set(trees.keys())).toEqual(new Set([root, a, same, b, c]));
  expect(asked).toEqual([[root], [a, same], [b], [c]]);
  expect(trees.get(c!)?.map(({ name }) => name)).toEqual(["x"]);
});

it("reads only what lies above known trees", async () => {
  const { repository, reader, asked, id, root } = await opened();
  const before = await readTreesBelow(reader, root, nothing);
  await repository.commit("second", { "same/b/new": "4" });
  asked.length = 0;
  const changed = await readTreesBelow(reader, await id(""), { isKnown: (tree) => before.has(tree) });
  expect(new Set(changed.keys())).toEqual(new Set(await Promise.all(["", "same", "same/b"].map(id))));
  expect(asked).toHaveLength(3);
});

it("reads nothing when the root is known", async () => {
  const { reader, asked, root } = await opened();
  expect(await readTreesBelow(reader, root, { isKnown: () => true })).toEqual(new Map());
  expect(asked).toEqual([]);
});

it("refuses too many and too deep trees, and gives no part of them", async () => {
  const { reader, root } = await opened();
  const tooLarge = expect.objectContaining({ code: "too_large" });
  await expect(readTreesBelow(reader, root, { ...nothing, maxTrees: 4 })).rejects.toThrow(tooLarge);
  await expect(readTreesBelow(reader, root, { ...nothing, maxDepth: 2 })).rejects.toThrow(tooLarge);
  expect((await readTreesBelow(reader, root, { ...nothing, maxTrees: 5, maxDepth: 3 })).size).toBe(5);
});
