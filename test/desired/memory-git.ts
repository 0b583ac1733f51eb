import { createHash } from "node:crypto";
import type { GitReader, ObjectId, Resolved, TreeEntry } from "../../src/source/index.ts";

/** Text of a file, or where a link leads. */
export type MemoryFile = string | { readonly link: string };

/** Git objects in memory, for histories too many to make with git. Files by path; empty folders do not exist. */
export interface MemoryGit {
  readonly git: Pick<GitReader, "trees" | "sizes" | "blobs">;
  /** Stores the files as a tree. */
  commit(files: ReadonlyMap<string, MemoryFile>): Pick<Resolved, "tree" | "revision">;
}

export function memoryGit(): MemoryGit {
  const trees = new Map<ObjectId, readonly TreeEntry[]>();
  const blobs = new Map<ObjectId, Uint8Array>();

  function writeTree(files: ReadonlyMap<string, MemoryFile>): ObjectId {
    const entries = new Map<string, TreeEntry>();
    const folders = new Map<string, Map<string, MemoryFile>>();
    for (const [path, file] of files) {
      const slash = path.indexOf("/");
      if (slash < 0) entries.set(path, entryOf(path, file));
      else {
        const name = path.slice(0, slash);
        const inner = folders.get(name) ?? new Map<string, MemoryFile>();
        folders.set(name, inner.set(path.slice(slash + 1), file));
      }
    }
    for (const [name, inner] of folders) entries.set(name, { name, mode: "40000", id: writeTree(inner) });
    const sorted = [...entries.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
    const id = hash(JSON.stringify(sorted));
    trees.set(id, sorted);
    return id;
  }

  function entryOf(name: string, file: MemoryFile): TreeEntry {
    if (typeof file === "string") return { name, mode: "100644", id: writeBlob(file) };
    return { name, mode: "120000", id: writeBlob(file.link) };
  }

  function writeBlob(text: string): ObjectId {
    const id = hash(`blob ${text}`);
    blobs.set(id, Buffer.from(text));
    return id;
  }

  const pick = async <T>(from: ReadonlyMap<ObjectId, T>, ids: readonly ObjectId[]) =>
    new Map(ids.map((id) => [id, from.get(id)!]));
  return {
    git: {
      trees: (ids) => pick(trees, ids),
      blobs: (ids) => pick(blobs, ids),
      sizes: async (ids) => new Map(ids.map((id) => [id, blobs.get(id)!.length])),
    },
    commit(files) {
      const tree = writeTree(files);
      return { tree, revision: `main@sha1:${tree}` };
    },
  };
}

function hash(text: string): ObjectId {
  return createHash("sha1").update(text).digest("hex");
}
