import { type Kind, keyOf, nameHolder, type ObjectKey, type ObjectMeta, type ObjectOf } from "../apis/index.ts";
import {
  type Controller,
  type ControllerLog,
  type Informer,
  type InformerListener,
  type ReconcileRun,
  startController,
  type TimerClock,
} from "../controller/index.ts";
import type { Reporter } from "../report/index.ts";
import type { ResourceStore } from "../resources/index.ts";
import type { Invoke } from "./call-tick.ts";
import { createDueAlarm } from "./due-alarm.ts";
import { createCronReconciler } from "./reconcile-cron.ts";
import { scheduleCache } from "./schedule-cache.ts";
import { createTickCalls } from "./tick-calls.ts";

export type { Invoke } from "./call-tick.ts";

export interface SchedulerDeps {
  /** Its `updateStatus` is the claim: it must refuse a version that is no longer the present one. */
  readonly store: Pick<ResourceStore, "updateStatus">;
  /** All three must be synced. */
  readonly triggers: Informer<"Trigger", "functionRef">;
  readonly functions: Pick<Informer<"Function">, "get" | "onEvent">;
  readonly services: Pick<Informer<"Service">, "get" | "onEvent">;
  readonly invoke: Invoke;
  readonly clock: TimerClock;
  readonly report: Reporter;
  readonly log: ControllerLog;
  /** A tick that nobody claimed for so long is left out; default one hour. */
  readonly startingDeadlineMs?: number;
  onRun?(run: ReconcileRun): void;
}

export interface Scheduler {
  readonly controller: Controller;
  /**
   * Claims no further tick, waits for the calls under way and tells how they ended; what is not over after most of the
   * time (default 10,000 ms) is broken off.
   */
  stop(timeoutMs?: number): Promise<void>;
}

/** Triggers that are looked at at the same time; their calls are not waited for. */
const CONCURRENCY = 8;
const STARTING_DEADLINE_MS = 60 * 60_000;
/** Share of the time to stop that is for calls, the rest for writing how they ended. */
const CALLS_SHARE = 0.8;

/**
 * Fires the ticks of cron triggers, each at most once whoever else does the same: run it where one leads, for that is
 * cheaper, not because it had to be so.
 */
export function startScheduler(deps: SchedulerDeps): Scheduler {
  const { clock, triggers, functions, services } = deps;
  let stopping = false;
  const alarm = createDueAlarm(clock, (key) => controller.enqueue(key));
  const calls = createTickCalls({ invoke: deps.invoke, clock, onEnd: (key) => controller.enqueue(key) });
  const reconcile = createCronReconciler({
    ...deps,
    alarm,
    calls,
    startingDeadlineMs: deps.startingDeadlineMs ?? STARTING_DEADLINE_MS,
    readSchedule: scheduleCache(),
    targetOf: (key: ObjectKey) => nameHolder(functions.get(key), services.get(key)),
    isStopping: () => stopping,
  });
  const controller = startController({
    name: "cron",
    reconcile,
    concurrency: CONCURRENCY,
    clock,
    log: deps.log,
    ...(deps.onRun && { onRun: deps.onRun }),
  });
  const ofTarget = (target: { metadata: ObjectMeta }) => {
    for (const trigger of triggers.byIndex("functionRef", keyOf(target))) controller.enqueue(keyOf(trigger));
  };
  const stopListening = [
    triggers.onEvent(ifWantedChanged((trigger) => controller.enqueue(keyOf(trigger)))),
    functions.onEvent(ifWantedChanged<"Function">(ofTarget)),
    services.onEvent(ifWantedChanged<"Service">(ofTarget)),
  ];
  return {
    controller,
    async stop(timeoutMs = 10_000) {
      stopping = true;
      alarm.close();
      for (const stop of stopListening) stop();
      await calls.stop(timeoutMs * CALLS_SHARE);
      // Stopping it would drop the keys of the calls that just ended.
      await within(controller.idle(), (timeoutMs * (1 - CALLS_SHARE)) / 2, clock);
      await controller.stop((timeoutMs * (1 - CALLS_SHARE)) / 2);
    },
  };
}

/** Statuses are our own writes, or say nothing about ticks. */
function ifWantedChanged<K extends Kind>(then: (object: ObjectOf<K>) => void): InformerListener<K> {
  return (type, object, before) => {
    const isSame =
      type === "MODIFIED" &&
      before?.metadata.uid === object.metadata.uid &&
      before.metadata.generation === object.metadata.generation &&
      before.metadata.deletionTimestamp === object.metadata.deletionTimestamp;
    if (!isSame) then(object);
  };
}

function within(ended: Promise<void>, ms: number, clock: TimerClock): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const cancel = clock.setTimer(ms, resolve);
  return Promise.race([promise, ended]).finally(cancel);
}
