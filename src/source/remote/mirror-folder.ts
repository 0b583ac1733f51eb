import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ObjectId } from "../git-reader.ts";
import { isObjectId } from "../ref-name.ts";

// What is kept is told by refs of our own, one per commit: names of a server can stand in each other's way (`a` and
// `a/b`), and a fetch by name may bring another commit than the one that was asked about.
const KEPT = "refs/sless";

/** Mark of a folder that is not ready; it never is the name of a mirror. */
const UNFINISHED = ".unfinished";

/** Makes a mirror for commits of this kind where none is; one of another kind is replaced. */
export async function makeMirror(folder: string, commit: ObjectId): Promise<void> {
  const config = commit.length === 64 ? `${configOf(1)}[extensions]\n\tobjectformat = sha256\n` : configOf(0);
  if ((await textIn(join(folder, "config"))) === config) return;
  await rm(folder, { recursive: true, force: true });
  // Complete or not there: it is renamed into place.
  const made = `${folder}-${randomUUID().slice(0, 8)}${UNFINISHED}`;
  await mkdir(join(made, "objects", "pack"), { recursive: true, mode: 0o700 });
  await mkdir(join(made, ...KEPT.split("/")), { recursive: true });
  await writeFile(join(made, "HEAD"), "ref: refs/heads/none\n");
  await writeFile(join(made, "config"), config);
  await rename(made, folder);
}

/** isomorphic-git wants to know what becomes of branches, although it gets none. */
function configOf(version: 0 | 1): string {
  const remote = '[remote "origin"]\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n';
  return `[core]\n\trepositoryformatversion = ${version}\n\tbare = true\n${remote}`;
}

/** Commits that were fetched whole. */
export async function keptCommits(folder: string): Promise<ObjectId[]> {
  return (await namesIn(join(folder, KEPT))).filter(isObjectId);
}

export async function isKept(folder: string, commit: ObjectId): Promise<boolean> {
  return (await textIn(join(folder, KEPT, commit))) === `${commit}\n`;
}

export async function keep(folder: string, commit: ObjectId): Promise<void> {
  const file = join(folder, KEPT, commit);
  await writeFile(`${file}.lock`, `${commit}\n`);
  await rename(`${file}.lock`, file);
}

export async function dropKept(folder: string, commits: readonly ObjectId[]): Promise<void> {
  await Promise.all(commits.map((commit) => rm(join(folder, KEPT, commit), { force: true })));
}

/** Removes what processes left that were killed: locks, which would stop all others, and half-written packs. */
export async function removeLeftovers(folder: string): Promise<void> {
  for (const [place, isLeft] of [
    [folder, (name: string) => name.endsWith(".lock") || name === "gc.pid"],
    [join(folder, "objects"), (name: string) => name.startsWith("tmp_") || name.startsWith("incoming-")],
    [join(folder, "objects", "pack"), (name: string) => /^\.?tmp[-_]|\.keep$/.test(name)],
    [join(folder, "objects", "info"), (name: string) => name.endsWith(".lock")],
    [join(folder, KEPT), (name: string) => name.endsWith(".lock")],
  ] as const) {
    for (const name of await namesIn(place)) {
      if (isLeft(name)) await rm(join(place, name), { recursive: true, force: true });
    }
  }
}

export async function packCount(folder: string): Promise<number> {
  return (await namesIn(join(folder, "objects", "pack"))).filter((name) => name.endsWith(".pack")).length;
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}

async function textIn(file: string): Promise<string | undefined> {
  return readFile(file, "utf8").catch(() => undefined);
}
