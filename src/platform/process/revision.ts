import type { LogFile } from "../../processes/index.ts";
import type { WorkloadSpec } from "../platform.ts";
import { withDamage } from "./prepare-run.ts";
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
  /** Digest of the values that its secrets had when it was opened. */
  readonly secrets: string;
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
  readonly secrets: string;
  readonly log: LogFile;
  readonly deps: ReplicaDeps;
  /** A name that no other replica of the workload has. */
  readonly nextName: () => string;
  readonly changed: () => void;
}

/** Keeps `target` replicas of a spec running: restarts what crashes, with back-off when it does so again and again. */
export function openRevision(options: RevisionOptions): Revision {
  const crew: Crew = {
    ...options,
    target: 0,
    seats: [],
    failure: undefined,
    failures: 0,
    retry: undefined,
    starting: new Set(),
    draining: new Set(),
    leaving: new Set(),
  };
  return {
    spec: crew.spec,
    secrets: crew.secrets,
    get seats() {
      return crew.seats;
    },
    get target() {
      return crew.target;
    },
    get failure() {
      return crew.failure;
    },
    scale(wanted) {
      crew.target = wanted;
      maintain(crew);
    },
    retire: () => end(crew, drainMs(crew)),
    stop: () => end(crew, 0),
  };
}

/** The replicas of a revision in all their states. */
interface Crew extends RevisionOptions {
  target: number;
  /** Those that serve. Replaced, never changed: the hot path reads it. */
  seats: readonly Seat[];
  failure: Failure | undefined;
  /** Failures in a row. */
  failures: number;
  /** Set while nothing is started, after a failure. */
  retry: NodeJS.Timeout | undefined;
  readonly starting: Set<AbortController>;
  readonly draining: Set<Seat>;
  /** Work that must end before the revision is gone. */
  readonly leaving: Set<Promise<void>>;
}

function maintain(crew: Crew): void {
  const { starting } = crew;
  if (!crew.retry) while (crew.seats.length + starting.size < crew.target) track(crew, start(crew));
  for (const attempt of [...starting]) {
    if (crew.seats.length + starting.size <= crew.target) break;
    starting.delete(attempt);
    attempt.abort();
  }
  const tooMany = Math.max(0, crew.seats.length - crew.target);
  const idleFirst = crew.seats.toSorted((a, b) => a.leases - b.leases);
  for (const seat of idleFirst.slice(0, tooMany)) dismiss(crew, seat, drainMs(crew));
}

function track(crew: Crew, work: Promise<void>): void {
  crew.leaving.add(work);
  void work.finally(() => crew.leaving.delete(work));
}

async function start(crew: Crew): Promise<void> {
  const { spec, log, deps, starting } = crew;
  const attempt = new AbortController();
  starting.add(attempt);
  try {
    const replica = await startReplica(spec, crew.nextName(), log, deps, attempt.signal);
    if (!starting.delete(attempt)) return await replica.stop();
    take(crew, toSeat(replica, deps.clock.monotonicMs()));
  } catch (error) {
    if (!starting.delete(attempt)) return; // it was not wanted any more
    fail(crew, failureOf(error), backOffMs(crew));
  }
}

function take(crew: Crew, seat: Seat): void {
  crew.seats = [...crew.seats, seat];
  if (crew.seats.length >= crew.target) crew.failure = undefined;
  track(crew, watch(crew, seat));
  crew.changed();
}

/** Replaces a replica that ends by itself: at once when a call blocked it, else with back-off. */
async function watch(crew: Crew, seat: Seat): Promise<void> {
  const { spec, deps } = crew;
  const exit = await seat.replica.exited;
  if (!crew.seats.includes(seat)) return;
  crew.seats = crew.seats.filter((other) => other !== seat);
  const uptimeMs = deps.clock.monotonicMs() - seat.readySince;
  if (exit.code === EXIT_BLOCKED && uptimeMs >= BLOCKED_MIN_MS) {
    crew.changed();
    return maintain(crew);
  }
  const wasStable = uptimeMs >= deps.timing.stableMs;
  if (wasStable) crew.failures = 0;
  // Replicas that fail together are one failure.
  const failures = crew.retry ? crew.failures : crew.failures + 1;
  fail(crew, crashed(exit, spec, "", failures), wasStable ? 0 : backOffMs(crew));
  const told = crew.failure;
  const known = await withDamage(crashed(exit, spec, await seat.replica.tail(), failures), spec, deps);
  if (crew.failure !== told) return;
  crew.failure = known;
  crew.changed();
}

function backOffMs({ failures, deps: { timing } }: Crew): number {
  return Math.min(timing.backOffMinMs * 2 ** failures, timing.backOffMaxMs);
}

function fail(crew: Crew, what: Failure, waitMs: number): void {
  crew.failure = what;
  if (!crew.retry) {
    crew.failures++;
    crew.retry = setTimeout(() => {
      crew.retry = undefined;
      maintain(crew);
    }, waitMs);
  }
  crew.changed();
}

function drainMs({ spec, deps: { timing } }: Crew): number {
  return spec.timeoutSec === 0 ? timing.unlimitedDrainMs : spec.timeoutSec * 1000 + timing.drainMarginMs;
}

/** Takes a seat out of the table at once, and stops it when its calls have ended. */
function dismiss(crew: Crew, seat: Seat, waitMs: number): void {
  crew.seats = crew.seats.filter((other) => other !== seat);
  crew.draining.add(seat);
  const gone = idleSeat(seat, waitMs).then(() => seat.replica.stop());
  track(
    crew,
    gone.finally(() => crew.draining.delete(seat)),
  );
}

async function end(crew: Crew, waitMs: number): Promise<void> {
  crew.target = 0;
  clearTimeout(crew.retry);
  crew.retry = undefined;
  for (const attempt of crew.starting) attempt.abort();
  crew.starting.clear();
  for (const seat of crew.seats) dismiss(crew, seat, waitMs);
  if (waitMs === 0) for (const seat of crew.draining) seat.onIdle?.();
  while (crew.leaving.size > 0) await Promise.all(crew.leaving);
}
