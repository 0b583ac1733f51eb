import type { IncomingHttpHeaders } from "node:http";

/** What a delivery tells, as far as it is understood. */
export type Announcement =
  | { readonly kind: "ping" }
  /** Refs that were written or deleted, in full (`refs/heads/main`), and the repository's default branch. */
  | { readonly kind: "push"; readonly refs: readonly PushedRef[]; readonly defaultBranch: string | undefined }
  | { readonly kind: "unknown" };

export interface PushedRef {
  readonly ref: string;
  /** What it names now; undefined when that is not told, or it is gone. */
  readonly commit: string | undefined;
}

/** Headers that name the event: GitHub's (Gitea and Forgejo send it too), GitLab's, Bitbucket's. */
const EVENT_HEADERS = ["x-github-event", "x-gitea-event", "x-forgejo-event", "x-gitlab-event", "x-event-key"];
const PINGS = ["ping", "diagnostics:ping"];
const UNKNOWN: Announcement = { kind: "unknown" };

/**
 * Reads what happened from the payload's shape, which tells more than the many names that events have. What is not
 * understood is `unknown`, never an error.
 *
 * @param payload JSON text; undefined when it is none, or too long to be looked at
 */
export function announcementOf(headers: IncomingHttpHeaders, payload: string | undefined): Announcement {
  if (EVENT_HEADERS.some((name) => PINGS.includes(String(headers[name] ?? "")))) return { kind: "ping" };
  const body = parsed(payload);
  const refs = pushedRefs(body);
  if (!refs || refs.length === 0) return UNKNOWN;
  return { kind: "push", refs, defaultBranch: defaultBranchIn(body) };
}

/** The JSON text of a body; of a form its field `payload`, where it has one: curl says of everything that it is a form. */
export function payloadOf(headers: IncomingHttpHeaders, body: Buffer): string {
  const text = body.toString("utf8");
  return isForm(headers) ? (new URLSearchParams(text).get("payload") ?? text) : text;
}

export function isForm(headers: IncomingHttpHeaders): boolean {
  return (headers["content-type"] ?? "").toLowerCase().startsWith("application/x-www-form-urlencoded");
}

function pushedRefs(body: unknown): PushedRef[] | undefined {
  const ref = at(body, "ref");
  const type = at(body, "ref_type");
  if (typeof ref === "string" && ref.startsWith("refs/")) return [{ ref, commit: commitIn(at(body, "after")) }];
  // Events `create` and `delete` of GitHub and Gitea.
  if (typeof ref === "string" && isRefType(type)) return [{ ref: fullRef(type, ref), commit: undefined }];
  return changedRefs(at(body, "push", "changes")) ?? changedRefs(at(body, "changes"));
}

/** Bitbucket's changes; undefined when one of them is not understood. */
function changedRefs(changes: unknown): PushedRef[] | undefined {
  if (!Array.isArray(changes)) return undefined;
  const refs = changes.map((change) => cloudRef(change) ?? serverRef(change));
  return refs.every((ref) => ref !== undefined) ? refs : undefined;
}

function cloudRef(change: unknown): PushedRef | undefined {
  const now = at(change, "new");
  const named = now ?? at(change, "old");
  const type = at(named, "type");
  const name = at(named, "name");
  if (typeof name !== "string" || !isRefType(type)) return undefined;
  return { ref: fullRef(type, name), commit: commitIn(at(now, "target", "hash")) };
}

function serverRef(change: unknown): PushedRef | undefined {
  const ref = at(change, "ref", "id") ?? at(change, "refId");
  return typeof ref === "string" ? { ref, commit: commitIn(at(change, "toHash")) } : undefined;
}

function defaultBranchIn(body: unknown): string | undefined {
  const name = at(body, "repository", "default_branch") ?? at(body, "project", "default_branch");
  return typeof name === "string" && name !== "" ? name : undefined;
}

type RefType = "branch" | "tag";
const isRefType = (type: unknown): type is RefType => type === "branch" || type === "tag";
const fullRef = (type: RefType, name: string) => `refs/${type === "branch" ? "heads" : "tags"}/${name}`;

/** None of zeros: the ref is gone. */
function commitIn(value: unknown): string | undefined {
  return typeof value === "string" && /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(value) && !/^0+$/.test(value)
    ? value
    : undefined;
}

function at(value: unknown, ...path: readonly string[]): unknown {
  let found = value;
  for (const name of path) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, name)) return undefined;
    found = (found as Record<string, unknown>)[name];
  }
  return found ?? undefined;
}

function parsed(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
