import { setImmediate } from "node:timers/promises";
import { isSlessError, messageOf } from "../errors/index.ts";
import type { BackOffOptions } from "./back-off.ts";
import type { TimerClock } from "./clock.ts";
import type { ControllerLog } from "./log.ts";
import { type Next, nextAfterError } from "./next.ts";
import { createWorkQueue, type WorkQueue, type WorkQueueSizes } from "./work-queue.ts";

/** One ended run, for metrics. */
export interface ReconcileRun {
  readonly controller: string;
  readonly key: string;
  readonly durationMs: number;
  readonly next: Next["kind"];
  readonly error?: unknown;
}

export interface ControllerOptions {
  /** Names the controller in logs and metrics. */
  name: string;
  /**
   * Makes the world as the object of the key wants it, from what it reads now. The signal aborts at shutdown.
   * An error decides by its consequence (`nextAfterError`) and hurts no other key.
   */
  reconcile(key: string, signal: AbortSignal): Promise<Next>;
  /** Keys that run at the same time, at least 1. Of those that wait the namespaces (`<namespace>/<name>`) take turns. */
  concurrency: number;
  /** Keys of one namespace that run at the same time; default: as many as of all. */
  perNamespace?: number;
  clock: TimerClock;
  log?: ControllerLog;
  backOff?: BackOffOptions;
  /** Wait after an error that somebody must mend; default one minute. */
  waitingMs?: number;
  onRun?(run: ReconcileRun): void;
}

export interface Controller {
  readonly name: string;
  enqueue(key: string): void;
  enqueueAfter(key: string, ms: number): void;
  sizes(): WorkQueueSizes;
  /** Resolves when no key is ready or runs; keys that wait for a later time do not count. */
  idle(): Promise<void>;
  /**
   * Starts nothing new and waits for what runs: most of the time for its end, then its signal aborts. Resolves when
   * all ended, at the latest after `timeoutMs` (default 10,000).
   */
  stop(timeoutMs?: number): Promise<void>;
}

/** Share of the time to stop that a run gets to end by itself, before its signal aborts. */
const GRACE_SHARE = 0.8;

/** Runs `reconcile` for every key that is enqueued, never twice at a time for one key. */
export function startController(options: ControllerOptions): Controller {
  const { name, concurrency, perNamespace = concurrency, clock, backOff = {} } = options;
  const groups = { of: namespaceIn, max: perNamespace };
  const queue = createWorkQueue<string>({ clock, backOff, groups });
  const aborting = new AbortController();
  const workers = Array.from({ length: concurrency }, () => work(queue, options, aborting.signal));
  const ended = Promise.all(workers).then(() => {});

  const stop = async (timeoutMs = 10_000) => {
    queue.close();
    const graceMs = timeoutMs * GRACE_SHARE;
    if (await endsWithin(ended, graceMs, clock)) return;
    aborting.abort(new Error(`${name} stops`));
    if (await endsWithin(ended, timeoutMs - graceMs, clock)) return;
    options.log?.warn({ controller: name, running: queue.sizes().running }, "reconciles did not end in time");
  };
  return {
    name,
    enqueue: queue.add,
    enqueueAfter: queue.addAfter,
    sizes: queue.sizes,
    idle: queue.idle,
    stop,
  };
}

function namespaceIn(key: string): string {
  return key.slice(0, Math.max(0, key.indexOf("/")));
}

async function work(queue: WorkQueue<string>, options: ControllerOptions, signal: AbortSignal): Promise<void> {
  for (;;) {
    const key = await queue.take();
    if (key === undefined) return;
    const next = await runOnce(key, options, signal);
    if (next.kind !== "backOff") queue.forget(key);
    if (next.kind === "after") queue.addAfter(key, next.ms);
    if (next.kind === "backOff") queue.addBackOff(key);
    queue.done(key);
    // A reconcile that never waits must not keep timers, sockets and watches from their turn.
    await setImmediate();
  }
}

async function runOnce(key: string, options: ControllerOptions, signal: AbortSignal): Promise<Next> {
  const { name, clock, log, waitingMs } = options;
  const startMs = clock.monotonicMs();
  const outcome = await outcomeOf(key, options, signal);
  const next = "error" in outcome ? nextAfterError(outcome.error, waitingMs) : outcome.next;
  if ("error" in outcome && !signal.aborted) {
    const fields = { controller: name, key, err: messageOf(outcome.error), next: next.kind };
    if (isOvertaken(outcome.error)) log?.debug(fields, "reconcile was overtaken");
    else log?.warn(fields, "reconcile failed");
  }
  const failure = "error" in outcome && { error: outcome.error };
  try {
    options.onRun?.({ controller: name, key, durationMs: clock.monotonicMs() - startMs, next: next.kind, ...failure });
  } catch (error) {
    log?.error({ controller: name, key, err: messageOf(error) }, "metrics hook failed");
  }
  return next;
}

/** The object was changed or deleted during the run, as happens every day: that very change brings the next run. */
function isOvertaken(error: unknown): boolean {
  return isSlessError(error, "conflict") || isSlessError(error, "not_found");
}

async function outcomeOf(
  key: string,
  { reconcile }: ControllerOptions,
  signal: AbortSignal,
): Promise<{ next: Next } | { error: unknown }> {
  try {
    return { next: await reconcile(key, signal) };
  } catch (error) {
    return { error };
  }
}

function endsWithin(ended: Promise<void>, ms: number, clock: TimerClock): Promise<boolean> {
  return new Promise((resolve) => {
    const cancel = clock.setTimer(ms, () => resolve(false));
    void ended.then(() => {
      cancel();
      resolve(true);
    });
  });
}
