import { GROUP } from "./group.ts";
import type { WorkloadRef } from "./kinds.ts";

/** Labels of what sless makes on a cluster for an object. */
export const CHILD_LABELS = {
  managedBy: "app.kubernetes.io/managed-by",
  name: "app.kubernetes.io/name",
  component: "app.kubernetes.io/component",
  /** The object's own namespace, not that of the child. */
  namespace: `${GROUP}/namespace`,
  kind: `${GROUP}/kind`,
  workload: `${GROUP}/name`,
} as const;

export const MANAGED_BY = "sless";
/** Selects all that sless made. */
export const MANAGED_SELECTOR = `${CHILD_LABELS.managedBy}=${MANAGED_BY}`;

/** @param component what it is for the workload: `replica`, `run`, `build` */
export function childLabels({ kind, namespace, name }: WorkloadRef, component: string): Record<string, string> {
  return {
    [CHILD_LABELS.managedBy]: MANAGED_BY,
    [CHILD_LABELS.name]: name,
    [CHILD_LABELS.component]: component,
    [CHILD_LABELS.namespace]: namespace,
    [CHILD_LABELS.kind]: kind,
    [CHILD_LABELS.workload]: name,
  };
}
