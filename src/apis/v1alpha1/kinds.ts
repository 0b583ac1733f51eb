import { type FunctionSpec, functionKind, type ServiceSpec, serviceKind, type WorkloadStatus } from "./function.ts";
import { type FunctionJobSpec, type FunctionJobStatus, functionJobKind } from "./function-job.ts";
import type { API_VERSION } from "./group.ts";
import type { KindDefinition } from "./kind-definition.ts";
import type { ObjectKey, ObjectMeta } from "./metadata.ts";
import { type RepositorySpec, type RepositoryStatus, repositoryKind } from "./repository.ts";
import { type TriggerSpec, type TriggerStatus, triggerKind } from "./trigger.ts";

/** Every kind of the group by its name. */
export const KINDS = {
  Function: functionKind,
  Service: serviceKind,
  Trigger: triggerKind,
  FunctionJob: functionJobKind,
  Repository: repositoryKind,
} as const satisfies Record<string, KindDefinition>;

export type Kind = keyof typeof KINDS;
export const KIND_NAMES = Object.keys(KINDS) as Kind[];

/** Kinds with code of their own. */
export const WORKLOAD_KINDS = ["Function", "Service", "FunctionJob"] as const;
export type WorkloadKind = (typeof WORKLOAD_KINDS)[number];

/** Kinds that a user's repository may hold. */
export const REPOSITORY_CONTENT_KINDS = ["Function", "Service", "FunctionJob", "Trigger"] as const;

interface Specs {
  Function: FunctionSpec;
  Service: ServiceSpec;
  Trigger: TriggerSpec;
  FunctionJob: FunctionJobSpec;
  Repository: RepositorySpec;
}
interface Statuses {
  Function: WorkloadStatus;
  Service: WorkloadStatus;
  Trigger: TriggerStatus;
  FunctionJob: FunctionJobStatus;
  Repository: RepositoryStatus;
}
export type SpecOf<K extends Kind> = Specs[K];
export type StatusOf<K extends Kind> = Statuses[K];

/** A live object as a store returns it: defaults filled, metadata complete. */
export interface ObjectOf<K extends Kind> {
  apiVersion: typeof API_VERSION;
  kind: K;
  metadata: ObjectMeta;
  spec: SpecOf<K>;
  status?: StatusOf<K>;
}
/** A live object of any kind, to be narrowed by `kind`. */
export type AnyObject = { [K in Kind]: ObjectOf<K> }[Kind];

/** What a writer wants: names, labels and annotations of its own, and the spec fields that it cares about. */
export interface ObjectIntent<K extends Kind = Kind> {
  kind: K;
  metadata: {
    name: string;
    namespace: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
    finalizers?: string[];
  };
  spec: Partial<SpecOf<K>>;
}

/** A kind and a name: identity of an object across its lives. */
export interface ObjectRef<K extends Kind = Kind> extends ObjectKey {
  readonly kind: K;
}
export type WorkloadRef = ObjectRef<WorkloadKind>;

/** `Function/default/hello`, the form of plans, messages and maps. */
export function refText(ref: ObjectRef): string {
  return `${ref.kind}/${ref.namespace}/${ref.name}`;
}

export function refOf<K extends Kind>(object: {
  kind: K;
  metadata: { namespace: string; name: string };
}): ObjectRef<K> {
  return { kind: object.kind, namespace: object.metadata.namespace, name: object.metadata.name };
}

export function isKind(name: unknown): name is Kind {
  return typeof name === "string" && Object.hasOwn(KINDS, name);
}
