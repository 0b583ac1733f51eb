import type { WorkloadRef } from "../apis/index.ts";
import type { RollbackResult } from "../rollback/index.ts";
import type { KeptRevisionItem } from "../server/client.ts";
import { nameOf } from "./kind-names.ts";
import type { Style } from "./style.ts";
import { ageText, oneLine, shortRevision, tableLines } from "./table.ts";

/** A revision that served, as a roll-back speaks of it. */
export interface ToldRevision {
  readonly number: number;
  readonly sourceDigest: string;
  readonly revision: string | undefined;
  readonly servedAt: string;
  readonly isImagePresent: boolean | undefined;
}

export function toldRevision(item: KeptRevisionItem): ToldRevision {
  const { number, source_digest, revision, served_at, image_present } = item;
  return {
    number,
    sourceDigest: source_digest,
    revision,
    servedAt: served_at,
    isImagePresent: image_present,
  };
}

interface ToldRollback {
  readonly ref: WorkloadRef;
  readonly target: ToldRevision;
  readonly result: RollbackResult;
  /** Branch that the repository follows, where it names one. */
  readonly followed: string | undefined;
}

/** The files, what was done, and what is to do. */
export function rollbackLines(told: ToldRollback, style: Style, now: Date): string[] {
  const { ref, target, result } = told;
  const { number, revision, servedAt } = target;
  const { commit, branch, places } = result;
  const age = ageText(servedAt, now);
  const back = `${nameOf(ref)} back to number ${number} (${shortRevision(revision)}, served ${age} ago)`;
  const files = fileLines(result.changes).map((line) => ` ${line}`);
  if (commit === undefined) return [...files, `Would take ${back}: ${oneLine(places.join(", "))} on ${branch}.`];
  return [
    ...files,
    style.good(`Took ${back}: ${oneLine(places.join(", "))} in commit ${commit.slice(0, 7)} on ${branch}.`),
    ...nextLines(told),
  ];
}

function nextLines({ target, result, followed }: ToldRollback): string[] {
  const { branch, isSameSource } = result;
  const push = followed === undefined || followed === branch ? "`git push` deploys it" : undefined;
  const elsewhere = `it is deployed once it is on ${followed}, which the repository follows`;
  if (!isSameSource) return [`Ignore files around it changed since, so that it is built anew; ${push ?? elsewhere}.`];
  if (target.isImagePresent === false) return [`Its image is gone and is built anew; ${push ?? elsewhere}.`];
  return [target.isImagePresent ? `Its image is still there: ${push ?? elsewhere}.` : `${capital(push ?? elsewhere)}.`];
}

function capital(text: string): string {
  return text.replace(/^[a-z]/, (first) => first.toUpperCase());
}

function fileLines(changes: RollbackResult["changes"]): string[] {
  const rows = changes.map(({ path, change, added, deleted }) => [
    path,
    change,
    added === undefined || deleted === undefined ? "binary" : `+${added} -${deleted}`,
  ]);
  return tableLines(["FILE", "CHANGE", "LINES"], rows);
}

/** The outcome for `-o json` and `yaml`. */
export function rollbackDocument({ ref, target, result }: ToldRollback): object {
  const { number, revision, sourceDigest, isImagePresent } = target;
  const { from, branch, commit, places, changes, isSameSource } = result;
  return {
    kind: ref.kind,
    name: ref.name,
    dry_run: commit === undefined,
    to: { number, revision, commit: from, source_digest: sourceDigest, image_present: isImagePresent },
    branch,
    commit,
    same_source: isSameSource,
    places,
    files: changes,
  };
}
