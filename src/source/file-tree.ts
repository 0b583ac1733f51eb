import { createHash } from "node:crypto";
import type { GitObjects, ObjectId, TreeEntry } from "./git-reader.ts";
import type { StoredFile } from "./stored-file.ts";

/** The id that Git gives a content (sha1 repositories). */
export function blobId(content: Uint8Array): ObjectId {
  return createHash("sha1").update(`blob ${content.length}\0`).update(content).digest("hex");
}

/**
 * Files as Git would have them, for what reads sources out of trees. Blobs have Git's own ids; those of
 * trees are only good within this tree.
 *
 * @param files whose paths are fit to be unpacked below one folder
 */
export function fileTree(files: readonly StoredFile[]): { readonly tree: ObjectId; readonly git: GitObjects } {
  const blobs = new Map<ObjectId, StoredFile>();
  const trees = new Map<ObjectId, TreeEntry[]>([[treeId(""), []]]);

  /** The entries of a folder, which is entered in those above it. */
  function folderAt(path: string): TreeEntry[] {
    const known = trees.get(treeId(path));
    if (known) return known;
    const entries: TreeEntry[] = [];
    trees.set(treeId(path), entries);
    const [folder, name] = split(path);
    folderAt(folder).push({ name, mode: "40000", id: treeId(path) });
    return entries;
  }

  for (const file of files) {
    const { path, mode, id } = file;
    const [folder, name] = split(path);
    blobs.set(id, file);
    folderAt(folder).push({ name, mode, id });
  }
  const git: GitObjects = {
    trees: async (ids) => new Map(ids.map((id) => [id, trees.get(id)!])),
    sizes: async (ids) => new Map(ids.map((id) => [id, blobs.get(id)!.size])),
    async blobs(ids) {
      const contents = new Map<ObjectId, Uint8Array>();
      for (const id of ids) contents.set(id, await blobs.get(id)!.read());
      return contents;
    },
  };
  return { tree: treeId(""), git };
}

function treeId(path: string): ObjectId {
  return `tree:${path}`;
}

function split(path: string): [folder: string, name: string] {
  const slash = path.lastIndexOf("/");
  return [path.slice(0, Math.max(0, slash)), path.slice(slash + 1)];
}
