import { Readable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { onTestFinished } from "vitest";
import {
  type Condition,
  type FunctionSpec,
  findCondition,
  type ObjectOf,
  type TriggerSpec,
  type TriggerStatus,
} from "../../src/apis/index.ts";
import type { TimerClock } from "../../src/controller/index.ts";
import type { InternalAnswer, InternalCall } from "../../src/gateway/index.ts";
import { createObjectInformers } from "../../src/reconcilers/index.ts";
import type { ProgressEvent } from "../../src/report/index.ts";
import type { ResourceStore } from "../../src/resources/index.ts";
import { type Invoke, type Scheduler, startScheduler } from "../../src/schedule/index.ts";
import { eventually } from "../support/eventually.ts";
import { type ManualClock, manualClock } from "../support/manual-clock.ts";
import { memoryStore } from "../support/memory-store.ts";

export const NAMESPACE = "default";
export const MINUTE_MS = 60_000;
const quiet = { debug: () => {}, warn: () => {}, error: () => {} };

/** A clock that is ahead of another one, or behind, and wakes nobody once its process is dead. */
export function skewed(clock: ManualClock, ms: number, isDead = () => false): TimerClock {
  return {
    now: () => new Date(clock.now().getTime() + ms),
    monotonicMs: clock.monotonicMs,
    setTimer: (delay, callback) => clock.setTimer(delay, () => isDead() || callback()),
  };
}

export function answer(text = "", status = 200, type = "application/json"): InternalAnswer {
  return {
    status,
    headers: { "content-type": type },
    body: Readable.from(text === "" ? [] : [Buffer.from(text)]),
    requestId: "",
  };
}

export interface CronWorld {
  readonly store: ResourceStore;
  readonly clock: ManualClock;
  /** The calls that were made, oldest first. */
  readonly calls: InternalCall[];
  readonly events: ProgressEvent[];
  /** What calls are answered from now on. */
  answers(invoke: Invoke): void;
  /** Starts a scheduler with caches of its own, as another process would. One that `dies` is not waited for. */
  start(options?: { clock?: TimerClock; store?: ResourceStore; dies?: true }): Promise<Scheduler>;
  func(spec?: Partial<FunctionSpec>): Promise<void>;
  trigger(spec?: Partial<TriggerSpec>): Promise<void>;
  object(): Promise<ObjectOf<"Trigger">>;
  status(): Promise<TriggerStatus>;
  lastCall(): Promise<Condition | undefined>;
  /** Waits until the trigger's status is so. */
  until(what: string, holds: (status: TriggerStatus) => boolean): Promise<TriggerStatus>;
  /** Moves time on minute by minute, with all that happens in each. */
  minutes(count: number): Promise<void>;
  /** Nothing is left to do now. */
  quiet(): Promise<void>;
}

/** Schedulers over a real store, with a clock that stands still and functions that answer what the test says. */
export async function cronWorld(start = "2026-01-01T12:00:30Z"): Promise<CronWorld> {
  const clock = manualClock(start);
  const store = await memoryStore({ clock });
  const calls: InternalCall[] = [];
  const events: ProgressEvent[] = [];
  const schedulers: Scheduler[] = [];
  let invoke: Invoke = async () => answer();
  const key = { namespace: NAMESPACE, name: "tick" };
  const object = async () => (await store.get("Trigger", key))!;
  const status = async () => (await object()).status ?? {};

  async function settle(): Promise<void> {
    // Reads of the store, of caches and of answers follow one another.
    for (let turn = 0; turn < 25; turn += 1) {
      await setImmediate();
      await Promise.all(schedulers.map(({ controller }) => controller.idle()));
    }
  }
  return {
    store,
    clock,
    calls,
    events,
    answers: (next) => {
      invoke = next;
    },
    async start(options = {}) {
      const own = options.store ?? store;
      const informers = createObjectInformers(own, quiet);
      const watching = new AbortController();
      await informers.start(watching.signal);
      const scheduler = startScheduler({
        ...informers,
        store: own,
        invoke: (workload, call) => {
          calls.push(call);
          return invoke(workload, call);
        },
        clock: options.clock ?? clock,
        report: (event) => void events.push(event),
        log: quiet,
      });
      onTestFinished(() => watching.abort());
      if (options.dies) return scheduler;
      schedulers.push(scheduler);
      onTestFinished(async () => {
        const stopped = scheduler.stop(10);
        clock.advance(10);
        await stopped;
      });
      return scheduler;
    },
    async func(spec = {}) {
      const metadata = { namespace: NAMESPACE, name: "hello" };
      await store.apply({ kind: "Function", metadata, spec: { runtime: "python3.11", ...spec } }, { owner: "api" });
    },
    async trigger(spec = {}) {
      const wanted = { type: "cron", functionRef: "hello", schedule: "* * * * *", ...spec } as const;
      await store.apply({ kind: "Trigger", metadata: key, spec: wanted }, { owner: "api" });
    },
    object,
    status,
    lastCall: async () => findCondition((await status()).conditions, "LastCall"),
    until: (what, holds) => eventually(what, status, holds),
    async minutes(count) {
      for (let minute = 0; minute < count; minute += 1) {
        clock.advance(MINUTE_MS);
        await settle();
      }
    },
    quiet: settle,
  };
}

/** The ticks that were called, `12:01`, in the order of the calls. */
export function calledTicks(calls: readonly InternalCall[]): string[] {
  return calls.map(({ requestId = "" }) => /T(\d\d:\d\d):00Z$/.exec(requestId)?.[1] ?? requestId);
}

export const isArmed = ({ nextScheduleTime }: TriggerStatus) => nextScheduleTime !== undefined;
