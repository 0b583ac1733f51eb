import { type Kind, keyOf, type ObjectKey, type ObjectOf, type ObjectRef, type WorkloadRef } from "../apis/index.ts";
import type { Builder } from "../build/index.ts";
import {
  type Controller,
  type ControllerLog,
  type InformerListener,
  type ReconcileRun,
  startController,
  type TimerClock,
} from "../controller/index.ts";
import type { Platform } from "../platform/index.ts";
import type { Reporter } from "../report/index.ts";
import type { ResourceStore } from "../resources/index.ts";
import type { Routes } from "../routes/index.ts";
import type { Runtime } from "../runtimes/index.ts";
import { createFunctionJobReconciler } from "./function-job.ts";
import type { ObjectInformers } from "./object-informers.ts";
import { createRouteReconciler } from "./route.ts";
import { createTriggerReconciler } from "./trigger.ts";
import { createWorkloadReconciler } from "./workload.ts";

export interface ReconcilersDeps {
  readonly store: ResourceStore;
  readonly informers: ObjectInformers;
  readonly builder: Builder;
  readonly platform: Platform;
  readonly runtimes: ReadonlyMap<string, Runtime>;
  readonly clock: TimerClock;
  readonly report: Reporter;
  readonly log: ControllerLog;
  /** Where the addresses of `urlOf` need a way to the gateway. Default: they do not. */
  readonly routes?: Routes;
  urlOf(ref: ObjectRef): string;
  /** As of `CleanUpDeps`. */
  isGone?(ref: WorkloadRef): Promise<boolean>;
  /** As of `WorkloadDeps`. */
  readonly prepareStopped?: boolean;
  onRun?(run: ReconcileRun): void;
}

export interface Reconcilers {
  readonly controllers: readonly Controller[];
  /** Resolves when nothing is to do in any of them. */
  idle(): Promise<void>;
  stop(timeoutMs?: number): Promise<void>;
}

/** Keys of one kind that are reconciled at the same time. */
const CONCURRENCY = 8;

/** Starts the reconcilers of all kinds with code or triggers, and the wires between them. The informers must be synced. */
export async function startReconcilers(deps: ReconcilersDeps): Promise<Reconcilers> {
  const { informers } = deps;
  const { triggersOf, targetOf } = informers;
  const workloadDeps = { ...deps, triggersOf, targetOf };
  const controllers = {
    Function: controller("function", createWorkloadReconciler("Function", workloadDeps), deps),
    Service: controller("service", createWorkloadReconciler("Service", workloadDeps), deps),
    FunctionJob: controller("function-job", createFunctionJobReconciler(deps), deps),
    Trigger: controller("trigger", createTriggerReconciler({ ...deps, targetOf }), deps),
  };
  const routing = deps.routes && startRouting(deps.routes, deps);
  const enqueue = (ref: WorkloadRef) => controllers[ref.kind].enqueue(keyOf(ref));
  const stopListening = [
    deps.builder.onChange(enqueue),
    deps.platform.onChange(enqueue),
    informers.functions.onEvent(workloadChanged("Function", controllers, informers)),
    informers.services.onEvent(workloadChanged("Service", controllers, informers)),
    informers.triggers.onEvent(triggerChanged(controllers, informers)),
    informers.jobs.onEvent(ifSpecChanged((job) => controllers.FunctionJob.enqueue(keyOf(job)))),
    ...(routing?.stopListening ?? []),
  ];
  // What runs or is kept of an object that was deleted while nobody watched.
  for (const ref of await deps.platform.list()) enqueue(ref);
  const all = [...Object.values(controllers), ...(routing ? [routing.controller] : [])];
  return {
    controllers: all,
    idle: async () => void (await Promise.all(all.map((each) => each.idle()))),
    async stop(timeoutMs) {
      for (const stop of stopListening) stop();
      await Promise.all(all.map((each) => each.stop(timeoutMs)));
    },
  };
}

/** Routes belong to addresses: whatever may change whether one is reachable looks at it again. */
function startRouting(routes: Routes, deps: ReconcilersDeps) {
  const { informers } = deps;
  const { targetOf, triggersOf } = informers;
  const routing = controller("route", createRouteReconciler({ routes, targetOf, triggersOf }), deps);
  const ofWorkload = (object: ObjectOf<"Function" | "Service">, isNewOrGone: boolean) => {
    if (isNewOrGone) routing.enqueue(keyOf(object));
  };
  const stopListening = [
    informers.functions.onEvent(ifSpecChanged<"Function">(ofWorkload)),
    informers.services.onEvent(ifSpecChanged<"Service">(ofWorkload)),
    informers.triggers.onEvent((type, trigger, before) => {
      for (const { metadata, spec } of before && type === "MODIFIED" ? [trigger, before] : [trigger])
        routing.enqueue(`${metadata.namespace}/${spec.functionRef}`);
    }),
    routes.onChange((target) => routing.enqueue(keyOf(target))),
  ];
  // What nobody has a reason for any more: all of it went while nobody watched.
  for (const target of routes.list()) routing.enqueue(keyOf(target));
  return { controller: routing, stopListening };
}

type Controllers = Record<"Function" | "Service" | "FunctionJob" | "Trigger", Controller>;

function controller(
  name: string,
  reconcile: ReturnType<typeof createTriggerReconciler>,
  deps: ReconcilersDeps,
): Controller {
  return startController({
    name,
    reconcile: (key) => reconcile(toKey(key)),
    concurrency: CONCURRENCY,
    clock: deps.clock,
    log: deps.log,
    ...(deps.onRun ? { onRun: deps.onRun } : {}),
  });
}

function toKey(key: string): ObjectKey {
  const [namespace = "", name = ""] = key.split("/");
  return { namespace, name };
}

/** Statuses are our own writes; only what an object wants, or that it comes or goes, is news to a reconciler. */
function ifSpecChanged<K extends Kind>(then: (object: ObjectOf<K>, isNewOrGone: boolean) => void): InformerListener<K> {
  return (type, object, before) => {
    const isNewOrGone = type !== "MODIFIED" || before?.metadata.uid !== object.metadata.uid;
    const isLeaving = before?.metadata.deletionTimestamp !== object.metadata.deletionTimestamp;
    if (isNewOrGone || isLeaving || before?.metadata.generation !== object.metadata.generation)
      then(object, isNewOrGone || isLeaving);
  };
}

function workloadChanged<K extends "Function" | "Service">(
  kind: K,
  controllers: Controllers,
  informers: ObjectInformers,
): InformerListener<K> {
  return ifSpecChanged((object, isNewOrGone) => {
    const key = keyOf(object);
    controllers[kind].enqueue(key);
    for (const job of informers.jobs.byIndex("functionRef", key)) controllers.FunctionJob.enqueue(keyOf(job));
    if (!isNewOrGone) return;
    // Whose name it is may be another's now.
    if (kind === "Function" && informers.services.get(key)) controllers.Service.enqueue(key);
    if (kind === "Service" && informers.functions.get(key)) controllers.Function.enqueue(key);
    for (const trigger of informers.triggers.byIndex("functionRef", key)) controllers.Trigger.enqueue(keyOf(trigger));
  });
}

function triggerChanged(controllers: Controllers, informers: ObjectInformers): InformerListener<"Trigger"> {
  const ofTarget = (trigger: ObjectOf<"Trigger">) => {
    // One that is not there yet is reconciled when it comes.
    const target = informers.targetOf({ namespace: trigger.metadata.namespace, name: trigger.spec.functionRef });
    if (target?.kind === "Function" || target?.kind === "Service") controllers[target.kind].enqueue(keyOf(target));
  };
  const changed = ifSpecChanged<"Trigger">((trigger) => {
    controllers.Trigger.enqueue(keyOf(trigger));
    ofTarget(trigger);
  });
  return (type, trigger, before) => {
    changed(type, trigger, before);
    // Pointed elsewhere: the former target has one trigger less.
    if (before && before.spec.functionRef !== trigger.spec.functionRef) ofTarget(before);
    // The scheduler wants its target started, or no longer.
    if (before && before.status?.warm !== trigger.status?.warm) ofTarget(trigger);
  };
}
