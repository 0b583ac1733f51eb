import { SlessError } from "../errors/index.ts";
import type { ObjectId, TreeEntry } from "../source/index.ts";
import { below } from "./paths.ts";

/** Trees by id, as far as they are known. */
export type Trees = Pick<ReadonlyMap<ObjectId, readonly TreeEntry[]>, "get">;

/** A folder at a path; what it holds depends on `tree` alone. */
export interface Folder {
  readonly path: string;
  readonly tree: ObjectId;
}

/** A folder that a walk came through. */
export interface WalkedFolder extends Folder {
  readonly name: string;
  readonly entries: readonly TreeEntry[];
  /** Those in it, in Git's order. */
  readonly folders: readonly WalkedFolder[];
}

export interface Walk {
  readonly folders: readonly WalkedFolder[];
  /** Those of them that are no objects of the walk before. */
  readonly fresh: ReadonlySet<WalkedFolder>;
}

/** Git allows no path that a file system would refuse; a tree that somebody forged may. */
const MAX_PATH = 4096;

/**
 * All folders from `start` down, parents first, in Git's order. `.git` is never looked into.
 * The same tree may stand at many paths, so a small repository can name more folders than there are atoms: the bound
 * is of paths, not of trees.
 *
 * @param before the first folder of an earlier walk: a folder with the path and tree that it had then is the same object
 * @throws SlessError `repository_too_large`
 */
export function listFolders(trees: Trees, start: Folder, maxEntries: number, before?: WalkedFolder): Walk {
  const isSamePath = before?.path === start.path;
  const folders = [isSamePath && before.tree === start.tree ? before : { ...start, ...UNREAD, name: "" }];
  const unread: Unread[] =
    folders[0] === before ? [] : [{ folder: folders[0]!, before: isSamePath ? before : undefined }];
  let entries = 0;
  let read = 0;
  for (const folder of folders) {
    // Folders are come to in the order in which they were found.
    if (unread[read]?.folder === folder) readChildren(unread[read++]!, trees, unread);
    entries += folder.entries.length;
    if (entries > maxEntries || folder.path.length > MAX_PATH) {
      throw new SlessError("repository_too_large", { limit: `${maxEntries} files or ${MAX_PATH} bytes of path` });
    }
    for (const child of folder.folders) folders.push(child);
  }
  return { folders, fresh: new Set(unread.map(({ folder }) => folder)) };
}

type Reading = { -readonly [Field in keyof WalkedFolder]: WalkedFolder[Field] };

/** A folder that is not as it was, if it was there. */
interface Unread {
  readonly folder: Reading;
  readonly before: WalkedFolder | undefined;
}

const UNREAD: Pick<WalkedFolder, "entries" | "folders"> = { entries: [], folders: [] };

function readChildren({ folder, before }: Unread, trees: Trees, unread: Unread[]): void {
  folder.entries = entriesOf(trees, folder.tree);
  const children = folder.entries.filter((entry) => entry.mode === "40000" && !isGitFolder(entry));
  if (children.length === 0) return;
  const wereThere = byName(before?.folders ?? []);
  folder.folders = children.map(({ name, id: tree }) => {
    const was = wereThere(name);
    if (was?.tree === tree) return was;
    const child = { ...UNREAD, path: below(folder.path, name), name, tree };
    unread.push({ folder: child, before: was });
    return child;
  });
}

/** Finds folders by name, at once while it is asked for them in their order. */
function byName(folders: readonly WalkedFolder[]): (name: string) => WalkedFolder | undefined {
  let next = 0;
  let places: ReadonlyMap<string, number> | undefined;
  return (name) => {
    if (folders[next]?.name === name) return folders[next++];
    places ??= new Map(folders.map((folder, place) => [folder.name, place]));
    const place = places.get(name);
    if (place === undefined) return undefined;
    next = place + 1;
    return folders[place];
  };
}

/** The entries of a tree that was read. A missing one is never an empty folder. */
export function entriesOf(trees: Trees, id: ObjectId): readonly TreeEntry[] {
  const entries = trees.get(id);
  if (!entries) throw new SlessError("object_missing", { id, url: "the repository" });
  return entries;
}

/** Git itself writes no such entry; a tree that somebody forged may hold one. */
export function isGitFolder(entry: TreeEntry): boolean {
  return entry.name.length === 4 && entry.name.toLowerCase() === ".git";
}
