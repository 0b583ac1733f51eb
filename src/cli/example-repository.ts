import * as fs from "node:fs";
import { mkdir, readdir, readFile, readlink, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type * as Git from "isomorphic-git";
import { isThere } from "./find-repository.ts";

const AUTHOR = { name: "sless", email: "sless@localhost" };

/** What a checkout may have beside the example's own files. */
const LEFT_OUT = new Set(["node_modules", "__pycache__", ".git", ".DS_Store"]);

/**
 * Makes a bare repository with one commit on `main` that holds the files of a folder; what is there already stays as
 * it is. It appears at once: whoever is interrupted leaves no half repository behind.
 *
 * @returns true when it was made now
 */
export async function makeExampleRepository(bare: string, folder: string): Promise<boolean> {
  if (await isThere(bare)) return false;
  await mkdir(dirname(bare), { recursive: true });
  const gitdir = `${bare}.${process.pid}.tmp`;
  // Once in the life of a data folder: no other start waits for it to load.
  const git = await import("isomorphic-git");
  try {
    await git.init({ fs, gitdir, bare: true, defaultBranch: "main" });
    const tree = await writeTree(git, gitdir, folder);
    await git.commit({
      fs,
      gitdir,
      ref: "refs/heads/main",
      tree,
      author: AUTHOR,
      message: "The example functions of sless\n",
    });
    await rename(gitdir, bare);
    return true;
  } catch (error) {
    // Another start may have made it meanwhile.
    if (await isThere(bare)) return false;
    throw error;
  } finally {
    await rm(gitdir, { recursive: true, force: true });
  }
}

async function writeTree(git: typeof Git, gitdir: string, folder: string): Promise<string> {
  const entries = await readdir(folder, { withFileTypes: true });
  const kept = entries.filter((entry) => !LEFT_OUT.has(entry.name));
  const tree = await Promise.all(kept.map((entry) => writeEntry(git, gitdir, folder, entry)));
  return git.writeTree({ fs, gitdir, tree: tree.filter((entry) => entry !== undefined) });
}

async function writeEntry(
  git: typeof Git,
  gitdir: string,
  folder: string,
  entry: fs.Dirent,
): Promise<Git.TreeEntry | undefined> {
  const path = join(folder, entry.name);
  if (entry.isDirectory()) {
    return { mode: "040000", path: entry.name, oid: await writeTree(git, gitdir, path), type: "tree" };
  }
  if (entry.isSymbolicLink()) {
    const blob = Buffer.from(await readlink(path));
    return { mode: "120000", path: entry.name, oid: await git.writeBlob({ fs, gitdir, blob }), type: "blob" };
  }
  if (!entry.isFile()) return undefined;
  const isExecutable = ((await stat(path)).mode & 0o111) !== 0;
  const oid = await git.writeBlob({ fs, gitdir, blob: await readFile(path) });
  return { mode: isExecutable ? "100755" : "100644", path: entry.name, oid, type: "blob" };
}
