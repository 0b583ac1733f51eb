import { SlessError } from "../errors/index.ts";
import type { ObjectId, TreeEntry } from "../source/index.ts";
import { below } from "./paths.ts";

/** Trees by id, as far as they are known. */
export type Trees = ReadonlyMap<ObjectId, readonly TreeEntry[]>;

/** A folder at a path; what it holds depends on `tree` alone. */
export interface Folder {
  readonly path: string;
  readonly tree: ObjectId;
}

/** Git allows no path that a file system would refuse; a tree that somebody forged may. */
const MAX_PATH = 4096;

/**
 * All folders from `start` down, parents first, in Git's order. `.git` is never looked into.
 * The same tree may stand at many paths, so a small repository can name more folders than there are atoms: the bound
 * is of paths, not of trees.
 *
 * @throws SlessError `repository_too_large`
 */
export function listFolders(trees: Trees, start: Folder, maxEntries: number): Folder[] {
  const folders: Folder[] = [start];
  let entries = 0;
  for (const folder of folders) {
    const children = entriesOf(trees, folder.tree);
    entries += children.length;
    if (entries > maxEntries || folder.path.length > MAX_PATH) {
      throw new SlessError("repository_too_large", { limit: `${maxEntries} files or ${MAX_PATH} bytes of path` });
    }
    for (const child of children) {
      if (child.mode === "40000" && !isGitFolder(child)) {
        folders.push({ path: below(folder.path, child.name), tree: child.id });
      }
    }
  }
  return folders;
}

/** The entries of a tree that was read. A missing one is never an empty folder. */
export function entriesOf(trees: Trees, id: ObjectId): readonly TreeEntry[] {
  const entries = trees.get(id);
  if (!entries) throw new SlessError("object_missing", { id, url: "the repository" });
  return entries;
}

/** Git itself writes no such entry; a tree that somebody forged may hold one. */
export function isGitFolder(entry: TreeEntry): boolean {
  return entry.name.toLowerCase() === ".git";
}
