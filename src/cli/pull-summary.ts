import type { PullAction, PullResult, PullRow } from "../pull/index.ts";
import { say } from "./io.ts";
import { nameOf } from "./kind-names.ts";
import { inForm, RESULT_OUTPUTS } from "./output.ts";
import type { Style } from "./style.ts";
import { oneLine, tableLines } from "./table.ts";
import type { VerbContext } from "./verb.ts";

export const SUMMARY_FORMS = ["text", ...RESULT_OUTPUTS] as const;
export type SummaryForm = (typeof SUMMARY_FORMS)[number];

interface SummaryOptions {
  readonly form: SummaryForm;
  /** As the user wrote it. */
  readonly into: string;
  readonly isDryRun: boolean;
}

const ACTIONS: readonly PullAction[] = ["created", "configured", "unchanged", "deleted", "skipped", "failed"];

/** What stands otherwise in the folder than before, or would. */
const CHANGING: readonly PullAction[] = ["created", "configured", "deleted"];

/**
 * Writes what a pull did: a table of all but what is unchanged, and the counts; or all of it as JSON or YAML; or the
 * names of what it changed.
 */
export async function writePull(
  result: PullResult,
  { form, into, isDryRun }: SummaryOptions,
  { io, style }: VerbContext,
): Promise<void> {
  if (form !== "text") {
    const changed = result.rows.filter(({ action }) => CHANGING.includes(action));
    const names = changed.map(({ ref }) => nameOf(ref));
    await io.stdout.write(inForm(form, document(result, isDryRun), names));
    return;
  }
  const told = result.rows.filter(({ action, reason }) => action !== "unchanged" || reason !== undefined);
  if (told.length > 0) for (const line of table(told, style)) say(io.stdout, line);
  say(io.stdout, countsText(result.rows, into, isDryRun));
  const owner = onlyOwner(result.rows);
  if (owner !== undefined) say(io.stderr, `Is this the folder of ${owner}? Then pull with --repository ${owner}.`);
  if (result.isInterrupted) say(io.stderr, "Interrupted: not all of it was written; pull again.");
}

/** The repository that everything was skipped for: into a new folder it is pulled when it is named. */
function onlyOwner(rows: readonly PullRow[]): string | undefined {
  const owners = new Set(rows.map(({ owner }) => owner));
  return owners.size === 1 ? [...owners][0] : undefined;
}

function table(rows: readonly PullRow[], style: Style): string[] {
  const lines = tableLines(
    ["OBJECT", "ACTION", "PATH", "WHAT"],
    rows.map((row) => [nameOf(row.ref), row.action, row.file, whatOf(row)]),
  );
  return lines.map((line, index) => {
    const row = rows[index - 1];
    if (!row) return style.strong(line);
    return row.isFault ? style.bad(line) : row.action === "skipped" ? style.weak(line) : line;
  });
}

function whatOf({ changes, written, removed, reason }: PullRow): string | undefined {
  const files = [
    ...(written.length > 0 ? [`${plural(written.length, "file")} written`] : []),
    ...(removed.length > 0 ? [`${plural(removed.length, "file")} removed`] : []),
  ];
  const parts = [...changes.filter((change) => change !== "source"), ...files, ...(reason ? [oneLine(reason)] : [])];
  return parts.length > 0 ? parts.join(", ") : undefined;
}

function plural(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

function countsOf(rows: readonly PullRow[]): Record<PullAction, number> {
  const count = (action: PullAction) => rows.filter((row) => row.action === action).length;
  return Object.fromEntries(ACTIONS.map((action) => [action, count(action)])) as Record<PullAction, number>;
}

function countsText(rows: readonly PullRow[], into: string, isDryRun: boolean): string {
  const counts = countsOf(rows);
  const parts = ACTIONS.filter((action) => counts[action] > 0).map((action) => `${counts[action]} ${action}`);
  const text = parts.length > 0 ? parts.join(", ") : "nothing to pull";
  return `${into}: ${text}${isDryRun ? " (dry run: nothing was written)" : ""}`;
}

function document({ rows, isInterrupted }: PullResult, isDryRun: boolean): object {
  return {
    dry_run: isDryRun,
    interrupted: isInterrupted,
    counts: countsOf(rows),
    objects: rows.map(({ ref, action, file, reason, changes, written, removed, kept }) => ({
      kind: ref.kind,
      name: ref.name,
      action,
      path: file,
      reason,
      changes,
      written,
      removed,
      kept,
    })),
  };
}
