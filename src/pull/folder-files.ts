import { createHash } from "node:crypto";
import { blobId, type GitObjects, type ObjectId, type TreeEntry, type TreeMode } from "../source/index.ts";

/** The hash that names a repository's objects. */
export type ObjectFormat = "sha1" | "sha256";

/** A file of a folder as Git would have it; a folder with a repository of its own is one of mode 160000. */
export interface FolderFile {
  readonly mode: Exclude<TreeMode, "40000">;
  /** Of its content. Counted when it is first asked for. */
  readonly id: ObjectId;
  readonly size: number;
  /** Its bytes, of a link its target. */
  read(): Uint8Array;
}

/** Files by their path below a root, slashes between. */
export type FolderFiles = ReadonlyMap<string, FolderFile>;

/** The id that Git gives a content. */
export function blobIdOf(content: Uint8Array, format: ObjectFormat): ObjectId {
  if (format === "sha1") return blobId(content);
  return createHash("sha256").update(`blob ${content.length}\0`).update(content).digest("hex");
}

export function fileInMemory(content: Uint8Array, mode: FolderFile["mode"], format: ObjectFormat): FolderFile {
  return { mode, id: blobIdOf(content, format), size: content.length, read: () => content };
}

/**
 * Files as a tree for what reads sources and manifests out of trees. Ids of trees are only good within this tree, and a
 * blob is known by its id once its entry's id was asked for.
 */
export function folderTree(files: FolderFiles): { readonly tree: ObjectId; readonly git: GitObjects } {
  const blobs = new Map<ObjectId, FolderFile>();
  const trees = new Map<string, TreeEntry[]>([["", []]]);

  function entriesAt(folder: string): TreeEntry[] {
    const known = trees.get(folder);
    if (known) return known;
    const entries: TreeEntry[] = [];
    trees.set(folder, entries);
    const [parent, name] = splitPath(folder);
    entriesAt(parent).push({ name, mode: "40000", id: treeId(folder) });
    return entries;
  }

  for (const [path, file] of files) {
    const [folder, name] = splitPath(path);
    entriesAt(folder).push(lazyEntry(name, file, blobs));
  }
  const pick = <T>(ids: readonly ObjectId[], read: (file: FolderFile) => T) =>
    new Map(ids.map((id) => [id, read(blobs.get(id)!)]));
  return {
    tree: treeId(""),
    git: {
      trees: async (ids) => new Map(ids.map((id) => [id, trees.get(id.slice(TREE.length))!])),
      sizes: async (ids) => pick(ids, (file) => file.size),
      blobs: async (ids) => pick(ids, (file) => file.read()),
    },
  };
}

/** Files that belong to no source are not read. */
function lazyEntry(name: string, file: FolderFile, blobs: Map<ObjectId, FolderFile>): TreeEntry {
  return {
    name,
    mode: file.mode,
    get id() {
      blobs.set(file.id, file);
      return file.id;
    },
  };
}

const TREE = "tree:";

function treeId(folder: string): ObjectId {
  return TREE + folder;
}

/** Folder and name of a path. */
export function splitPath(path: string): [folder: string, name: string] {
  const slash = path.lastIndexOf("/");
  return [path.slice(0, Math.max(0, slash)), path.slice(slash + 1)];
}

/** `child` in `folder`. */
export function below(folder: string, child: string): string {
  if (folder === "") return child;
  return child === "" ? folder : `${folder}/${child}`;
}

/** `path` is `folder` or lies in it. */
export function contains(folder: string, path: string): boolean {
  return folder === "" || path === folder || path.startsWith(`${folder}/`);
}

/** A path as people write it (`./a//b/`) as paths are written here; "" for none. */
export function plainPath(written = ""): string {
  return written
    .split("/")
    .filter((part) => part !== "" && part !== ".")
    .join("/");
}
