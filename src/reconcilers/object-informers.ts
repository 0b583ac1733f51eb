import {
  KIND_NAMES,
  type Kind,
  keyOf,
  nameHolder,
  type ObjectKey,
  type ObjectOf,
  type ObjectRef,
} from "../apis/index.ts";
import { type ControllerLog, createInformer, type Informer } from "../controller/index.ts";
import type { ResourceStore } from "../resources/index.ts";

/** What lives in the store, in memory: one watch per kind for reconcilers, gateway and sync together. */
export interface ObjectInformers {
  readonly functions: Informer<"Function">;
  readonly services: Informer<"Service">;
  readonly triggers: Informer<"Trigger", "functionRef">;
  readonly jobs: Informer<"FunctionJob", "functionRef">;
  readonly repositories: Informer<"Repository">;
  /** Triggers whose `functionRef` is this name. */
  triggersOf(key: ObjectKey): ObjectOf<"Trigger">[];
  /** The Function or Service that has that name. */
  targetOf(key: ObjectKey): ObjectRef | undefined;
  /** Follows the store until the signal aborts; resolves when the first lists are in memory. */
  start(signal: AbortSignal): Promise<void>;
}

/** @param kinds those that are followed; default all. What is not followed is never synced. */
export function createObjectInformers(
  store: Pick<ResourceStore, "list" | "watch">,
  log: ControllerLog,
  kinds: readonly Kind[] = KIND_NAMES,
): ObjectInformers {
  const functions = createInformer(store, "Function", { log });
  const services = createInformer(store, "Service", { log });
  const repositories = createInformer(store, "Repository", { log });
  const triggers = createInformer<"Trigger", "functionRef">(store, "Trigger", {
    log,
    indexes: { functionRef: ({ metadata, spec }) => [`${metadata.namespace}/${spec.functionRef}`] },
  });
  const jobs = createInformer<"FunctionJob", "functionRef">(store, "FunctionJob", {
    log,
    indexes: {
      functionRef: ({ metadata, spec }) => (spec.functionRef ? [`${metadata.namespace}/${spec.functionRef}`] : []),
    },
  });
  const byKind = {
    Function: functions,
    Service: services,
    Repository: repositories,
    Trigger: triggers,
    FunctionJob: jobs,
  };
  const all = kinds.map((kind) => byKind[kind]);
  return {
    functions,
    services,
    triggers,
    jobs,
    repositories,
    triggersOf: (key) => triggers.byIndex("functionRef", keyOf(key)),
    targetOf(key) {
      const object = nameHolder(functions.get(key), services.get(key));
      return object && { kind: object.kind, namespace: key.namespace, name: key.name };
    },
    async start(signal) {
      for (const informer of all) void informer.start(signal);
      await Promise.all(all.map((informer) => informer.synced()));
    },
  };
}
