import type { Diagnostic } from "../apis/index.ts";
import {
  diagnosticLine,
  PLAN_FORMATS,
  type Plan,
  type PlannedBuilds,
  type PlanWarning,
  planDocument,
  refOfAction,
  renderPlan,
} from "../plan/index.ts";
import { diagnosticLines } from "./describe.ts";
import { type Io, say } from "./io.ts";
import { nameOf } from "./kind-names.ts";
import { serialized } from "./output.ts";
import type { Style } from "./style.ts";
import type { OptionRow } from "./verb.ts";

/** Forms of `-o` of a plan. */
export const PLAN_OUTPUTS = [...PLAN_FORMATS, "yaml", "name"] as const;
export type PlanOutput = (typeof PLAN_OUTPUTS)[number];

export const PLAN_OPTION: OptionRow = {
  flags: "-o, --output <form>",
  description: "form of the plan",
  choices: PLAN_OUTPUTS,
  fallback: "text",
};

export interface ShownPlan {
  readonly plan: Plan;
  /** Of the manifests, of what the plan refuses, and of what cannot be built. */
  readonly diagnostics: readonly Diagnostic[];
  readonly warnings: readonly PlanWarning[];
  readonly builds: PlannedBuilds;
}

/** Writes a plan with its builds and faults; `name` has what does not stay as it is, its faults and warnings go to stderr. */
export async function writePlan(
  { plan, diagnostics, warnings, builds }: ShownPlan,
  output: PlanOutput,
  { io, style }: { readonly io: Io; readonly style: Style },
): Promise<void> {
  if (output === "name") {
    for (const action of plan.actions) if (action.kind !== "unchanged") say(io.stdout, nameOf(refOfAction(action)));
    for (const line of diagnosticLines(diagnostics, diagnostics.length)) say(io.stderr, line);
    for (const warning of warnings) say(io.stderr, `warning: ${diagnosticLine(warning)}`);
  } else if (output === "yaml")
    await io.stdout.write(serialized(planDocument(plan, { diagnostics, warnings }, builds), "yaml"));
  else await io.stdout.write(renderPlan(plan, { format: output, color: style.colored, diagnostics, warnings, builds }));
}
