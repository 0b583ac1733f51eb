import { writeFileSync } from "node:fs";
import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { watchRepository } from "../../src/source/index.ts";
import { eventually } from "../support/eventually.ts";
import { gitRepository, runGit } from "../support/git-repository.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const NEVER = 3_600_000;

/** Counts hints; `next` waits for one more than there were when the change began. */
async function watched(repository: string, pollMs: number) {
  const hints: number[] = [];
  const watching = await watchRepository({ repository, pollMs, onHint: () => hints.push(performance.now()) });
  onTestFinished(() => watching.close());
  const hintAfter = async (what: string, change: () => Promise<unknown>) => {
    const before = hints.length;
    await change();
    await eventually(
      what,
      () => hints.length,
      (count) => count > before,
    );
  };
  return { hints, hintAfter, close: watching.close };
}

it("every push into a bare repository hints, by events alone", async () => {
  const repository = await gitRepository({ a: "0" }, { bare: true });
  const { hintAfter } = await watched(repository.dir, NEVER);
  for (let round = 1; round <= 5; round++) {
    await hintAfter(`push ${round}`, () => repository.commit(`${round}`, { a: `${round}` }));
  }
});

it("new, nested, moved and deleted branches, tags, packed refs and another HEAD hint", async () => {
  const repository = await gitRepository({ a: "0" }, { bare: true });
  const git =
    (...args: string[]) =>
    () =>
      repository.git(...args);
  const { hintAfter } = await watched(repository.dir, NEVER);
  await hintAfter("a nested branch", git("branch", "team/a/b/c"));
  await hintAfter("a second one in that folder", git("branch", "team/a/b/d"));
  await hintAfter("a packed ref", git("pack-refs", "--all", "--prune"));
  await hintAfter("a push over a packed ref", () => repository.commit("1", { a: "1" }));
  await hintAfter("packing again", git("pack-refs", "--all", "--prune"));
  await hintAfter("a branch in a folder that packing removed", git("branch", "team/a/b/e"));
  await hintAfter("a renamed branch", git("branch", "--move", "team/a/b/e", "other"));
  await hintAfter("a deleted branch", git("branch", "-D", "other"));
  await hintAfter("a tag", git("tag", "v1"));
  await hintAfter("HEAD on another branch", git("symbolic-ref", "HEAD", "refs/heads/team/a/b/c"));
});

it("commits in a linked worktree, and its own HEAD, hint", async () => {
  const repository = await gitRepository({ a: "0" });
  const path = join(await temporaryFolder(), "linked");
  await repository.git("worktree", "add", "--quiet", "-b", "linked", path);
  const { hintAfter } = await watched(path, NEVER);
  await hintAfter("a commit", async () => {
    await writeFile(join(path, "a"), "1");
    await runGit(path, "commit", "--quiet", "--all", "-m", "x");
  });
  await hintAfter("a detached HEAD", () => runGit(path, "checkout", "--quiet", "--detach"));
});

it("a repository that is removed, made anew or not there yet hints, and is watched again", async () => {
  const path = join(await temporaryFolder(), "later.git");
  const { hintAfter } = await watched(path, 30);
  const arrive = async () => rename((await gitRepository({ a: "0" }, { bare: true })).dir, path);
  for (const round of ["at first", "again"]) {
    await hintAfter(`there ${round}`, arrive);
    await hintAfter(`a branch ${round}`, () => runGit(path, "branch", "x"));
    await hintAfter(`gone ${round}`, () => rm(path, { recursive: true }));
  }
});

it("a push of many branches makes few hints, and a quiet repository none", async () => {
  const repository = await gitRepository({ a: "0" }, { bare: true });
  const { hints, hintAfter } = await watched(repository.dir, 20);
  const refs = join(repository.dir, "refs/heads");
  const commit = await repository.git("rev-parse", "HEAD");
  // By nobody who may be slow.
  await hintAfter("forty branches", async () => {
    for (let index = 0; index < 40; index++) writeFileSync(join(refs, `b${index}`), `${commit}\n`);
  });
  expect(hints.length).toBeLessThan(20);
  await eventually(
    "quiet",
    () => performance.now() - hints.at(-1)!,
    (quietMs) => quietMs > 300,
  );
});

it("after closing there are no hints", async () => {
  const repository = await gitRepository({ a: "0" }, { bare: true });
  const first = await watched(repository.dir, 20);
  await first.close();
  const second = await watched(repository.dir, 20);
  await second.hintAfter("a push", () => repository.commit("1", { a: "1" }));
  expect(first.hints).toEqual([]);
});
