import {
  CHILD_LABELS,
  childLabels,
  GROUP,
  MANAGED_SELECTOR,
  WORKLOAD_KINDS,
  type WorkloadKind,
  type WorkloadRef,
} from "../../apis/index.ts";

const COMPONENT = "build";
/** Selects the Jobs and pods of builds. */
export const BUILDS = `${MANAGED_SELECTOR},${CHILD_LABELS.component}=${COMPONENT}`;

export const BUILD_ANNOTATIONS = {
  /** All 64 digits. */
  key: `${GROUP}/build-key`,
  /** Of the build's files in the object store. */
  context: `${GROUP}/build-context`,
  /** When it was begun: what Kubernetes tells of times is whole seconds. */
  startedAt: `${GROUP}/build-started-at`,
} as const;

/** Containers of a build's pod, in the order in which they run. */
export const CONTAINERS = ["fetch", "build", "push"] as const;
export type BuildContainer = (typeof CONTAINERS)[number];

/** So many digits of a key tell builds apart; names of pods have room for no more than 63 with their ending. */
const KEY_DIGITS = 40;

/** Equal keys are one Job, whoever begins it. */
export function buildJobName(key: string): string {
  return `build-${key.slice(0, KEY_DIGITS)}`;
}

/** Object store key of a build's files. */
export function contextKeyOf({ namespace, name }: WorkloadRef, key: string): string {
  return `contexts/${namespace}/${name}/${key}.tar.gz`;
}

export function buildLabels(workload: WorkloadRef): Record<string, string> {
  return childLabels(workload, COMPONENT);
}

/** For whom a build runs; undefined for what is none of ours. */
export function builtFor(labels: Readonly<Record<string, string>> = {}): WorkloadRef | undefined {
  const kind = labels[CHILD_LABELS.kind] as WorkloadKind;
  const namespace = labels[CHILD_LABELS.namespace];
  const name = labels[CHILD_LABELS.workload];
  return namespace && name && WORKLOAD_KINDS.includes(kind) ? { kind, namespace, name } : undefined;
}
