import type { WorkloadRef } from "../apis/index.ts";
import type { Clock } from "../controller/clock.ts";
import type { BuildFault } from "./build-fault.ts";
import type { BuildState } from "./builder.ts";
import { retryDelayMs } from "./retry-delay.ts";

const FAILURES_KEPT = 10_000;
/** The time of day may run a little apart from durations; more is a clock that was set. */
const CLOCK_MOVED_MS = 1_000;

interface Failure {
  readonly fault: BuildFault;
  readonly count: number;
  readonly failedAt: Date;
  /** For whoever reads it. */
  retryAt: Date;
  /** What decides, in the clock's monotonic milliseconds. */
  readonly retryMs: number;
}

export interface BuildFailures {
  /** Why the build of this key failed, while it is too early to try again. */
  current(id: string, name: string): Extract<BuildState, { phase: "failed" }> | undefined;
  add(id: string, fault: BuildFault): void;
  forget(id: string): void;
}

/** Failures by key, each with its number in a row: they decide when a build is tried again. */
export function buildFailures(clock: Clock): BuildFailures {
  const failures = new Map<string, Failure>();
  return {
    current(id, name) {
      const failure = failures.get(id);
      // Not by the time of day: one that is set back must not put a build off by as much.
      const waitMs = failure ? failure.retryMs - clock.monotonicMs() : 0;
      if (!failure || waitMs <= 0) return undefined;
      const { fault, failedAt } = failure;
      const due = clock.now().getTime() + waitMs;
      if (Math.abs(due - failure.retryAt.getTime()) > CLOCK_MOVED_MS) failure.retryAt = new Date(due);
      const { retryAt } = failure;
      return { phase: "failed", reason: fault.reason, message: fault.messageFor(name), failedAt, retryAt };
    },
    add(id, fault) {
      const count = (failures.get(id)?.count ?? 0) + 1;
      const failedAt = clock.now();
      const delayMs = retryDelayMs(count, fault.code);
      failures.delete(id);
      failures.set(id, {
        fault,
        count,
        failedAt,
        retryAt: new Date(failedAt.getTime() + delayMs),
        retryMs: clock.monotonicMs() + delayMs,
      });
      // Keys of old pushes are never asked for again.
      for (const oldest of failures.keys()) {
        if (failures.size <= FAILURES_KEPT) break;
        failures.delete(oldest);
      }
    },
    forget: (id) => void failures.delete(id),
  };
}

/** Notes a failure, and what it makes of the build. */
export function failNow(
  id: string,
  fault: BuildFault,
  workload: Pick<WorkloadRef, "name">,
  { failures }: { readonly failures: BuildFailures },
): BuildState {
  failures.add(id, fault);
  return failures.current(id, workload.name)!;
}
