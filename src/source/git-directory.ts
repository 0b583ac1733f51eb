import { readFile, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { messageOf, SlessError } from "../errors/index.ts";

/** Where a repository keeps its parts, as absolute paths. */
export interface GitDirectory {
  /** The repository as the user named it; for errors. */
  readonly repository: string;
  /** Has this work tree's HEAD. */
  readonly gitDir: string;
  /** Has refs and objects; the same as `gitDir` except in a linked worktree. */
  readonly commonDir: string;
}

/**
 * Finds the Git directory of a bare repository, of a folder with a `.git` folder, or of one with a `.git` file
 * (linked worktree, submodule, separate Git directory). Parent folders are not searched: a folder that is no
 * repository must not become the one around it.
 *
 * @throws SlessError `repository_unreachable`, `repository_unsupported` (refs stored as reftable)
 */
export async function findGitDirectory(repository: string): Promise<GitDirectory> {
  try {
    const gitDir = await gitDirectoryOf(resolve(repository));
    const common = await textOf(join(gitDir, "commondir"));
    const commonDir = common === undefined ? gitDir : resolve(gitDir, common.trim());
    const isRepository =
      (await isThere(join(gitDir, "HEAD"))) &&
      (await isFolder(join(commonDir, "objects"))) &&
      (await isFolder(join(commonDir, "refs")));
    if (!isRepository) throw new Error("it is no Git repository (name its top folder)");
    if (await isFolder(join(commonDir, "reftable"))) {
      throw new SlessError("repository_unsupported", { url: repository, cause: "its refs are stored as reftable" });
    }
    return { repository, gitDir, commonDir };
  } catch (error) {
    if (error instanceof SlessError) throw error;
    throw new SlessError("repository_unreachable", { url: repository, cause: messageOf(error) }, { cause: error });
  }
}

async function gitDirectoryOf(folder: string): Promise<string> {
  if (!(await isFolder(folder))) throw new Error("there is no such folder");
  const dotGit = join(folder, ".git");
  if (await isFolder(dotGit)) return dotGit;
  const pointer = await textOf(dotGit);
  if (pointer === undefined) return folder;
  const target = /^gitdir: (.+?)\s*$/s.exec(pointer)?.[1];
  if (target === undefined) throw new Error("its .git file names no Git directory");
  return resolve(folder, target);
}

const isAbsence = (error: unknown) =>
  error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");

async function isFolder(path: string): Promise<boolean> {
  return (await statOf(path))?.isDirectory() ?? false;
}

async function isThere(path: string): Promise<boolean> {
  return (await statOf(path)) !== undefined;
}

async function statOf(path: string) {
  try {
    return await stat(path);
  } catch (error) {
    if (isAbsence(error)) return undefined;
    throw error;
  }
}

/** The text of a file; undefined when it is not there. */
export async function textOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    // A folder where a file is looked for: a branch `a` beside `a/b`.
    if (isAbsence(error) || (error instanceof Error && "code" in error && error.code === "EISDIR")) return undefined;
    throw error;
  }
}
