import { ANNOTATIONS, type AnyObject, type ObjectRef, refOf } from "../apis/index.ts";
import type { DesiredObject } from "./desired-state.ts";

/**
 * What of a workload changes; told apart because it decides what is built. `dependencies`: the dependency files
 * changed; `code`: other files of the source did. Against a live object, whose files are not known, `dependencies`
 * may stand for both.
 */
export type ChangeClass = "code" | "dependencies" | "configuration";

export interface FieldChange {
  /**
   * `spec.memoryMB`, `spec.env.GREETING`, `metadata.labels.team`; `source` (values are source digests) and `path`
   * (of the manifest). Values of secrets never appear in objects.
   */
  readonly path: string;
  /** undefined = not there. */
  readonly before: unknown;
  readonly after: unknown;
}

/** What differs; empty when only fields go that the manifest no longer names and whose present value is not known to be ours. */
interface Difference {
  readonly changes: readonly FieldChange[];
  /** In the order code, dependencies, configuration; empty when only the manifest moved. */
  readonly classes: readonly ChangeClass[];
  /** Files of the source that changed; only told between two revisions (a live object knows its digest alone). */
  readonly files?: readonly string[];
}

/** One step of a plan. Only create, update, adopt and delete have a way to the store. */
export type Action =
  | { readonly kind: "create"; readonly desired: DesiredObject }
  | ({ readonly kind: "update"; readonly desired: DesiredObject; readonly live: AnyObject } & Difference)
  /** Takes over an object that nobody owns. */
  | ({ readonly kind: "adopt"; readonly desired: DesiredObject; readonly live: AnyObject } & Difference)
  | { readonly kind: "delete"; readonly live: AnyObject; readonly allowedBy: "guard" | "approval" }
  /**
   * Wanted deleted, but not allowed now. Of "guard" the store must carry the label `LABELS.deletion` = held before
   * anything else of the plan is written: the mark keeps it held when the repository has grown at the next look.
   */
  | { readonly kind: "hold"; readonly live: AnyObject; readonly because: "guard" | "diagnostics" }
  /** `live` is what stands in the way: of "name taken" the Service or Function that has the name. */
  | {
      readonly kind: "refuse";
      readonly desired: DesiredObject;
      readonly live: AnyObject;
      readonly because: "owned elsewhere" | "not adopted" | "name taken";
      readonly changes: readonly FieldChange[];
    }
  /** Differs from the repository, is not there or is gone from it, and is left alone on purpose. */
  | {
      readonly kind: "leave";
      readonly ref: ObjectRef;
      readonly live?: AnyObject;
      readonly because: "prune off" | "prune disabled" | "reconcile disabled" | "blocked";
    }
  /**
   * Created by a later sync, when `live` is gone: the same object (or one that has its name, as a Service that
   * becomes a Function) is being deleted, or is deleted by this plan. The revision is not applied before.
   */
  | { readonly kind: "wait"; readonly desired: DesiredObject; readonly live: AnyObject }
  | { readonly kind: "unchanged"; readonly desired: DesiredObject; readonly live: AnyObject };

export type ActionKind = Action["kind"];

export interface Plan {
  readonly revision: string;
  /** In the order of application: Functions and Services, jobs, triggers; then what goes, in the reverse order. */
  readonly actions: readonly Action[];
  /** Live objects marked as held or approved for deletion that the repository wants (again): their marks are void. */
  readonly release: readonly AnyObject[];
}

/** The object that an action is about. */
export function refOfAction(action: Action): ObjectRef {
  if (action.kind === "leave") return action.ref;
  return refOf("desired" in action ? action.desired.intent : action.live);
}

/** Where the manifest of an action's object stands; of what is gone the file where it stood, as far as known. */
export function placeOf(action: Action): { file?: string; line?: number } {
  if ("desired" in action) return { file: action.desired.file, line: action.desired.line };
  const file = action.live?.metadata.annotations?.[ANNOTATIONS.path];
  return file === undefined ? {} : { file };
}

/** The store is written by this action. */
export function isWriting(
  action: Action,
): action is Extract<Action, { kind: "create" | "update" | "adopt" | "delete" }> {
  return action.kind === "create" || action.kind === "update" || action.kind === "adopt" || action.kind === "delete";
}
