import { SlessError } from "../errors/index.ts";
import type { GitDirectory } from "./git-directory.ts";
import type { ObjectId, RefRequest, Resolved } from "./git-reader.ts";
import { newestTag } from "./newest-tag.ts";
import { hasRefs, readHead, readRef, tagNames } from "./read-refs.ts";
import { isObjectId, isRefName, shownRef } from "./ref-name.ts";

export interface GitObject {
  readonly type: string;
  readonly content: Uint8Array;
}

/** The object, or undefined when the repository does not have it. @throws SlessError `object_missing` for a corrupt one */
export type ReadObject = (id: ObjectId) => Promise<GitObject | undefined>;

const TAG_MAX_DEPTH = 10;

/**
 * `GitReader.resolve` over any way to read objects. `commit` goes before `tag`, `tag` before
 * `semver`, `semver` before `branch`.
 *
 * @throws SlessError `ref_not_found`, `semver_invalid`, `repository_empty`, `repository_unreachable`, `object_missing`
 */
export async function resolveRef(place: GitDirectory, request: RefRequest, read: ReadObject): Promise<Resolved> {
  const { branch, tag, semver, commit } = request;
  if (commit !== undefined) return resolveCommit(place, commit, read);
  if (tag !== undefined) return resolveNamed(place, `refs/tags/${tag}`, tag, `tag ${shownRef(tag)}`, read);
  if (semver !== undefined) {
    const name = newestTag(await tagNames(place), semver);
    if (name === undefined) return throwNotFound(place, `a tag in the range ${shownRef(semver)}`);
    return resolveNamed(place, `refs/tags/${name}`, name, `tag ${shownRef(name)}`, read);
  }
  if (branch !== undefined) {
    return resolveNamed(place, `refs/heads/${branch}`, branch, `branch ${shownRef(branch)}`, read);
  }
  const head = await readHead(place);
  if ("id" in head) return resolved(place, head.id, undefined, read);
  const name = head.ref.replace(/^refs\/(?:heads\/|tags\/)?/, "");
  return resolveNamed(place, head.ref, name, `branch ${shownRef(name)}, which HEAD names,`, read);
}

/**
 * What an expression names exactly, by Git's order: HEAD, a full id, a ref in full, a tag, a branch, a remote branch;
 * undefined when it is none of these (`HEAD~1`, a short id).
 */
export async function resolveExactly(
  place: GitDirectory,
  expression: string,
  read: ReadObject,
): Promise<Resolved | undefined> {
  if (expression === "HEAD" || expression === "@") return resolveRef(place, {}, read);
  if (isObjectId(expression.toLowerCase())) return resolveCommit(place, expression, read);
  if (!isRefName(expression)) return undefined;
  for (const prefix of ["", "refs/", "refs/tags/", "refs/heads/", "refs/remotes/"]) {
    const id = await readRef(place, prefix + expression);
    const name = (prefix + expression).replace(/^refs\/(?:heads|tags|remotes)\//, "");
    if (id !== undefined) return resolved(place, id, name, read);
  }
  return undefined;
}

/** @throws SlessError `repository_empty` when there is no ref at all, else `ref_not_found` */
export async function throwNotFound(place: GitDirectory, ref: string): Promise<never> {
  if (!(await hasRefs(place))) throw new SlessError("repository_empty", { url: place.repository });
  throw new SlessError("ref_not_found", { url: place.repository, ref });
}

/** The commit that an object leads to, annotated tags peeled; undefined when it is none or is not there. */
export async function peelToCommit(
  id: ObjectId,
  read: ReadObject,
): Promise<{ commit: ObjectId; tree: ObjectId; parents: ObjectId[] } | undefined> {
  let at = id;
  for (let depth = 0; depth < TAG_MAX_DEPTH; depth++) {
    const object = await read(at);
    if (object === undefined) return undefined;
    const header = headerOf(object.content);
    if (object.type === "commit") {
      const tree = /^tree ([0-9a-f]{40,64})$/m.exec(header)?.[1] ?? "";
      return {
        commit: at,
        tree,
        parents: [...header.matchAll(/^parent ([0-9a-f]{40,64})$/gm)].map((match) => match[1]!),
      };
    }
    const target = object.type === "tag" ? /^object ([0-9a-f]{40,64})$/m.exec(header)?.[1] : undefined;
    if (target === undefined) return undefined;
    at = target;
  }
  return undefined;
}

/** A commit's or tag's text up to the empty line: the message may hold lines that look like headers. */
function headerOf(content: Uint8Array): string {
  const text = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  const end = text.indexOf("\n\n");
  return text.toString("latin1", 0, end < 0 ? text.length : end);
}

async function resolveCommit(place: GitDirectory, commit: string, read: ReadObject): Promise<Resolved> {
  const id = commit.toLowerCase();
  const found = isObjectId(id) ? await peelToCommit(id, read) : undefined;
  if (found === undefined) return throwNotFound(place, `commit ${shownRef(commit)}`);
  return toResolved(found, undefined);
}

async function resolveNamed(place: GitDirectory, ref: string, name: string, shown: string, read: ReadObject) {
  const id = await readRef(place, ref);
  return id === undefined ? throwNotFound(place, shown) : resolved(place, id, name, read);
}

async function resolved(place: GitDirectory, id: ObjectId, name: string | undefined, read: ReadObject) {
  const found = await peelToCommit(id, read);
  if (found !== undefined) return toResolved(found, name);
  // The ref is there, so what it names must be: either that is lost, or it is a tag of something else.
  if ((await read(id)) === undefined) throw new SlessError("object_missing", { url: place.repository, id });
  throw new SlessError("ref_not_found", { url: place.repository, ref: `commit of ${shownRef(name ?? id)}` });
}

function toResolved(found: { commit: ObjectId; tree: ObjectId }, name: string | undefined): Resolved {
  const hash = `${found.commit.length === 64 ? "sha256" : "sha1"}:${found.commit}`;
  return { commit: found.commit, tree: found.tree, name, revision: name === undefined ? hash : `${name}@${hash}` };
}
