import type { LogFile } from "../../processes/index.ts";
import type { WorkloadSpec } from "../platform.ts";
import { crashed, type Failure, failureOf } from "./start-fault.ts";
import { type ReplicaDeps, startReplica } from "./start-replica.ts";
import { idleSeat, type Seat, toSeat } from "./table.ts";

/** Exit code by which the runtime's server says that a call blocks it: it wants to be replaced at once. */
const EXIT_BLOCKED = 75;
/** Below this no call can have been late: it is a crash like any other. */
const BLOCKED_MIN_MS = 500;

/** The replicas of one spec. */
export interface Revision {
  readonly spec: WorkloadSpec;
  readonly seats: readonly Seat[];
  readonly target: number;
  readonly failure: Failure | undefined;
  /** Starts what is missing, drains what is too much. */
  scale(target: number): void;
  /** No new calls; resolves when the last replica is gone. */
  retire(): Promise<void>;
  /** As `retire`, but waits for no calls. */
  stop(): Promise<void>;
}

interface RevisionOptions {
  readonly spec: WorkloadSpec;
  readonly log: LogFile;
  readonly deps: ReplicaDeps;
  /** A name that no other replica of the workload has. */
  readonly nextName: () => string;
  readonly changed: () => void;
}

/** Keeps `target` replicas of a spec running: restarts what crashes, with back-off when it does so again and again. */
export function openRevision({ spec, log, deps, nextName, changed }: RevisionOptions): Revision {
  const { timing, clock } = deps;
  let target = 0;
  let seats: readonly Seat[] = [];
  let failure: Failure | undefined;
  let failures = 0;
  let retry: NodeJS.Timeout | undefined;
  const starting = new Set<AbortController>();
  const draining = new Set<Seat>();
  const leaving = new Set<Promise<void>>();

  function maintain(): void {
    if (!retry) while (seats.length + starting.size < target) track(start());
    for (const attempt of [...starting]) {
      if (seats.length + starting.size <= target) break;
      starting.delete(attempt);
      attempt.abort();
    }
    for (const seat of seats.toSorted((a, b) => a.leases - b.leases).slice(0, Math.max(0, seats.length - target))) {
      dismiss(seat, drainMs());
    }
  }

  function track(work: Promise<void>): void {
    leaving.add(work);
    void work.finally(() => leaving.delete(work));
  }

  async function start(): Promise<void> {
    const attempt = new AbortController();
    starting.add(attempt);
    try {
      const replica = await startReplica(spec, nextName(), log, deps, attempt.signal);
      if (!starting.delete(attempt)) return await replica.stop();
      take(toSeat(replica, clock.monotonicMs()));
    } catch (error) {
      if (!starting.delete(attempt)) return; // it was not wanted any more
      fail(failureOf(error), backOffMs());
    }
  }

  function take(seat: Seat): void {
    seats = [...seats, seat];
    if (seats.length >= target) failure = undefined;
    track(watch(seat));
    changed();
  }

  async function watch(seat: Seat): Promise<void> {
    const exit = await seat.replica.exited;
    if (!seats.includes(seat)) return;
    seats = seats.filter((other) => other !== seat);
    const uptimeMs = clock.monotonicMs() - seat.readySince;
    if (exit.code === EXIT_BLOCKED && uptimeMs >= BLOCKED_MIN_MS) {
      changed();
      return maintain();
    }
    if (uptimeMs >= timing.stableMs) failures = 0;
    fail(crashed(exit, spec.workload.name, ""), uptimeMs >= timing.stableMs ? 0 : backOffMs());
    const told = failure;
    const tail = await seat.replica.tail();
    if (failure !== told) return;
    failure = crashed(exit, spec.workload.name, tail);
    changed();
  }

  function backOffMs(): number {
    return Math.min(timing.backOffMinMs * 2 ** failures, timing.backOffMaxMs);
  }

  function fail(what: Failure, waitMs: number): void {
    failure = what;
    // Replicas that fail together are one failure.
    if (!retry) {
      failures++;
      retry = setTimeout(() => {
        retry = undefined;
        maintain();
      }, waitMs);
    }
    changed();
  }

  function drainMs(): number {
    return spec.timeoutSec === 0 ? timing.unlimitedDrainMs : spec.timeoutSec * 1000 + timing.drainMarginMs;
  }

  /** Takes a seat out of the table at once, and stops it when its calls have ended. */
  function dismiss(seat: Seat, waitMs: number): void {
    seats = seats.filter((other) => other !== seat);
    draining.add(seat);
    track(
      idleSeat(seat, waitMs)
        .then(() => seat.replica.stop())
        .finally(() => draining.delete(seat)),
    );
  }

  async function end(waitMs: number): Promise<void> {
    target = 0;
    clearTimeout(retry);
    retry = undefined;
    for (const attempt of starting) attempt.abort();
    starting.clear();
    for (const seat of seats) dismiss(seat, waitMs);
    if (waitMs === 0) for (const seat of draining) seat.onIdle?.();
    while (leaving.size > 0) await Promise.all(leaving);
  }

  return {
    spec,
    get seats() {
      return seats;
    },
    get target() {
      return target;
    },
    get failure() {
      return failure;
    },
    scale(wanted) {
      target = wanted;
      maintain();
    },
    retire: () => end(drainMs()),
    stop: () => end(0),
  };
}
