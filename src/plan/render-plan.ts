import type { Diagnostic } from "../apis/index.ts";
import type { Plan } from "./action.ts";
import type { PlanWarning } from "./missing-targets.ts";
import { NO_BUILDS, type PlannedBuilds } from "./planned-build.ts";
import { renderJson } from "./render-json.ts";
import { renderMarkdown } from "./render-markdown.ts";
import { renderText } from "./render-text.ts";

export const PLAN_FORMATS = ["text", "json", "markdown"] as const;
export type PlanFormat = (typeof PLAN_FORMATS)[number];

/** What is wrong, and what may not be meant. */
export interface PlanFindings {
  readonly diagnostics: readonly Diagnostic[];
  readonly warnings: readonly PlanWarning[];
}

export interface RenderOptions {
  readonly format: PlanFormat;
  /** Colours for a terminal; of `text` only. */
  readonly color: boolean;
  readonly diagnostics: readonly Diagnostic[];
  readonly warnings?: readonly PlanWarning[];
  /** How the images of what changes come to be, where that was looked at. */
  readonly builds?: PlannedBuilds;
}

/** The plan for people (`text`), programs (`json`) or a pull request (`markdown`); ends with a line break. Pure. */
export function renderPlan(plan: Plan, options: RenderOptions): string {
  const { format, color, diagnostics, warnings = [], builds = NO_BUILDS } = options;
  const found = { diagnostics, warnings };
  switch (format) {
    case "text":
      return renderText(plan, { ...found, builds, color });
    case "json":
      return renderJson(plan, found, builds);
    case "markdown":
      return renderMarkdown(plan, found, builds);
    default:
      throw new Error(`unknown format ${format satisfies never}`);
  }
}
