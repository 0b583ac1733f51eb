import { lstat, readFile, readlink } from "node:fs/promises";
import { isSlessError, SlessError } from "../../errors/index.ts";
import type { GitReader, ObjectId, Resolved } from "../git-reader.ts";
import { closedReader } from "../read-all.ts";
import { readHead } from "../read-refs.ts";
import { blobIdOf } from "./git-objects.ts";
import type { WorktreeSeen } from "./look-at-worktree.ts";
import { onDisk, toText } from "./raw-path.ts";
import type { SeenFile } from "./walk-worktree.ts";
import type { Worktree } from "./worktree.ts";

export interface WorktreeReaderOptions {
  /** Stays open when the reader is closed. */
  readonly worktree: Worktree;
  /** A reader of the repository that the work tree belongs to; closed with this one. */
  readonly repository: GitReader;
}

/** Stands for the commit while there is none, as Git writes it. */
const NO_COMMIT = "0".repeat(40);

/**
 * A GitReader whose HEAD is what lies in the work tree. `resolve({})` answers HEAD's own revision when nothing differs
 * from it, else `main@worktree:<tree>`, which is no commit; its `commit` is the one that the edits stand on. Objects
 * have the ids that Git gives them, of the bytes as they lie there: filters and line-end conversions are not run.
 * Everything else is answered by the repository, and so are objects that no file has any more. The trees that it can
 * read are those of the last `resolve({})`.
 *
 * @throws SlessError besides GitReader's, `file_changed` for a blob whose file was edited since, when Git has it not
 */
export function openWorktreeReader({ worktree, repository }: WorktreeReaderOptions): GitReader {
  const { folder } = worktree;
  let seen: WorktreeSeen | undefined;
  let isClosed = false;

  async function resolveHead(): Promise<Resolved> {
    if (isClosed) throw closedReader(folder);
    seen = await worktree.atRest();
    const { tree } = seen;
    const head = await repository.resolve({}).catch((error: unknown) => {
      if (isSlessError(error, "repository_empty") || isSlessError(error, "ref_not_found")) return undefined;
      throw error;
    });
    if (head?.tree === tree) return head;
    const name = head ? head.name : await nameOfHead(seen);
    const revision = `${name === undefined ? "" : `${name}@`}worktree:${tree}`;
    return { commit: head?.commit ?? NO_COMMIT, tree, name, revision };
  }

  /** Of a file that still has it. */
  async function contentOf(id: ObjectId): Promise<Uint8Array | undefined> {
    const file = seen?.blobs.get(id);
    return file && contentAt(folder, file, id);
  }

  function asFileChanged(error: unknown): never {
    const file = isSlessError(error, "object_missing") ? seen?.blobs.get(String(error.details.id)) : undefined;
    if (!file) throw error;
    throw new SlessError("file_changed", { path: toText(file.path) }, { cause: error });
  }

  /** Of ids, some here and the rest in the repository. */
  async function fromBoth<T>(
    ids: readonly ObjectId[],
    here: (id: ObjectId) => Promise<T | undefined> | T | undefined,
    there: (ids: readonly ObjectId[]) => Promise<Map<ObjectId, T>>,
  ): Promise<Map<ObjectId, T>> {
    if (isClosed) throw closedReader(folder);
    const found = new Map<ObjectId, T>();
    const others: ObjectId[] = [];
    for (const id of new Set(ids)) {
      const value = await here(id);
      if (value === undefined) others.push(id);
      else found.set(id, value);
    }
    if (others.length > 0) for (const [id, value] of await there(others)) found.set(id, value);
    return found;
  }

  return {
    async resolve(ref) {
      const isNamed = Object.values(ref).some((name) => name !== undefined);
      return isNamed ? repository.resolve(ref) : resolveHead();
    },
    resolveExpression: (expression) => repository.resolveExpression(expression),
    mergeBase: (a, b) => repository.mergeBase(a, b),
    trees: (ids) => fromBoth(ids, (id) => seen?.trees.get(id), repository.trees),
    sizes: (ids) => fromBoth(ids, (id) => seen?.blobs.get(id)?.size, repository.sizes),
    blobs: (ids) => fromBoth(ids, contentOf, repository.blobs).catch(asFileChanged),
    async close() {
      isClosed = true;
      await repository.close();
    },
  };
}

async function nameOfHead({ place }: WorktreeSeen): Promise<string | undefined> {
  const head = await readHead(place);
  return "ref" in head ? head.ref.replace(/^refs\/heads\//, "") : undefined;
}

/** The content of a file as long as it has this id. */
async function contentAt(folder: string, { path, size }: SeenFile, id: ObjectId): Promise<Uint8Array | undefined> {
  const content = await readIfOf(size, onDisk(folder, path)).catch(() => undefined);
  return content && blobIdOf(content, id.length === 64 ? "sha256" : "sha1") === id ? content : undefined;
}

/** Not read at all when it has another size: the caller counts on that. */
async function readIfOf(size: number, file: string | Buffer): Promise<Uint8Array | undefined> {
  const stats = await lstat(file);
  if (stats.size !== size) return undefined;
  if (stats.isSymbolicLink()) return readlink(file, { encoding: "buffer" });
  return stats.isFile() ? readFile(file) : undefined;
}
