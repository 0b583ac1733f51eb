import { type Diagnostic, refText } from "../apis/index.ts";
import {
  type Action,
  type ActionKind,
  type ChangeClass,
  type FieldChange,
  type Plan,
  placeOf,
  refOfAction,
} from "./action.ts";
import type { PlanWarning } from "./missing-targets.ts";
import { type PlanCounts, planCounts } from "./plan-counts.ts";
import { NO_BUILDS, type PlannedBuild, type PlannedBuilds } from "./planned-build.ts";
import type { PlanFindings } from "./render-plan.ts";

/** What `sless plan -o json` prints. Fields are only ever added. */
export interface PlanDocument {
  readonly revision: string;
  readonly counts: PlanCounts;
  /** Every object, unchanged ones too, in the order of application. */
  readonly actions: readonly PlanDocumentAction[];
  readonly diagnostics: readonly Diagnostic[];
  readonly warnings: readonly PlanWarning[];
}

export interface PlanDocumentAction {
  readonly action: ActionKind;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** Of the manifest, below the repository's root; of what is gone where it stood. */
  readonly file?: string;
  readonly line?: number;
  /** Why it is held, refused or left alone. */
  readonly because?: string;
  /** Of updates and adoptions. */
  readonly classes?: readonly ChangeClass[];
  /** `before` or `after` is missing where the field is. */
  readonly changes?: readonly FieldChange[];
  /** Files of the source that changed. */
  readonly files?: readonly string[];
  /** How the image of what changes comes to be. */
  readonly build?: PlannedBuild;
}

/** A plan as data; unset values are left out. */
export function planDocument(
  plan: Plan,
  { diagnostics, warnings }: PlanFindings,
  builds: PlannedBuilds = NO_BUILDS,
): PlanDocument {
  return {
    revision: plan.revision,
    counts: planCounts(plan),
    actions: plan.actions.map((action) => toDocumentAction(action, builds.get(refText(refOfAction(action))))),
    diagnostics,
    warnings,
  };
}

export function renderJson(plan: Plan, found: PlanFindings, builds: PlannedBuilds): string {
  return `${JSON.stringify(planDocument(plan, found, builds), null, 2)}\n`;
}

function toDocumentAction(action: Action, build: PlannedBuild | undefined): PlanDocumentAction {
  const { kind, namespace, name } = refOfAction(action);
  const { file, line } = placeOf(action);
  return {
    action: action.kind,
    kind,
    namespace,
    name,
    ...(file !== undefined && { file }),
    ...(line !== undefined && { line }),
    ...("because" in action && { because: action.because }),
    ...("classes" in action && { classes: action.classes }),
    ...("changes" in action && { changes: action.changes }),
    ...("files" in action && { files: action.files }),
    ...(build && { build }),
  };
}
