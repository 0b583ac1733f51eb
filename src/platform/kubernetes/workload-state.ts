import type { WorkloadRef } from "../../apis/index.ts";
import { SlessError } from "../../errors/index.ts";
import type { WorkloadState } from "../platform.ts";
import type { ClusterView } from "./cluster-view.ts";
import type { LiveDeployment, LiveEndpoints, LivePod, LiveReplicaSet } from "./live-objects.ts";
import { CHILD_ANNOTATIONS } from "./names.ts";
import {
  evicted,
  type Failure,
  hasLeft,
  isStuckOnNode,
  notStarting,
  podFailure,
  unschedulable,
  unscheduledSince,
} from "./pod-failure.ts";

/** Children of one workload at one moment. */
export interface SeenWorkload {
  readonly deployment: LiveDeployment;
  readonly replicaSets: readonly LiveReplicaSet[];
  readonly pods: readonly LivePod[];
  readonly endpoints: LiveEndpoints["ready"];
}

export interface StateOptions {
  readonly now: Date;
  /** How long a pod may wait for a node before that is a failure. */
  readonly unschedulableSec: number;
}

export interface JudgedState {
  readonly state: WorkloadState;
  /** Milliseconds after which it may be another one although nothing changed. */
  readonly againInMs?: number;
}

export function seenWorkload(view: ClusterView, workload: WorkloadRef): SeenWorkload | undefined {
  const deployment = view.deployment(workload);
  if (!deployment) return undefined;
  const isOwn = ({ metadata }: LiveReplicaSet) =>
    metadata.ownerReferences?.some(({ uid }) => uid === deployment.metadata.uid) === true;
  return {
    deployment,
    replicaSets: view.replicaSets(workload).filter(isOwn),
    pods: view.pods(workload),
    endpoints: view.endpoints(workload),
  };
}

/** What the children of a workload mean. Pure. */
export function workloadState(seen: SeenWorkload, options: StateOptions): JudgedState {
  const { deployment, endpoints } = seen;
  const present = presentOf(seen);
  const revisions = servingRevisions(seen);
  const older = revisions.filter((revision) => revision !== present);
  const image = older[0] ?? (revisions.length > 0 ? present : undefined);
  const current = isRolledOut(seen.deployment, endpoints.length) && older.length === 0;
  const { failure, againInMs } = current ? {} : failureOf(seen, present, options);
  const state: WorkloadState = {
    serving: endpoints.length,
    ...(image ? { servingImageRef: image.image } : {}),
    ...(image ? digestOf(image, deployment, present) : {}),
    current,
    ...(failure ? { failure } : {}),
  };
  return { state, ...(againInMs === undefined ? {} : { againInMs }) };
}

/** The ReplicaSet of the newest revision that Kubernetes has made so far. */
function presentOf({ replicaSets }: SeenWorkload): LiveReplicaSet | undefined {
  let newest: LiveReplicaSet | undefined;
  for (const replicaSet of replicaSets) if (!newest || replicaSet.revision > newest.revision) newest = replicaSet;
  return newest;
}

/** Of the replicas that serve, newest first. */
function servingRevisions({ replicaSets, pods, endpoints }: SeenWorkload): LiveReplicaSet[] {
  const serving = new Set(endpoints.map(({ replica }) => replica));
  const owners = new Set<string>();
  for (const { metadata } of pods) if (serving.has(metadata.name)) owners.add(metadata.ownerReferences?.[0]?.uid ?? "");
  return replicaSets.filter(({ metadata }) => owners.has(metadata.uid ?? "")).sort((a, b) => b.revision - a.revision);
}

/** Kubernetes copies the digest to the present revision a moment later than we set it. */
function digestOf(
  { metadata }: LiveReplicaSet,
  deployment: LiveDeployment,
  present: LiveReplicaSet | undefined,
): Pick<WorkloadState, "servingSourceDigest"> {
  const isPresent = metadata.uid === present?.metadata.uid && isObserved(deployment);
  const { annotations } = isPresent ? deployment.metadata : metadata;
  const digest = annotations?.[CHILD_ANNOTATIONS.sourceDigest];
  return digest ? { servingSourceDigest: digest } : {};
}

/** Kubernetes has acted on what was written last. */
function isObserved({ metadata, status }: LiveDeployment): boolean {
  return (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);
}

function isRolledOut(deployment: LiveDeployment, serving: number): boolean {
  const wanted = deployment.spec.replicas ?? 1;
  const { replicas = 0, updatedReplicas = 0, readyReplicas = 0 } = deployment.status ?? {};
  const counts = [replicas, updatedReplicas, readyReplicas, serving];
  return isObserved(deployment) && counts.every((count) => count === wanted);
}

function failureOf(
  seen: SeenWorkload,
  present: LiveReplicaSet | undefined,
  { now, unschedulableSec }: StateOptions,
): { failure?: Failure; againInMs?: number } {
  if (!isObserved(seen.deployment) || (seen.deployment.spec.replicas ?? 1) === 0) return {};
  const pods = seen.pods
    .filter(
      ({ metadata }) => metadata.ownerReferences?.[0]?.uid === present?.metadata.uid && !metadata.deletionTimestamp,
    )
    .sort((a, b) => (ageKey(a) < ageKey(b) ? -1 : 1));
  const alive = pods.filter((pod) => !hasLeft(pod));
  const told = firstOf(alive, (pod) => podFailure(pod, seen.deployment.metadata.name));
  if (told) return { failure: told };
  const waiting = alive.find((pod) => unscheduledSince(pod) !== undefined);
  const untilMs = waiting ? Date.parse(unscheduledSince(waiting)!) + unschedulableSec * 1000 : 0;
  if (waiting && untilMs <= now.getTime()) return { failure: unschedulable(waiting) };
  const failure = deploymentFailure(seen.deployment, alive) ?? leftFailure(pods);
  return { ...(failure ? { failure } : {}), ...(waiting ? { againInMs: untilMs - now.getTime() } : {}) };
}

/** The order in which they were made; of one second by their names. */
function ageKey({ metadata: { creationTimestamp = "", name } }: LivePod): string {
  return `${creationTimestamp} ${name}`;
}

function firstOf<T, R>(items: readonly T[], of: (item: T) => R | undefined): R | undefined {
  for (const item of items) {
    const found = of(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Pods that left lie about for long; once another took their place, they say nothing of now. */
function leftFailure(pods: readonly LivePod[]): Failure | undefined {
  const last = pods.findLast(hasLeft);
  return last && !pods.some(({ container }) => container.ready) ? evicted(last) : undefined;
}

/** Pods that the API server did not even take, and a rollout that does not get on. */
function deploymentFailure({ metadata, status }: LiveDeployment, pods: readonly LivePod[]): Failure | undefined {
  const conditions = status?.conditions ?? [];
  const refused = conditions.find(({ type, status: holds }) => type === "ReplicaFailure" && holds === "True");
  if (refused) return podRefused(refused.message ?? refused.reason ?? "");
  const stuck = conditions.find(({ type, status: holds }) => type === "Progressing" && holds === "False");
  if (!stuck) return undefined;
  if (pods.some(isStuckOnNode)) return notStarting();
  const { message } = new SlessError("start_failed", {
    cause: stuck.message ?? "it is not ready",
    name: metadata.name,
  });
  return { reason: "StartFailed", message };
}

/** Names of pods are random: they are left out, so that the text stays the same from try to try. */
function podRefused(text: string): Failure {
  const cause = text.replace(/^pods "[^"]*" is forbidden: /, "");
  if (/exceeded quota/.test(cause))
    return { reason: "QuotaExceeded", message: new SlessError("quota_exceeded", { cause }).message };
  return { reason: "PodRefused", message: new SlessError("child_refused", { kind: "pod", cause }).message };
}
