import { stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { SlessError } from "../errors/index.ts";

/**
 * The top folder of the repository that a folder belongs to, as git finds it: the folder itself or the nearest parent
 * that has a `.git` or is a bare repository.
 *
 * @throws SlessError `not_a_repository`
 */
export async function findRepository(folder: string): Promise<string> {
  const start = resolve(folder);
  for (let at = start; ; at = dirname(at)) {
    if (await isRepository(at)) return at;
    if (at === dirname(at)) throw new SlessError("not_a_repository", { path: start });
  }
}

/** Whether this very folder is the top of a repository. */
export async function isRepository(folder: string): Promise<boolean> {
  return (await isThere(join(folder, ".git"))) || (await isBare(folder));
}

/** Whether the repository at this path (`findRepository`) has files beside its history. */
export function hasWorktree(repository: string): Promise<boolean> {
  return isThere(join(repository, ".git"));
}

/** Whether the clone at this path (`findRepository`) was made without the older part of its history. */
export async function isShallow(repository: string): Promise<boolean> {
  return (await isThere(join(repository, ".git", "shallow"))) || (await isThere(join(repository, "shallow")));
}

async function isBare(folder: string): Promise<boolean> {
  const parts = await Promise.all(["HEAD", "objects", "refs"].map((name) => isThere(join(folder, name))));
  return parts.every(Boolean);
}

/** Whether there is anything at a path, or behind the link there. */
export async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
