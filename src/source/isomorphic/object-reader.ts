import { join } from "node:path";
import { readObject } from "isomorphic-git";
import type { GitDirectory } from "../git-directory.ts";
import type { ObjectId } from "../git-reader.ts";
import type { GitObject } from "../resolve-ref.ts";
import { bulkFileSystem, listFolder } from "./bulk-file-system.ts";

export interface ObjectReader {
  /** Gives every object to `visit`, in order; answers the ids that are missing or corrupt. */
  read(ids: readonly ObjectId[], visit: (id: ObjectId, object: GitObject) => void): Promise<ObjectId[]>;
}

/** Reads in flight at once: they wait for the disk, and each holds an object. */
const AT_ONCE = 8;

/**
 * Objects by isomorphic-git, which keeps packs and their indexes in memory. They are dropped when one of the packs is
 * gone (`git gc`), and what is not found is looked for once more with nothing kept, for packs come and go while we read.
 */
export function openObjectReader(place: GitDirectory): ObjectReader {
  let cache: object = {};
  let packsOfCache = new Set<string>();

  async function dropStaleCache(): Promise<void> {
    const packs = new Set(await listFolder(join(place.commonDir, "objects", "pack")));
    if ([...packsOfCache].some((pack) => !packs.has(pack))) cache = {};
    packsOfCache = packs;
  }

  async function attempt(ids: readonly ObjectId[], visit: (id: ObjectId, object: GitObject) => void) {
    const missing: ObjectId[] = [];
    const source = bulkFileSystem(place.commonDir);
    for (let from = 0; from < ids.length; from += AT_ONCE) {
      const some = ids.slice(from, from + AT_ONCE);
      const objects = await Promise.all(some.map((id) => readOne(source, id)));
      for (const [index, object] of objects.entries()) {
        if (object === undefined) missing.push(some[index]!);
        else visit(some[index]!, object);
      }
    }
    return missing;
  }

  async function readOne(source: ReturnType<typeof bulkFileSystem>, oid: ObjectId): Promise<GitObject | undefined> {
    try {
      const found = await readObject({ fs: source, gitdir: place.commonDir, oid, format: "content", cache });
      return found.format === "content" ? { type: found.type, content: found.object } : undefined;
    } catch {
      return undefined;
    }
  }

  return {
    async read(ids, visit) {
      await dropStaleCache();
      const missing = await attempt(ids, visit);
      if (missing.length === 0) return missing;
      cache = {};
      return attempt(missing, visit);
    },
  };
}
