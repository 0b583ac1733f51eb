import { type Diagnostic, refText } from "../apis/index.ts";
import { type Action, type Plan, refOfAction } from "./action.ts";
import { detailOf, visible } from "./action-text.ts";
import { planSummary } from "./plan-summary.ts";
import { buildText, type PlannedBuilds } from "./planned-build.ts";
import type { PlanFindings } from "./render-plan.ts";
import { diagnosticLine, placeText } from "./render-text.ts";

/** Forges cut comments at 64 KiB; some room is left for what is put around. */
const BYTES_MAX = 60 * 1024;
/** Faults come first, but leave room for the table. */
const FAULT_BYTES_MAX = BYTES_MAX / 2;
const WARNING_BYTES_MAX = BYTES_MAX / 8;
const NOTE_BYTES = 100;

/**
 * A comment for a pull request: the sum, the faults and warnings, a table of what changes and what that builds. At most 60 KiB; a note
 * tells what was left out.
 */
export function renderMarkdown(plan: Plan, found: PlanFindings, builds: PlannedBuilds): string {
  const { diagnostics, warnings } = found;
  const head = `### sless plan\n\n${planSummary(plan, diagnostics.length, builds)}\n`;
  const ofFaults = section("\n**Faults**\n\n", diagnostics.map(faultRow), FAULT_BYTES_MAX, "faults");
  const faults = ofFaults + section("\n**Warnings**\n\n", warnings.map(faultRow), WARNING_BYTES_MAX, "warnings");
  const rows = plan.actions.filter(({ kind }) => kind !== "unchanged").map((action) => actionRow(action, builds));
  const left = BYTES_MAX - Buffer.byteLength(head + faults);
  const columns = ["", " Object ", " Change ", ...(builds.size > 0 ? [" Build "] : []), " File "];
  const title = `\n| ${columns.join("|")}|\n|${columns.map(() => "---|").join("")}\n`;
  const table = section(title, rows, left, "objects");
  return head + faults + table;
}

function section(title: string, rows: readonly string[], bytesMax: number, what: string): string {
  if (rows.length === 0) return "";
  let text = title;
  let bytes = Buffer.byteLength(title) + NOTE_BYTES;
  for (const [index, row] of rows.entries()) {
    bytes += Buffer.byteLength(row);
    if (bytes > bytesMax) return `${text}\n… and ${rows.length - index} more ${what}; \`sless plan\` shows them all.\n`;
    text += row;
  }
  return text;
}

function actionRow(action: Action, builds: PlannedBuilds): string {
  const ref = refText(refOfAction(action));
  const build = builds.size > 0 ? [code(buildText(builds.get(ref)))] : [];
  const cells = [action.kind, code(ref), code(detailOf(action)), ...build, code(placeText(action))];
  return `| ${cells.join(" | ")} |\n`;
}

function faultRow(diagnostic: Omit<Diagnostic, "code">): string {
  return `- ${code(diagnosticLine(diagnostic))}\n`;
}

const CELL_MAX = 1000;

/**
 * A code span: in it no forge looks for links, mentions or HTML. Its fence is longer than any run of backticks
 * inside; a pipe is escaped, for in a table it would end the cell.
 */
function code(text: string): string {
  if (text === "") return "";
  const inner = visible(text.length > CELL_MAX ? `${text.slice(0, CELL_MAX)}…` : text).replaceAll("|", "\\|");
  const longest = Math.max(0, ...[...inner.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  const pad = inner.startsWith("`") || inner.endsWith("`") || inner.startsWith(" ") ? " " : "";
  return `${fence}${pad}${inner}${pad}${fence}`;
}
