import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { findGit, type GitReader } from "../../src/source/index.ts";
import { openWorktree, openWorktreeReader } from "../../src/source/worktree/index.ts";
import { functionFolder, handler } from "../support/function-files.ts";
import type { Files } from "../support/git-repository.ts";
import { type SyncWorld, syncWorld } from "./sync-world.ts";

const git = (await findGit(process.env.PATH))!;

/** A world whose sync follows the work tree. */
async function worktreeWorld(files: Files, meanwhile: (git: GitReader) => GitReader = (same) => same) {
  const world: SyncWorld = await syncWorld(files, {
    git(repository) {
      const worktree = openWorktree({ folder: world.git.dir, git });
      onTestFinished(() => worktree.close());
      return meanwhile(openWorktreeReader({ worktree, repository }));
    },
  });
  return { world, at: (path: string) => join(world.git.dir, path) };
}

const digestOf = async (world: SyncWorld, name: string) => (await world.get("Function", name))?.spec.s3Key;

it("a file that is saved while its source is read delays its workload alone", async () => {
  const functions = { ...functionFolder("one"), ...functionFolder("two") };
  let save: (() => Promise<void>) | undefined;
  const { world, at } = await worktreeWorld(functions, (reader) => ({
    ...reader,
    async sizes(ids) {
      await save?.();
      return reader.sizes(ids);
    },
  }));
  await world.sync();
  const before = [await digestOf(world, "one"), await digestOf(world, "two")];
  await writeFile(at("functions/one/handler.py"), handler("new"));
  await writeFile(at("functions/two/handler.py"), handler("other"));
  save = () => writeFile(at("functions/one/handler.py"), handler("newer"));
  await world.sync();
  expect(await world.ready()).toBe("False ArtifactFailed");
  expect((await world.status()).conditions?.[0]?.message).toContain("functions/one/handler.py changed while it was");
  expect(await digestOf(world, "one")).toBe(before[0]);
  expect(await digestOf(world, "two")).not.toBe(before[1]);

  save = undefined;
  await world.sync();
  expect(await world.ready()).toBe("True ReconciliationSucceeded");
  expect(await digestOf(world, "one")).not.toBe(before[0]);
});

it("an edit that is taken back, and a commit of it, write no object and store nothing", async () => {
  const { world, at } = await worktreeWorld(functionFolder("one"));
  await world.sync();
  const committed = await digestOf(world, "one");
  await writeFile(at("functions/one/handler.py"), handler("edited"));
  await world.sync();
  const edited = await digestOf(world, "one");
  expect(edited).not.toBe(committed);
  world.writes();
  const commit = await world.git.commit("edited", {});
  await world.sync();
  expect(world.writes()).toEqual(["status"]);
  expect((await world.status()).lastAppliedRevision).toBe(`main@sha1:${commit}`);
  await writeFile(at("functions/one/handler.py"), handler());
  await world.sync();
  expect(await digestOf(world, "one")).toBe(committed);
});

it("a work tree that is gone, or whose followed folder is, deletes nothing", async () => {
  const { world, at } = await worktreeWorld({ ...functionFolder("one"), "README.md": "text" });
  await world.setSpec({ path: "functions" });
  await world.sync();
  const before = await world.names();
  await rm(at("functions"), { recursive: true });
  await world.sync();
  expect(await world.ready()).toBe("False BuildFailed");
  expect(await world.names()).toEqual(before);
  await rm(world.git.dir, { recursive: true });
  await world.sync();
  expect(await world.ready()).toBe("False GitOperationFailed");
  expect(await world.names()).toEqual(before);
});

it("deletions beyond the guard are held in a work tree too", async () => {
  const names = ["a", "b", "c", "d", "e", "f"];
  const { world, at } = await worktreeWorld(Object.assign({}, ...names.map((name) => functionFolder(name))));
  await world.sync();
  const before = await world.names();
  for (const name of names.slice(1)) await rm(at(`functions/${name}`), { recursive: true });
  await world.sync();
  expect(await world.ready()).toBe("False DeletionsHeld");
  expect(await world.names()).toEqual(before);
});
