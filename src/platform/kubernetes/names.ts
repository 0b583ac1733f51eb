import {
  CHILD_LABELS,
  childLabels,
  GROUP,
  hashFields,
  MANAGED_BY,
  userNamespaceOf,
  WORKLOAD_KINDS,
  type WorkloadKind,
  type WorkloadRef,
} from "../../apis/index.ts";

const JOB_NAME_MAX = 63;

export const CHILD_ANNOTATIONS = {
  /** Hash of the manifest that was applied last. */
  manifestHash: `${GROUP}/manifest-hash`,
  /** Of the source of the Deployment's image; Kubernetes copies it to the present ReplicaSet. */
  sourceDigest: `${GROUP}/source-digest`,
} as const;

/** Name of the copy of the registry's credentials in every deploy namespace. */
export const REGISTRY_SECRET = "sless-registry";

/** `component` tells the pods that answer calls from those of runs, which may have the same name. */
export type Component = "replica" | "run";

export function labelsOf(workload: WorkloadRef): Record<string, string> {
  return childLabels(workload, componentOf(workload));
}

/**
 * Selects the pods that answer as this name. The kind is not in it: selectors cannot be changed, and a Service that
 * becomes a Function of the same name takes the Deployment over.
 */
export function selectorOf(workload: WorkloadRef): Record<string, string> {
  return {
    [CHILD_LABELS.managedBy]: MANAGED_BY,
    [CHILD_LABELS.name]: workload.name,
    [CHILD_LABELS.component]: componentOf(workload),
  };
}

export function componentOf({ kind }: WorkloadRef): Component {
  return kind === "FunctionJob" ? "run" : "replica";
}

/** The workload that a child belongs to; undefined for what is none of ours. The namespace counts, not what a label says. */
export function workloadOf(child: {
  readonly metadata: { readonly namespace?: string; readonly labels?: Readonly<Record<string, string>> };
}): WorkloadRef | undefined {
  const { namespace: where = "", labels = {} } = child.metadata;
  const namespace = userNamespaceOf(where);
  const kind = labels[CHILD_LABELS.kind];
  const name = labels[CHILD_LABELS.workload];
  if (namespace === undefined || labels[CHILD_LABELS.managedBy] !== MANAGED_BY) return undefined;
  if (!name || !WORKLOAD_KINDS.includes(kind as WorkloadKind)) return undefined;
  return { kind: kind as WorkloadKind, namespace, name };
}

/** `report-3`; a name that would be too long for the labels of its pods ends in a hash instead. */
export function jobNameOf({ name }: WorkloadRef, runID: number): string {
  const plain = `${name}-${runID}`;
  if (plain.length <= JOB_NAME_MAX) return plain;
  const hash = hashFields([plain]).slice(0, 10);
  return `${plain.slice(0, JOB_NAME_MAX - hash.length - 1)}-${hash}`;
}

export const INPUT_SUFFIX = "-input";

/** Name of the Secret that a run reads. */
export function inputNameOf(jobName: string): string {
  return `${jobName}${INPUT_SUFFIX}`;
}
