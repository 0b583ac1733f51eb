import { SlessError } from "../errors/index.ts";
import type { GitReader, ObjectId, TreeEntry } from "./git-reader.ts";

export interface TreeWalkOptions {
  /** Trees whose entries the caller has from before: neither read nor descended into. */
  readonly isKnown: (id: ObjectId) => boolean;
  /** Different trees at most. Default 500,000. */
  readonly maxTrees?: number;
  /** Folders in folders at most. Default 100. */
  readonly maxDepth?: number;
}

/**
 * Reads a tree and the trees below it, level by level in bulk; a tree that stands in several places is read once.
 * Submodules are not descended into. Without the root in the result, the root was known.
 *
 * A few small trees can describe endless many paths (each level naming the next one many times), so whoever walks
 * paths over the result needs a bound of its own.
 *
 * @throws SlessError `object_missing`, `repository_unreachable`; `too_large` beyond the limits. Never a part.
 */
export async function readTreesBelow(
  reader: Pick<GitReader, "trees">,
  rootTree: ObjectId,
  { isKnown, maxTrees = 500_000, maxDepth = 100 }: TreeWalkOptions,
): Promise<Map<ObjectId, readonly TreeEntry[]>> {
  const read = new Map<ObjectId, readonly TreeEntry[]>();
  let level = isKnown(rootTree) ? new Set<ObjectId>() : new Set([rootTree]);
  for (let depth = 0; level.size > 0; depth++) {
    if (depth > maxDepth) throw tooLarge("The deepest folder", `${maxDepth} folders in each other`);
    if (read.size + level.size > maxTrees) throw tooLarge("The repository's tree", `${maxTrees} folders`);
    const trees = await reader.trees([...level]);
    level = new Set();
    for (const [id, entries] of trees) read.set(id, entries);
    for (const entries of trees.values()) {
      for (const { mode, id } of entries) if (mode === "40000" && !read.has(id) && !isKnown(id)) level.add(id);
    }
  }
  return read;
}

function tooLarge(what: string, limit: string): SlessError {
  return new SlessError("too_large", { what, limit });
}
