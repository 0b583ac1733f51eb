import { execFileSync, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { chmod, mkdir, readFile, rename, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { ErrorCode } from "../../../src/errors/index.ts";
import type { GitReader, TreeEntry } from "../../../src/source/index.ts";
import { eventually } from "../../support/eventually.ts";
import { gitRepository, runGit } from "../../support/git-repository.ts";
import { openedWorktree } from "./open-worktree.ts";
import { treeOfGit } from "./tree-of-git.ts";

const failsWith = (code: ErrorCode, details: object = {}) =>
  expect.objectContaining({ code, details: expect.objectContaining(details) });

async function entriesOf(reader: GitReader): Promise<readonly TreeEntry[]> {
  const { tree } = await reader.resolve({});
  return (await reader.trees([tree])).get(tree)!;
}

describe("the revision of a work tree", () => {
  it("is no commit's while something differs, and the commit's own when it is saved back", async () => {
    const repository = await gitRepository({ a: "1" });
    const { reader } = await openedWorktree(repository.dir);
    const clean = await reader.resolve({});
    await writeFile(join(repository.dir, "a"), "2");
    const edited = await reader.resolve({});
    expect(edited).toEqual({
      commit: repository.head,
      tree: await treeOfGit(repository.dir),
      name: "main",
      revision: `main@worktree:${edited.tree}`,
    });
    await writeFile(join(repository.dir, "a"), "1");
    expect(await reader.resolve({})).toEqual(clean);
    expect(clean).toMatchObject({ commit: repository.head, revision: `main@sha1:${repository.head}` });
  });

  it("without a commit yet, and of a detached HEAD, is told the same way", async () => {
    const repository = await gitRepository({});
    const { reader } = await openedWorktree(repository.dir);
    await writeFile(join(repository.dir, "a"), "1");
    const tree = await treeOfGit(repository.dir);
    expect(await reader.resolve({})).toEqual({
      commit: "0".repeat(40),
      tree,
      name: "main",
      revision: `main@worktree:${tree}`,
    });
    await repository.commit("first", { a: "1" });
    await repository.git("checkout", "--quiet", "--detach");
    await writeFile(join(repository.dir, "a"), "2");
    expect((await reader.resolve({})).revision).toBe(`worktree:${await treeOfGit(repository.dir)}`);
  });

  it("that is asked for by name is the repository's", async () => {
    const repository = await gitRepository({ a: "1" });
    const { reader } = await openedWorktree(repository.dir);
    await writeFile(join(repository.dir, "a"), "2");
    const revision = `main@sha1:${repository.head}`;
    expect(await reader.resolve({ branch: "main" })).toMatchObject({ revision });
  });
});

describe("a look at a work tree", () => {
  it("reads one file after an edit, however many there are", async () => {
    const files = Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`d${n % 20}/f${n}`, `${n}`]));
    const repository = await gitRepository(files);
    const { worktree, reads } = await openedWorktree(repository.dir);
    const readAgain = async () => {
      await worktree.atRest();
      return reads().length;
    };
    expect(await readAgain()).toBeGreaterThanOrEqual(300);
    // Files that are younger than the steps of the clock may be written again unseen.
    await eventually("nothing is read", readAgain, (count) => count === 0);
    await writeFile(join(repository.dir, "d7/f7"), "other");
    await worktree.atRest();
    expect(new Set(reads())).toEqual(new Set(["d7/f7"]));
  });

  it("sees an edit of the same length in the same instant, and one that hides its time", async () => {
    const repository = await gitRepository({ a: "0" });
    const { worktree } = await openedWorktree(repository.dir);
    const file = join(repository.dir, "a");
    const hidden = new Date("2024-01-01");
    const trees = new Set<string>();
    for (let round = 0; round < 10; round++) {
      await writeFile(file, `${round}`);
      await utimes(file, hidden, hidden);
      trees.add((await worktree.atRest()).tree);
    }
    expect(trees.size).toBe(10);
  });

  it("takes modes, links and names as they are on the disk, and no pipes", async () => {
    const { dir } = await gitRepository({ plain: "1", run: { mode: "755", content: "2" }, "a/b": "3" });
    const { reader, worktree } = await openedWorktree(dir);
    await chmod(join(dir, "plain"), 0o755);
    await chmod(join(dir, "run"), 0o644);
    await symlink("a/b", join(dir, "link"));
    await symlink("../out", join(dir, "broken"));
    await writeFile(Buffer.concat([Buffer.from(`${dir}/caf`), Buffer.from([0xe9])]), "latin1");
    await mkdir(join(dir, "empty/inner"), { recursive: true });
    execFileSync("sh", ["-c", "mkfifo pipe"], { cwd: dir });
    expect((await entriesOf(reader)).map(({ name, mode }) => `${mode} ${name}`)).toEqual([
      "40000 a",
      "120000 broken",
      "100644 caf\ufffd",
      "120000 link",
      "100755 plain",
      "100644 run",
    ]);
    expect((await worktree.atRest()).tree).toBe(await treeOfGit(dir));
    const contents = await reader.blobs((await entriesOf(reader)).slice(1).map(({ id }) => id));
    const texts = [...contents.values()].map((bytes) => Buffer.from(bytes).toString());
    expect(texts).toEqual(["../out", "latin1", "a/b", "1", "2"]);
  });

  it("leaves out nested repositories, the data folder, and what editors leave beside unless it is tracked", async () => {
    const { dir } = await gitRepository({ a: "1", "kept~": "2" });
    const data = join(dir, "data");
    const { reader } = await openedWorktree(dir, [data, "/elsewhere"]);
    await mkdir(data);
    await writeFile(join(data, "resources.db"), "x");
    await runGit(dir, "init", "--quiet", "nested");
    await writeFile(join(dir, "nested/x"), "1");
    for (const name of ["a~", ".a.swp", "4913", "#a#", "a___jb_tmp___"]) await writeFile(join(dir, name), "x");
    await symlink("ada@host.1", join(dir, ".#a"));
    expect((await entriesOf(reader)).map(({ name }) => name)).toEqual(["a", "kept~"]);
    // A folder whose files are tracked stays what it is.
    await mkdir(join(dir, "own"));
    await writeFile(join(dir, "own/f"), "1");
    await runGit(dir, "add", "own/f");
    await runGit(dir, "init", "--quiet", "own");
    expect((await entriesOf(reader)).map(({ name }) => name)).toEqual(["a", "kept~", "own"]);
  });

  it("has submodules and what a sparse checkout keeps out, as the index has them", async () => {
    const repository = await gitRepository({
      "in/a": "1",
      "out/b/c": "2",
      "out/d": "3",
      lib: { submodule: "1".repeat(40) },
    });
    await repository.git("sparse-checkout", "set", "in");
    await expect(readFile(join(repository.dir, "out/d"))).rejects.toThrow("ENOENT");
    const { reader } = await openedWorktree(repository.dir);
    expect(await reader.resolve({})).toMatchObject({ revision: `main@sha1:${repository.head}` });
    await writeFile(join(repository.dir, "in/a"), "edited");
    const entries = await entriesOf(reader);
    expect(entries.map(({ name, mode }) => `${mode} ${name}`)).toEqual(["40000 in", "160000 lib", "40000 out"]);
    const out = entries.at(-1)!.id;
    const [, file] = (await reader.trees([out])).get(out)!;
    expect(Buffer.from((await reader.blobs([file!.id])).get(file!.id)!).toString()).toBe("3");
  });

  it("is refused for a bare repository", async () => {
    const { dir } = await gitRepository({ a: "1" }, { bare: true });
    const { reader } = await openedWorktree(dir);
    await expect(reader.resolve({})).rejects.toThrow(failsWith("repository_unsupported", { url: dir }));
  });
});

describe("a work tree that changes while it is read", () => {
  it("has no old content under a new file, and says which one changed", async () => {
    const { dir, head } = await gitRepository({ a: "committed" });
    const { reader } = await openedWorktree(dir);
    const committed = (await entriesOf(reader))[0]!.id;
    await writeFile(join(dir, "a"), "edited");
    const edited = (await entriesOf(reader))[0]!.id;
    await writeFile(join(dir, "a"), "edited again");
    await expect(reader.blobs([edited])).rejects.toThrow(failsWith("file_changed", { path: "a" }));
    await writeFile(join(dir, "a"), "EDITED");
    await expect(reader.blobs([edited])).rejects.toThrow(failsWith("file_changed", { path: "a" }));
    await rm(join(dir, "a"));
    await expect(reader.blobs([edited])).rejects.toThrow(failsWith("file_changed", { path: "a" }));
    // Git has what was committed, wherever the file went.
    expect((await reader.blobs([committed])).size).toBe(1);
    expect((await reader.resolve({ commit: head })).commit).toBe(head);
  });

  it("is read when git has done its work, not before", async () => {
    const { dir } = await gitRepository({ a: "0", b: "0" });
    const { worktree, reads } = await openedWorktree(dir);
    await worktree.atRest();
    reads();
    const lock = join(dir, ".git/index.lock");
    await writeFile(lock, "");
    await writeFile(join(dir, "a"), "1");
    let isOver = false;
    const reading = worktree.atRest().finally(() => {
      isOver = true;
    });
    // No two looks see the same, however long each of them takes.
    let writes = 0;
    const writer = setInterval(() => writeFileSync(join(dir, "b"), `${++writes}`), 10);
    onTestFinished(() => clearInterval(writer));
    let looks = 0;
    const countLooks = () => {
      if (reads().includes("b")) looks += 1;
      return looks;
    };
    await eventually("it was looked at again and again", countLooks, (count) => count >= 4);
    expect(isOver).toBe(false);
    clearInterval(writer);
    await rm(lock);
    expect((await reading).tree).toBe(await treeOfGit(dir));
  });

  it("is read under a lock that nobody works under", async () => {
    const { dir } = await gitRepository({ a: "0" });
    const { worktree } = await openedWorktree(dir);
    await writeFile(join(dir, ".git/index.lock"), "");
    await writeFile(join(dir, "a"), "1");
    const { tree } = await worktree.atRest();
    await rm(join(dir, ".git/index.lock"));
    expect(tree).toBe(await treeOfGit(dir));
  });

  it("and never comes to rest is read all the same", async () => {
    const { dir } = await gitRepository({ a: "0" });
    const { worktree } = await openedWorktree(dir);
    const writer = spawn("sh", ["-c", "i=0; while :; do i=$((i+1)); echo $i > log; done"], { cwd: dir });
    onTestFinished(() => void writer.kill("SIGKILL"));
    await eventually("it writes", () => readFile(join(dir, "log"), "utf8").catch(() => ""), Boolean);
    await writeFile(join(dir, "a"), "1");
    const seen = await worktree.atRest();
    expect([...seen.blobs.values()].map(({ path }) => path)).toContain("a");
  });

  it("and goes away is unreachable, not empty", async () => {
    const repository = await gitRepository({ a: "1" });
    const { dir } = repository;
    const { reader } = await openedWorktree(dir);
    await reader.resolve({});
    await rename(dir, `${dir}.away`);
    await expect(reader.resolve({})).rejects.toThrow(failsWith("repository_unreachable", { url: dir }));
    // An empty folder where it was, as a file system leaves that is not mounted.
    await mkdir(dir);
    await expect(reader.resolve({})).rejects.toThrow(failsWith("repository_unreachable", { url: dir }));
    await rm(dir, { recursive: true });
    await rename(`${dir}.away`, dir);
    expect(await reader.resolve({})).toMatchObject({ commit: repository.head });
  });

  it("and is moved away in the middle of a look is never seen in part", async () => {
    const files = Object.fromEntries(Array.from({ length: 400 }, (_, n) => [`d${n}/f`, `${n}`]));
    const { dir, head } = await gitRepository(files);
    const { reader } = await openedWorktree(dir);
    let isMoving = true;
    const moving = (async () => {
      for (let round = 0; round < 40; round++) {
        await rename(dir, `${dir}.away`);
        await rename(`${dir}.away`, dir);
      }
      isMoving = false;
    })();
    const seen = new Set<string>();
    while (isMoving) {
      seen.add(
        await reader.resolve({}).then(
          ({ revision }) => revision,
          () => "failed",
        ),
      );
    }
    await moving;
    seen.delete("failed");
    expect([...seen]).toEqual(seen.size === 0 ? [] : [`main@sha1:${head}`]);
  });
});

it("a closed work tree refuses, also who already waits", async () => {
  const { dir } = await gitRepository({ a: "0" });
  const { worktree } = await openedWorktree(dir);
  const refused = expect(worktree.atRest()).rejects.toThrow(failsWith("repository_unreachable"));
  await worktree.close();
  await refused;
  await expect(worktree.atRest()).rejects.toThrow(failsWith("repository_unreachable"));
});
