import { type BackOffOptions, createBackOff } from "./back-off.ts";
import type { TimerClock } from "./clock.ts";
import { fairSet, type Groups } from "./fair-set.ts";

export interface WorkQueueSizes {
  /** Keys that may run now. */
  readonly ready: number;
  /** Keys that become ready later. */
  readonly delayed: number;
  readonly running: number;
}

/**
 * Keys that need work. A key is handed out at most once at a time; an `add` while it runs makes it ready again after
 * its `done`, so that no change is lost. Many adds before a run are one run.
 */
export interface WorkQueue<T extends string> {
  add(key: T): void;
  /** Adds after `ms`; of several delays of a key the earliest counts. */
  addAfter(key: T, ms: number): void;
  /** Adds after the key's back-off, which grows with every call until `forget`. */
  addBackOff(key: T): void;
  /** Starts the key's back-off anew. */
  forget(key: T): void;
  /**
   * The next key in order of readiness, the groups in turns, once there is one; undefined after `close`. Each needs its
   * `done`.
   */
  take(): Promise<T | undefined>;
  done(key: T): void;
  sizes(): WorkQueueSizes;
  /** Resolves when no key is ready or runs; delayed keys do not count. */
  idle(): Promise<void>;
  /** Drops all keys and delays and ignores later ones; keys that run still end with `done`. */
  close(): void;
}

export function createWorkQueue<T extends string>(options: {
  clock: TimerClock;
  backOff?: BackOffOptions;
  /** Default: all keys are one group. */
  groups?: Groups<T>;
}): WorkQueue<T> {
  const { clock, groups = { of: () => "" } } = options;
  const backOff = createBackOff<T>(options.backOff);
  const ready = fairSet(groups);
  const running = new Set<T>();
  /** Keys added while they run. */
  const again = new Set<T>();
  const delayed = new Map<T, { dueMs: number; cancel: () => void }>();
  const takers: ((key: T | undefined) => void)[] = [];
  const idlers: (() => void)[] = [];
  let closed = false;

  const dispatch = () => {
    while (takers.length > 0) {
      const key = ready.take();
      if (key === undefined) break;
      running.add(key);
      takers.shift()!(key);
    }
    if (ready.size > 0 || running.size > 0) return;
    for (const resolve of idlers.splice(0)) resolve();
  };
  const add = (key: T) => {
    if (closed) return;
    if (running.has(key)) again.add(key);
    else ready.add(key);
    dispatch();
  };
  const addAfter = (key: T, ms: number) => {
    if (closed) return;
    if (!(ms > 0)) return add(key);
    const dueMs = clock.monotonicMs() + ms;
    const before = delayed.get(key);
    if (before && before.dueMs <= dueMs) return;
    before?.cancel();
    wait(key, dueMs);
  };
  const wait = (key: T, dueMs: number) => {
    const cancel = clock.setTimer(dueMs - clock.monotonicMs(), () => {
      // Timers fire a little early, and after at most 24 days.
      if (dueMs - clock.monotonicMs() >= 1) return wait(key, dueMs);
      delayed.delete(key);
      add(key);
    });
    delayed.set(key, { dueMs, cancel });
  };

  return {
    add,
    addAfter,
    addBackOff: (key) => addAfter(key, backOff.next(key)),
    forget: backOff.forget,
    take() {
      if (closed) return Promise.resolve(undefined);
      return new Promise((resolve) => {
        takers.push(resolve);
        dispatch();
      });
    },
    done(key) {
      if (running.delete(key)) ready.giveBack(key);
      if (again.delete(key)) ready.add(key);
      dispatch();
    },
    sizes: () => ({ ready: ready.size, delayed: delayed.size, running: running.size }),
    idle: () =>
      new Promise((resolve) => {
        idlers.push(resolve);
        dispatch();
      }),
    close() {
      closed = true;
      for (const { cancel } of delayed.values()) cancel();
      for (const keys of [ready, again, delayed]) keys.clear();
      for (const resolve of takers.splice(0)) resolve(undefined);
      dispatch();
    },
  };
}
