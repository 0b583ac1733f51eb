import { type Diagnostic, refText } from "../apis/index.ts";
import { type Action, type ActionKind, type Plan, placeOf, refOfAction } from "./action.ts";
import { detailOf, visible } from "./action-text.ts";
import { planSummary } from "./plan-summary.ts";
import { buildText, type PlannedBuilds } from "./planned-build.ts";
import type { RenderOptions } from "./render-plan.ts";

/** The sign at the start of a line, and its colour on a terminal (SGR number). */
const SIGNS: Record<ActionKind, { sign: string; color: number }> = {
  create: { sign: "+", color: 32 },
  update: { sign: "~", color: 33 },
  adopt: { sign: "~", color: 33 },
  delete: { sign: "-", color: 31 },
  wait: { sign: "!", color: 35 },
  hold: { sign: "!", color: 35 },
  refuse: { sign: "!", color: 35 },
  leave: { sign: "=", color: 36 },
  unchanged: { sign: " ", color: 0 },
};
/** Kinds whose name is not told by the sign alone. */
const NAMED: Partial<Record<ActionKind, string>> = {
  adopt: "adopt: ",
  wait: "waits ",
  hold: "held: ",
  refuse: "refused: ",
  leave: "left alone: ",
};

/** One line per object that is not unchanged, then the faults and warnings, then the sum. */
export function renderText(plan: Plan, options: Required<Omit<RenderOptions, "format">>): string {
  const { diagnostics, warnings, builds, color } = options;
  const paint = (text: string, sgr: number) => (color && sgr > 0 ? `\x1b[${sgr}m${text}\x1b[0m` : text);
  const lines = plan.actions
    .filter(({ kind }) => kind !== "unchanged")
    .map((action) => paint(lineOf(action, builds), SIGNS[action.kind].color));
  for (const diagnostic of diagnostics) lines.push(paint(diagnosticLine(diagnostic), SIGNS.delete.color));
  for (const warning of warnings) lines.push(paint(`warning: ${diagnosticLine(warning)}`, SIGNS.update.color));
  return `${[...lines, planSummary(plan, diagnostics.length, builds)].join("\n")}\n`;
}

function lineOf(action: Action, builds: PlannedBuilds): string {
  const place = placeText(action);
  const detail = `${NAMED[action.kind] ?? ""}${detailOf(action)}`;
  const ref = refText(refOfAction(action));
  return [`${SIGNS[action.kind].sign} ${ref}`, detail, visible(buildText(builds.get(ref))), place && `(${place})`]
    .filter((text) => text !== "")
    .join("   ");
}

/** `functions/hello/function.yaml:1`; empty when not known. */
export function placeText(action: Action): string {
  const { file, line } = placeOf(action);
  return visible([file, line].filter((part) => part !== undefined).join(":"));
}

/** `functions/hello/function.yaml:3:5: spec.memoryMb: unknown field; did you mean memoryMB?`. */
export function diagnosticLine({ file, line, column, message }: Omit<Diagnostic, "code">): string {
  const place = [file, line, column].filter((part) => part !== undefined).join(":");
  return `${visible(place)}: ${visible(message)}`;
}
