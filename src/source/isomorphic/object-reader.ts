import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
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

/** A repository that is repacked this often meanwhile is not read. */
const ATTEMPTS_MAX = 10;

/**
 * Objects by isomorphic-git, which keeps packs and their indexes in memory. They are dropped when one of the packs is
 * gone (`git gc`). Packs come and go while we read, so an object is missing only when it is in none of the same packs
 * before and after.
 */
export function openObjectReader(place: GitDirectory): ObjectReader {
  let cache: object = {};
  let packsOfCache: readonly string[] = [];

  const listPacks = async () => (await listFolder(join(place.commonDir, "objects", "pack"))).sort();

  async function read(ids: readonly ObjectId[], visit: (id: ObjectId, object: GitObject) => void) {
    let missing = ids;
    for (let attempts = 1; ; attempts++) {
      const packs = await listPacks();
      const isStale = attempts > 1 || packsOfCache.some((pack) => !packs.includes(pack));
      if (isStale) cache = {};
      packsOfCache = packs;
      missing = await attempt(missing, visit);
      if (missing.length === 0) return [];
      const isSettled = attempts > 1 && isDeepStrictEqual(packs, await listPacks());
      if (isSettled || attempts === ATTEMPTS_MAX) return [...missing];
    }
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

  return { read };
}
