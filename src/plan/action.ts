import type { AnyObject } from "../apis/index.ts";
import type { DesiredObject } from "./desired-state.ts";

/** What of a workload changes; told apart because it decides what is built. */
export type ChangeClass = "code" | "dependencies" | "configuration";

export interface FieldChange {
  /** `spec.memoryMB`, `spec.env.GREETING`, `metadata.labels.team`, `source`. Values of secrets never appear in objects. */
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** One step of a plan. Only create, update, adopt and delete have a way to the store. */
export type Action =
  | { readonly kind: "create"; readonly desired: DesiredObject }
  | {
      readonly kind: "update";
      readonly desired: DesiredObject;
      readonly live: AnyObject;
      readonly changes: readonly FieldChange[];
      readonly classes: readonly ChangeClass[];
    }
  /** Takes over an object that nobody owns. */
  | {
      readonly kind: "adopt";
      readonly desired: DesiredObject;
      readonly live: AnyObject;
      readonly changes: readonly FieldChange[];
      readonly classes: readonly ChangeClass[];
    }
  | { readonly kind: "delete"; readonly live: AnyObject; readonly allowedBy: "guard" | "approval" }
  /** Wanted deleted, but not allowed now. */
  | { readonly kind: "hold"; readonly live: AnyObject; readonly because: "guard" | "diagnostics" }
  | {
      readonly kind: "refuse";
      readonly desired: DesiredObject;
      readonly live: AnyObject;
      readonly because: "owned elsewhere" | "not adopted";
      readonly changes: readonly FieldChange[];
    }
  /** Differs or is gone from the repository, and is left alone on purpose. */
  | {
      readonly kind: "leave";
      readonly live: AnyObject;
      readonly because: "prune off" | "prune disabled" | "reconcile disabled" | "blocked";
    }
  | { readonly kind: "unchanged"; readonly desired: DesiredObject; readonly live: AnyObject };

export interface Plan {
  readonly revision: string;
  /** In the order of application: workloads before their triggers; deletions last, triggers first. */
  readonly actions: readonly Action[];
}
