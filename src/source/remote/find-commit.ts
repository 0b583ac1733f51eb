import { SlessError } from "../../errors/index.ts";
import type { ObjectId, RefRequest } from "../git-reader.ts";
import { newestTag } from "../newest-tag.ts";
import { isRefName, shownRef } from "../ref-name.ts";
import type { RemoteRef, RemoteRefs } from "./list-refs.ts";

export interface FoundCommit {
  /** What a ref leads to, annotated tags peeled where the server tells it. */
  readonly id: ObjectId;
  /** `main`, `v1.2.0`; undefined for a commit by id or a detached HEAD. */
  readonly name: string | undefined;
}

/**
 * Asks a server which commit a request names now. Nothing is asked about a commit by id.
 *
 * @param list lists the refs whose full names begin with a prefix
 * @throws SlessError `ref_not_found`, `repository_empty`, `semver_invalid`, and what `list` throws
 */
export async function findCommit(
  request: RefRequest,
  url: string,
  list: (prefix: string) => Promise<RemoteRefs>,
): Promise<FoundCommit> {
  const { branch, tag, semver, commit } = request;
  if (commit !== undefined) return { id: commit.toLowerCase(), name: undefined };
  const notFound = async (ref: string) => {
    const { refs } = await list("refs/");
    return refs.size === 0
      ? new SlessError("repository_empty", { url })
      : new SlessError("ref_not_found", { url, ref });
  };
  const named = async (prefix: string, name: string, shown: string): Promise<FoundCommit> => {
    const found = isRefName(prefix + name) ? (await list(prefix + name)).refs.get(prefix + name) : undefined;
    if (found === undefined) throw await notFound(shown);
    return { id: idOf(found), name };
  };
  if (tag !== undefined) return named("refs/tags/", tag, `tag ${shownRef(tag)}`);
  if (semver !== undefined) {
    const { refs } = await list("refs/tags/");
    const name = newestTag(tagNames(refs), semver);
    if (name === undefined) throw await notFound(`a tag in the range ${shownRef(semver)}`);
    return { id: idOf(refs.get(`refs/tags/${name}`)!), name };
  }
  if (branch !== undefined) return named("refs/heads/", branch, `branch ${shownRef(branch)}`);
  const { refs, head } = await list("HEAD");
  const found = refs.get("HEAD");
  if (found === undefined) throw await notFound("the default branch (HEAD)");
  return { id: idOf(found), name: head?.replace(/^refs\/(?:heads\/|tags\/)?/, "") };
}

function idOf({ id, peeled }: RemoteRef): ObjectId {
  return peeled ?? id;
}

function tagNames(refs: ReadonlyMap<string, RemoteRef>): string[] {
  const prefix = "refs/tags/";
  return [...refs.keys()].filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length));
}
