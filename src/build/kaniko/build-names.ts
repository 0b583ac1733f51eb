import { GROUP, WORKLOAD_KINDS, type WorkloadKind, type WorkloadRef } from "../../apis/index.ts";

export const BUILD_LABELS = {
  managedBy: "app.kubernetes.io/managed-by",
  name: "app.kubernetes.io/name",
  component: "app.kubernetes.io/component",
  namespace: `${GROUP}/namespace`,
  kind: `${GROUP}/kind`,
  workload: `${GROUP}/name`,
} as const;

export const MANAGED_BY = "sless";
const COMPONENT = "build";
/** Selects the Jobs and pods of builds. */
export const BUILDS = `${BUILD_LABELS.managedBy}=${MANAGED_BY},${BUILD_LABELS.component}=${COMPONENT}`;

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

export function buildLabels({ kind, namespace, name }: WorkloadRef): Record<string, string> {
  return {
    [BUILD_LABELS.managedBy]: MANAGED_BY,
    [BUILD_LABELS.name]: name,
    [BUILD_LABELS.component]: COMPONENT,
    [BUILD_LABELS.namespace]: namespace,
    [BUILD_LABELS.kind]: kind,
    [BUILD_LABELS.workload]: name,
  };
}

/** For whom a build runs; undefined for what is none of ours. */
export function builtFor(labels: Readonly<Record<string, string>> = {}): WorkloadRef | undefined {
  const kind = labels[BUILD_LABELS.kind] as WorkloadKind;
  const namespace = labels[BUILD_LABELS.namespace];
  const name = labels[BUILD_LABELS.workload];
  return namespace && name && WORKLOAD_KINDS.includes(kind) ? { kind, namespace, name } : undefined;
}
