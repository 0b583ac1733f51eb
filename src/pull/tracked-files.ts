import { isSlessError } from "../errors/index.ts";
import { type GitReader, type ObjectId, readTreesBelow, type TreeEntry } from "../source/index.ts";
import { below, type ObjectFormat } from "./folder-files.ts";

/** What the commit that is checked out has at a path. */
export type TrackedFiles = ReadonlyMap<string, Pick<TreeEntry, "mode" | "id">>;

export interface Checkout {
  /** Below the folder asked for; paths are below the root. */
  readonly tracked: TrackedFiles;
  readonly format: ObjectFormat;
  /** undefined without a commit, or on none of the branches. */
  readonly branch: string | undefined;
}

/**
 * What the checked-out commit has below a folder; nothing when there is no commit yet, or no such folder in it.
 *
 * @throws SlessError `repository_unreachable`, `object_missing`, `too_large`
 */
export async function readCheckout(git: GitReader, folder: string): Promise<Checkout> {
  const head = await git.resolve({}).catch((error: unknown) => {
    if (isSlessError(error, "repository_empty")) return undefined;
    throw error;
  });
  if (!head) return { tracked: new Map(), format: "sha1", branch: undefined };
  const format = head.commit.length === 64 ? "sha256" : "sha1";
  return { tracked: await filesOf(git, head.tree, folder), format, branch: head.name };
}

/** The files of a commit's tree below a folder; none when there is no such folder. */
export async function filesOf(git: GitReader, tree: ObjectId, folder: string): Promise<TrackedFiles> {
  const start = await descend(git, tree, folder);
  return start === undefined ? new Map() : flatten(git, start, folder);
}

async function descend(git: GitReader, root: ObjectId, folder: string): Promise<ObjectId | undefined> {
  let tree: ObjectId | undefined = root;
  for (const name of folder.split("/").filter(Boolean)) {
    const entries: readonly TreeEntry[] = (await git.trees([tree])).get(tree)!;
    tree = entries.find((entry) => entry.name === name && entry.mode === "40000")?.id;
    if (tree === undefined) return undefined;
  }
  return tree;
}

async function flatten(git: GitReader, root: ObjectId, folder: string): Promise<TrackedFiles> {
  const trees = await readTreesBelow(git, root, { isKnown: () => false });
  const tracked = new Map<string, Pick<TreeEntry, "mode" | "id">>();
  const stack = [{ tree: root, path: folder }];
  for (let next = stack.pop(); next; next = stack.pop()) {
    for (const { name, mode, id } of trees.get(next.tree)!) {
      const path = below(next.path, name);
      if (mode === "40000") stack.push({ tree: id, path });
      else tracked.set(path, { mode, id });
    }
  }
  return tracked;
}
