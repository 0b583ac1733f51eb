import { join } from "node:path";
import { type GitDirectory, textOf } from "../git-directory.ts";
import type { GitReader, ObjectId, Resolved, TreeEntry } from "../git-reader.ts";
import { parseTree } from "../parse-tree.ts";
import { checkIds, objectMissing, readAll } from "../read-all.ts";
import { shownRef } from "../ref-name.ts";
import { type GitObject, peelToCommit, resolveExactly, resolveRef, throwNotFound } from "../resolve-ref.ts";
import { keepBlobs } from "./kept-blobs.ts";
import { bestCommonAncestors } from "./merge-base.ts";
import { openPlainRepository } from "./plain-repository.ts";
import { resolveSteps } from "./resolve-steps.ts";

const SHA1_BYTES = 20;

/**
 * A GitReader over isomorphic-git: needs nothing installed, and reads packs whole into memory. It reads plain
 * repositories of sha1 only.
 *
 * @throws SlessError `repository_unreachable`; `repository_unsupported` for linked worktrees, alternates and sha256
 */
export async function openIsomorphicReader({ repository }: { readonly repository: string }): Promise<GitReader> {
  const plain = await openPlainRepository(repository);
  const kept = keepBlobs();

  async function readObject(id: ObjectId): Promise<GitObject | undefined> {
    let object: GitObject | undefined;
    await plain.objects([id], (_, found) => {
      object = found;
    });
    return object;
  }

  async function sizes(ids: readonly ObjectId[]): Promise<Map<ObjectId, number>> {
    kept.clear();
    return readAll(repository, ids, plain.objects, (object, id) => {
      const content = toContent(object);
      if (content) kept.add(id, content);
      return content?.length;
    });
  }

  async function blobs(ids: readonly ObjectId[]): Promise<Map<ObjectId, Uint8Array>> {
    const had = kept.take(ids);
    const others = ids.filter((id) => !had.has(id));
    const read = await readAll(repository, others, plain.objects, toContent);
    for (const [id, content] of had) read.set(id, content);
    return read;
  }

  /** Parents as far as this repository goes: a shallow clone ends somewhere. */
  async function parentsReader(at: GitDirectory): Promise<(id: ObjectId) => Promise<readonly ObjectId[]>> {
    const shallow = new Set((await textOf(join(at.commonDir, "shallow")))?.split("\n"));
    return async (id) => {
      const commit = await peelToCommit(id, readObject);
      if (commit === undefined) throw objectMissing(repository, id);
      return shallow.has(id) ? [] : commit.parents;
    };
  }

  async function resolveExpression(expression: string): Promise<Resolved> {
    const at = await plain.place();
    const exact = await resolveExactly(at, expression, readObject);
    if (exact !== undefined) return exact;
    const commit = await resolveSteps(at, expression, readObject, await parentsReader(at));
    return commit === undefined ? throwNotFound(at, shownRef(expression)) : resolveRef(at, { commit }, readObject);
  }

  return {
    resolve: async (ref) => resolveRef(await plain.place(), ref, readObject),
    resolveExpression,
    async mergeBase(a, b) {
      checkIds(repository, [a, b]);
      const best = await bestCommonAncestors(a, b, await parentsReader(await plain.place()));
      return best.sort()[0];
    },
    trees: (ids) => readAll(repository, ids, plain.objects, toTree),
    sizes,
    blobs,
    async close() {
      kept.clear();
      plain.close();
    },
  };
}

function toTree({ type, content }: GitObject): readonly TreeEntry[] | undefined {
  return type === "tree" ? parseTree(content, SHA1_BYTES) : undefined;
}

function toContent({ type, content }: GitObject): Uint8Array | undefined {
  return type === "blob" ? content : undefined;
}
