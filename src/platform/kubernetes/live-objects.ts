import type { ApiMeta, ApiObject } from "../../kubernetes/index.ts";
import { hasForeignFields, type ManagedFields } from "./foreign-fields.ts";
import { CHILD_ANNOTATIONS } from "./names.ts";

/** A child as it is, the part that is kept in memory. */
export interface LiveChild extends ApiObject {
  /** Somebody else set fields that sless did not. */
  isForeign?: boolean;
}

/** A deploy namespace, as far as it says how its end gets on. */
export interface LiveNamespace extends ApiObject {
  spec?: { finalizers?: string[] };
  status?: { conditions?: LiveCondition[] };
}

export interface LiveDeployment extends LiveChild {
  spec: { replicas?: number; template?: { spec?: { containers?: { image?: string }[] } } };
  status?: {
    observedGeneration?: number;
    replicas?: number;
    updatedReplicas?: number;
    readyReplicas?: number;
    conditions?: LiveCondition[];
  };
}

export interface LiveCondition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
}

export interface LiveReplicaSet extends ApiObject {
  image: string;
  revision: number;
  /** It has pods, or shall have some. */
  isUsed: boolean;
  /** Its pods read their environment from it. */
  secret?: string;
}

export interface LivePod extends ApiObject {
  image: string;
  /** Of the container's limit, `128Mi`. */
  memory: string;
  phase: string;
  reason: string;
  message: string;
  conditions: LiveCondition[];
  container: ContainerStatus;
}

/** Of the one container of a pod. */
export interface ContainerStatus {
  ready?: boolean;
  restartCount?: number;
  state?: ContainerState;
  lastState?: ContainerState;
}

export interface ContainerState {
  waiting?: { reason?: string; message?: string };
  running?: { startedAt?: string };
  terminated?: Terminated;
}

export interface Terminated {
  exitCode: number;
  signal?: number;
  reason?: string;
  message?: string;
  finishedAt?: string;
}

export interface LiveEndpoints extends ApiObject {
  /** Replicas that take calls. */
  ready: { readonly address: string; readonly replica: string }[];
}

export interface LiveJob extends LiveChild {
  status: {
    startTime?: string;
    completionTime?: string;
    conditions?: LiveCondition[];
  };
}

type Fields = Record<string, unknown>;
type Whole = ApiObject & {
  metadata: ApiMeta & { managedFields?: ManagedFields[] };
  spec?: Fields;
  status?: Fields;
};

const REVISION = "deployment.kubernetes.io/revision";

/** What is kept of a Deployment or Service: everything that may have been edited. */
export function reduceChild<T extends LiveChild>(object: T): T {
  const { metadata, ...rest } = object as T & Whole;
  return {
    ...rest,
    metadata: reduceMeta(metadata),
    isForeign: hasForeignFields(metadata.managedFields),
  } as unknown as T;
}

export function reduceNamespace({ metadata, spec, status }: LiveNamespace): LiveNamespace {
  return { metadata: reduceMeta(metadata), ...(metadata.deletionTimestamp ? { spec, status } : {}) };
}

export function reduceReplicaSet(object: LiveReplicaSet): LiveReplicaSet {
  const { metadata, spec = {}, status = {} } = object as Whole & LiveReplicaSet;
  const { containers = [] } = ((spec.template as Fields | undefined)?.spec ?? {}) as {
    containers?: { image: string; env?: { valueFrom?: { secretKeyRef?: { name: string } } }[] }[];
  };
  const [container] = containers;
  const secret = container?.env?.find(({ valueFrom }) => valueFrom?.secretKeyRef)?.valueFrom?.secretKeyRef?.name;
  return {
    metadata: reduceMeta(metadata),
    image: container?.image ?? "",
    revision: Number(metadata.annotations?.[REVISION] ?? 0),
    isUsed: spec.replicas !== 0 || ((status.replicas as number | undefined) ?? 0) > 0,
    ...(secret === undefined ? {} : { secret }),
  };
}

export function reducePod(object: LivePod): LivePod {
  const { metadata, spec = {}, status = {} } = object as unknown as Whole;
  const [container] = (spec.containers ?? []) as { image?: string; resources?: { limits?: Record<string, string> } }[];
  const {
    phase = "",
    reason = "",
    message = "",
    conditions = [],
    containerStatuses = [],
  } = status as Partial<LivePod> & {
    containerStatuses?: ContainerStatus[];
  };
  const { ready, restartCount, state, lastState } = containerStatuses[0] ?? ({} as ContainerStatus);
  return {
    metadata: reduceMeta(metadata),
    image: container?.image ?? "",
    memory: container?.resources?.limits?.memory ?? "",
    phase,
    reason,
    message,
    conditions: conditions.filter(({ status: holds }) => holds === "False" || holds === "True"),
    container: withoutUndefined({ ready, restartCount, state, lastState }),
  };
}

interface EndpointSlice {
  endpoints?: {
    addresses: string[];
    conditions?: { ready?: boolean; terminating?: boolean };
    targetRef?: { name?: string };
  }[];
}

export function reduceEndpoints(object: LiveEndpoints): LiveEndpoints {
  const { endpoints } = object as unknown as EndpointSlice;
  const ready = (endpoints ?? [])
    .filter(({ conditions }) => conditions?.ready !== false && conditions?.terminating !== true)
    .flatMap(({ addresses, targetRef }) => {
      const [address] = addresses;
      return address === undefined ? [] : [{ address, replica: targetRef?.name ?? address }];
    });
  return { metadata: reduceMeta(object.metadata), ready };
}

export function reduceJob(object: LiveJob): LiveJob {
  const { startTime, completionTime, conditions } = object.status ?? {};
  return { metadata: reduceMeta(object.metadata), status: withoutUndefined({ startTime, completionTime, conditions }) };
}

/** Of a Secret only its metadata is ever read. */
export function reduceSecret(object: LiveChild): LiveChild {
  const meta = object.metadata as Whole["metadata"];
  return { metadata: reduceMeta(meta), isForeign: hasForeignFields(meta.managedFields) };
}

const KEPT_ANNOTATIONS = [CHILD_ANNOTATIONS.manifestHash, CHILD_ANNOTATIONS.sourceDigest];

function reduceMeta(meta: ApiMeta): ApiMeta {
  const { name, namespace, uid, resourceVersion, generation, creationTimestamp, deletionTimestamp, finalizers } = meta;
  const annotations = Object.fromEntries(
    KEPT_ANNOTATIONS.flatMap((key) => (meta.annotations?.[key] === undefined ? [] : [[key, meta.annotations[key]]])),
  );
  const owners = meta.ownerReferences?.filter(({ controller }) => controller);
  return withoutUndefined({
    name,
    namespace,
    uid,
    resourceVersion,
    generation,
    creationTimestamp,
    deletionTimestamp,
    finalizers: deletionTimestamp === undefined ? undefined : finalizers,
    labels: meta.labels,
    annotations,
    ownerReferences: owners?.length ? owners : undefined,
  }) as ApiMeta;
}

function withoutUndefined<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as never;
}
