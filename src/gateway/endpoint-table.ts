import {
  effectiveReplicas,
  isReachable,
  nameHolder,
  type ObjectKey,
  type ObjectOf,
  type WorkloadRef,
} from "../apis/index.ts";

/** Where calls of one address go. */
export interface Endpoint {
  readonly workload: WorkloadRef;
  /** Seconds a call may take; 0 = no limit. */
  readonly timeoutSec: number;
  /** Wanted replicas; 0 when it is scaled to zero, or when all of its triggers are disabled. */
  readonly replicas: number;
  /** Reachable below `/fn/`: a Service, or a Function with an enabled http trigger. */
  readonly public: boolean;
}

/** Answers from memory: the gateway's hot path. */
export interface EndpointTable {
  /** Undefined for what does not exist or is being deleted. */
  find(key: ObjectKey): Endpoint | undefined;
}

/** What the table reads: caches that follow the store. */
export interface EndpointSources {
  readonly functions: { get(key: ObjectKey): ObjectOf<"Function"> | undefined };
  readonly services: { get(key: ObjectKey): ObjectOf<"Service"> | undefined };
  /** Triggers whose `functionRef` names this function or service. */
  triggersOf(key: ObjectKey): readonly ObjectOf<"Trigger">[];
}

const DEFAULT_FUNCTION_TIMEOUT_SEC = 30;

/** The endpoints that functions, services and triggers make together. A name belongs to a service or to a function. */
export function createEndpointTable({ functions, services, triggersOf }: EndpointSources): EndpointTable {
  return {
    find(key) {
      const object = nameHolder(functions.get(key), services.get(key));
      if (!object) return undefined;
      const triggers = triggersOf(key);
      const isService = object.kind === "Service";
      return {
        workload: { kind: object.kind, namespace: key.namespace, name: key.name },
        timeoutSec: object.spec.timeoutSec ?? (isService ? 0 : DEFAULT_FUNCTION_TIMEOUT_SEC),
        replicas: effectiveReplicas(object, triggers),
        public: isReachable(object.kind, triggers),
      };
    },
  };
}
