import type { ApiMeta, ApiObject } from "../../kubernetes/index.ts";
import { BUILD_ANNOTATIONS, type BuildContainer, CONTAINERS } from "./build-names.ts";

/** A build's Job as it is, the part that is kept in memory. */
export interface LiveJob extends ApiObject {
  readonly deadlineSec: number;
  readonly startedAt: string;
  readonly endedAt: string | undefined;
  readonly outcome: "complete" | "failed" | undefined;
  /** `DeadlineExceeded`, `BackoffLimitExceeded`. */
  readonly reason: string;
}

/** Its pod. */
export interface LivePod extends ApiObject {
  readonly phase: string;
  readonly reason: string;
  readonly message: string;
  readonly conditions: readonly LiveCondition[];
  readonly containers: Readonly<Partial<Record<BuildContainer, LiveContainer>>>;
}

export interface LiveCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
}

export interface LiveContainer {
  readonly image: string;
  readonly waiting?: { readonly reason?: string; readonly message?: string };
  readonly running?: object;
  readonly terminated?: Terminated;
}

export interface Terminated {
  readonly exitCode: number;
  readonly signal?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly finishedAt?: string;
}

interface RawJob extends ApiObject {
  spec?: { activeDeadlineSeconds?: number };
  status?: { startTime?: string; completionTime?: string; conditions?: LiveCondition[] };
}

export function reduceJob(object: LiveJob): LiveJob {
  const { metadata, spec = {}, status = {} } = object as unknown as RawJob;
  const ends = ["Complete", "Failed"];
  const end = status.conditions?.find(({ type, status: holds }) => ends.includes(type) && holds === "True");
  const began = metadata.annotations?.[BUILD_ANNOTATIONS.startedAt];
  return {
    metadata: reduceMeta(metadata),
    deadlineSec: spec.activeDeadlineSeconds ?? 0,
    startedAt: began ?? metadata.creationTimestamp ?? "",
    endedAt: end && (status.completionTime ?? end.lastTransitionTime),
    outcome: end && (end.type === "Complete" ? "complete" : "failed"),
    reason: end?.reason ?? "",
  };
}

interface RawStatus {
  name: string;
  image?: string;
  state?: Omit<LiveContainer, "image">;
}

interface RawPod extends ApiObject {
  spec?: { containers?: RawStatus[]; initContainers?: RawStatus[] };
  status?: {
    phase?: string;
    reason?: string;
    message?: string;
    conditions?: LiveCondition[];
    containerStatuses?: RawStatus[];
    initContainerStatuses?: RawStatus[];
  };
}

export function reducePod(object: LivePod): LivePod {
  const { metadata, spec = {}, status = {} } = object as unknown as RawPod;
  const declared = [...(spec.initContainers ?? []), ...(spec.containers ?? [])];
  const statuses = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
  const containers = declared.flatMap(({ name, image = "" }) => {
    if (!CONTAINERS.includes(name as BuildContainer)) return [];
    const { state = {} } = statuses.find((one) => one.name === name) ?? {};
    return [[name, { image, ...state }] as const];
  });
  const { phase = "", reason = "", message = "", conditions = [] } = status;
  return {
    metadata: reduceMeta(metadata),
    phase,
    reason,
    message,
    conditions,
    containers: Object.fromEntries(containers),
  };
}

const KEPT_ANNOTATIONS: readonly string[] = Object.values(BUILD_ANNOTATIONS);

function reduceMeta(meta: ApiMeta): ApiMeta {
  const { name, namespace, uid, resourceVersion, creationTimestamp, deletionTimestamp, labels } = meta;
  const kept = Object.entries(meta.annotations ?? {}).filter(([key]) => KEPT_ANNOTATIONS.includes(key));
  return {
    name,
    annotations: Object.fromEntries(kept),
    ...(namespace === undefined ? {} : { namespace }),
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
    ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    ...(labels === undefined ? {} : { labels }),
    ...(meta.ownerReferences === undefined ? {} : { ownerReferences: meta.ownerReferences }),
  };
}
