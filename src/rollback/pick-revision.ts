import { refText, type WorkloadRef } from "../apis/index.ts";
import { SlessError } from "../errors/index.ts";

/** What can be gone back to. */
export interface ServedRevision {
  readonly number: number;
  readonly sourceDigest: string;
  /** `main@sha1:<hex>`; undefined for what was uploaded. */
  readonly revision: string | undefined;
}

interface Choice {
  readonly ref: WorkloadRef;
  /** A number, the beginning of a source digest, or a revision or the beginning of its commit. */
  readonly to: string | undefined;
  /** Source that the object names now; what serves may be older. */
  readonly wantedDigest: string | undefined;
}

/** Shorter beginnings of digests and commits name too much. */
const PREFIX_MIN = 4;

/**
 * The revision to go back to: the one that is named, or else the latest with another source than the present one.
 * Pure.
 *
 * @param history the newest first
 * @throws SlessError `rollback_refused` when there is none, or more than one
 */
export function pickRevision<R extends ServedRevision>(history: readonly R[], { ref, to, wantedDigest }: Choice): R {
  if (history.length === 0) throw refusal(ref, "nothing of it has served yet");
  if (to !== undefined) return named(history, to, ref);
  const found = history.find(({ sourceDigest }) => sourceDigest !== (wantedDigest ?? history[0]!.sourceDigest));
  if (found) return found;
  throw refusal(ref, "there is nothing to go back to: no other source of it has served");
}

function named<R extends ServedRevision>(history: readonly R[], to: string, ref: WorkloadRef): R {
  const numbered = /^\d{1,9}$/.test(to) ? history.find(({ number }) => number === Number(to)) : undefined;
  if (numbered) return numbered;
  const text = to.toLowerCase();
  const prefix = /^(?:.+@)?(?:sha1:|sha256:)?([0-9a-f]+)$/.exec(text)?.[1] ?? "";
  const found = history.filter(
    ({ sourceDigest, revision }) =>
      revision?.toLowerCase() === text ||
      (prefix.length >= PREFIX_MIN &&
        (sourceDigest.startsWith(prefix) || (commitIn(revision)?.startsWith(prefix) ?? false))),
  );
  const [first] = found;
  if (!first) throw refusal(ref, `nothing that served is ${JSON.stringify(to.slice(0, 100))}`);
  // The same source on several base images, or of the same commit, is one and the same to go back to.
  const isOne = found.every((one) => one.sourceDigest === first.sourceDigest || one.revision === first.revision);
  if (isOne) return first;
  throw refusal(ref, `${to} names numbers ${found.map(({ number }) => number).join(", ")}; give one of them`);
}

/** The commit of a revision as a sync wrote it. @throws SlessError `rollback_refused` without one */
export function commitOf({ number, revision }: ServedRevision, ref: WorkloadRef): string {
  const commit = commitIn(revision);
  if (commit !== undefined) return commit;
  const why =
    revision === undefined
      ? "was uploaded, or served before its commit was known"
      : `is of files that were not committed (${revision})`;
  throw refusal(ref, `number ${number} ${why}, so that no commit has it`);
}

function commitIn(revision: string | undefined): string | undefined {
  return /(?:^|@)(?:sha1:([0-9a-f]{40})|sha256:([0-9a-f]{64}))$/
    .exec(revision ?? "")
    ?.slice(1)
    .find(Boolean);
}

export function refusal(ref: WorkloadRef, cause: string): SlessError {
  return new SlessError("rollback_refused", { what: refText(ref), name: ref.name, cause });
}
