import { join } from "node:path";
import { SlessError } from "../../errors/index.ts";
import { findGitDirectory, type GitDirectory, textOf } from "../git-directory.ts";
import type { GitReader, ObjectId, Resolved } from "../git-reader.ts";
import { parseTree } from "../parse-tree.ts";
import { isObjectId, shownRef } from "../ref-name.ts";
import { type GitObject, peelToCommit, resolveExactly, resolveRef, throwNotFound } from "../resolve-ref.ts";
import { checkSupported } from "./check-supported.ts";
import { bestCommonAncestors } from "./merge-base.ts";
import { type ObjectReader, openObjectReader } from "./object-reader.ts";
import { resolveSteps } from "./resolve-steps.ts";

/** Blobs that `sizes` had to read are kept for the `blobs` that mostly follows. */
const KEPT_MAX_BYTES = 32 << 20;
const KEPT_BLOB_MAX_BYTES = 64 << 10;
const SHA1_BYTES = 20;

/**
 * A GitReader over isomorphic-git: needs nothing installed, and reads packs whole into memory. It reads plain
 * repositories of sha1 only.
 *
 * @throws SlessError `repository_unreachable`; `repository_unsupported` for linked worktrees, alternates and sha256
 */
export async function openIsomorphicReader({ repository }: { readonly repository: string }): Promise<GitReader> {
  let place = await findGitDirectory(repository);
  let objects: ObjectReader = openObjectReader(place);
  await checkSupported(place);
  let isClosed = false;
  let kept = new Map<ObjectId, Uint8Array>();

  /** Looks again where the repository is: it may have been removed, or made anew in another form. */
  async function currentPlace(): Promise<GitDirectory> {
    if (isClosed) throw new SlessError("repository_unreachable", { url: repository, cause: "the reader is closed" });
    const found = await findGitDirectory(repository);
    await checkSupported(found);
    if (found.gitDir !== place.gitDir) {
      place = found;
      objects = openObjectReader(place);
    }
    return place;
  }

  const objectMissing = (id: string) => new SlessError("object_missing", { url: repository, id });

  async function readAny(ids: readonly ObjectId[], visit: (id: ObjectId, object: GitObject) => void) {
    const faulty = ids.find((id) => !isObjectId(id));
    if (faulty !== undefined) throw objectMissing(shownRef(faulty));
    const missing = await objects.read(ids, visit);
    if (missing.length > 0 || isClosed) await currentPlace(); // a repository that is gone says so itself
    return missing;
  }

  async function readObject(id: ObjectId): Promise<GitObject | undefined> {
    let object: GitObject | undefined;
    await readAny([id], (_, found) => {
      object = found;
    });
    return object;
  }

  /** Reads all ids as one type, or throws for the first that is missing or something else. */
  async function readAll<T>(ids: readonly ObjectId[], read: (object: GitObject, id: ObjectId) => T | undefined) {
    const found = new Map<ObjectId, T>();
    let faulty: ObjectId | undefined;
    const missing = await readAny([...new Set(ids)], (id, object) => {
      const value = read(object, id);
      if (value === undefined) faulty ??= id;
      else found.set(id, value);
    });
    const bad = missing[0] ?? faulty;
    if (bad !== undefined) throw objectMissing(bad);
    return found;
  }

  async function sizes(ids: readonly ObjectId[]): Promise<Map<ObjectId, number>> {
    kept = new Map();
    let keptBytes = 0;
    return readAll(ids, ({ type, content }, id) => {
      if (type !== "blob") return undefined;
      const isKept = content.length <= KEPT_BLOB_MAX_BYTES && keptBytes + content.length <= KEPT_MAX_BYTES;
      if (isKept) {
        kept.set(id, content);
        keptBytes += content.length;
      }
      return content.length;
    });
  }

  async function blobs(ids: readonly ObjectId[]): Promise<Map<ObjectId, Uint8Array>> {
    const had = kept;
    kept = new Map();
    const read = await readAll(
      ids.filter((id) => !had.has(id)),
      ({ type, content }) => (type === "blob" ? content : undefined),
    );
    for (const id of ids) if (had.has(id)) read.set(id, had.get(id)!);
    return read;
  }

  /** Parents as far as this repository goes: a shallow clone ends somewhere. */
  async function parentsReader(at: GitDirectory): Promise<(id: ObjectId) => Promise<readonly ObjectId[]>> {
    const shallow = new Set((await textOf(join(at.commonDir, "shallow")))?.split("\n"));
    return async (id) => {
      const commit = await peelToCommit(id, readObject);
      if (commit === undefined) throw objectMissing(id);
      return shallow.has(id) ? [] : commit.parents;
    };
  }

  async function resolveExpression(expression: string): Promise<Resolved> {
    const at = await currentPlace();
    const exact = await resolveExactly(at, expression, readObject);
    if (exact !== undefined) return exact;
    const commit = await resolveSteps(at, expression, readObject, await parentsReader(at));
    return commit === undefined ? throwNotFound(at, shownRef(expression)) : resolveRef(at, { commit }, readObject);
  }

  return {
    resolve: async (ref) => resolveRef(await currentPlace(), ref, readObject),
    resolveExpression,
    async mergeBase(a, b) {
      const best = await bestCommonAncestors(a, b, await parentsReader(await currentPlace()));
      return best.sort()[0];
    },
    trees: (ids) => readAll(ids, ({ type, content }) => (type === "tree" ? parseTree(content, SHA1_BYTES) : undefined)),
    sizes,
    blobs,
    async close() {
      isClosed = true;
      kept = new Map();
      objects = openObjectReader(place);
    },
  };
}
