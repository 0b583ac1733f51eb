import type { Diagnostic } from "../apis/index.ts";
import type { Plan } from "./action.ts";
import { renderJson } from "./render-json.ts";
import { renderMarkdown } from "./render-markdown.ts";
import { renderText } from "./render-text.ts";

export const PLAN_FORMATS = ["text", "json", "markdown"] as const;
export type PlanFormat = (typeof PLAN_FORMATS)[number];

export interface RenderOptions {
  readonly format: PlanFormat;
  /** Colours for a terminal; of `text` only. */
  readonly color: boolean;
  readonly diagnostics: readonly Diagnostic[];
}

/** The plan for people (`text`), programs (`json`) or a pull request (`markdown`); ends with a line break. Pure. */
export function renderPlan(plan: Plan, { format, color, diagnostics }: RenderOptions): string {
  switch (format) {
    case "text":
      return renderText(plan, diagnostics, color);
    case "json":
      return renderJson(plan, diagnostics);
    case "markdown":
      return renderMarkdown(plan, diagnostics);
    default:
      throw new Error(`unknown format ${format satisfies never}`);
  }
}
