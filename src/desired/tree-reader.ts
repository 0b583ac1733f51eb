import { isSlessError, SlessError } from "../errors/index.ts";
import { type GitObjects, type ObjectId, type Resolved, readTreesBelow, type TreeEntry } from "../source/index.ts";
import { type Folder, listFolders, type Trees, type Walk, type WalkedFolder } from "./folder-walk.ts";
import type { DesiredLimits } from "./limits.ts";
import { below } from "./paths.ts";

/** The folders of a revision: the followed one and all below it, parents first. */
export interface FoldersRead extends Walk {
  readonly trees: Trees;
  /** From the root to the parent of the followed folder. */
  readonly around: readonly Folder[];
}

/** Reads the trees of revisions, those that are known not again. */
export function createTreeReader(git: GitObjects, limits: DesiredLimits) {
  // Only trees of which everything below is known too, so that the walk may stop at them.
  let complete: ReadonlyMap<ObjectId, readonly TreeEntry[]> = new Map();
  let last: WalkedFolder | undefined;

  /**
   * @param path normalised; undefined when it climbs out of the repository.
   * @throws SlessError `path_not_found`
   */
  async function readFolders(
    resolved: Pick<Resolved, "revision" | "tree">,
    path: string | undefined,
    written: string,
  ): Promise<FoldersRead> {
    const { around, start, above } = await descend(resolved, path, written);
    const read = await readTreesBelow(git, start.tree, {
      isKnown: (id) => complete.has(id),
      maxTrees: limits.maxEntries,
    }).catch(asTooLarge);
    const known = complete;
    const walk = listFolders({ get: (id) => read.get(id) ?? known.get(id) }, start, limits.maxEntries, last);
    const reached = reachedBy(walk.folders);
    complete = reached;
    last = walk.folders[0];
    return { ...walk, trees: { get: (id) => reached.get(id) ?? above.get(id) }, around };
  }

  async function descend(resolved: Pick<Resolved, "revision" | "tree">, path: string | undefined, written: string) {
    const above = new Map<ObjectId, readonly TreeEntry[]>();
    const around: Folder[] = [];
    let start: Folder = { path: "", tree: resolved.tree };
    for (const name of path === undefined ? [".."] : path.split("/").filter(Boolean)) {
      const entries = complete.get(start.tree) ?? (await git.trees([start.tree])).get(start.tree)!;
      above.set(start.tree, entries);
      around.push(start);
      const next = entries.find((entry) => entry.name === name && entry.mode === "40000");
      if (!next) throw new SlessError("path_not_found", { path: written, revision: resolved.revision });
      start = { path: below(start.path, name), tree: next.id };
    }
    return { around, start, above };
  }

  return { read: readFolders };
}

function reachedBy(folders: readonly WalkedFolder[]): Map<ObjectId, readonly TreeEntry[]> {
  const reached = new Map<ObjectId, readonly TreeEntry[]>();
  for (const { tree, entries } of folders) reached.set(tree, entries);
  return reached;
}

/** The walk's bounds are told as a fault of the repository, with what mends it there. */
function asTooLarge(error: unknown): never {
  if (!isSlessError(error, "too_large")) throw error;
  throw new SlessError("repository_too_large", { limit: String(error.details.limit) }, { cause: error });
}
