import type { WorkloadRef } from "../apis/index.ts";
import type { Clock } from "../controller/clock.ts";
import type { BuildFault } from "./build-fault.ts";
import type { BuildState } from "./builder.ts";
import { retryDelayMs } from "./retry-delay.ts";

const FAILURES_KEPT = 10_000;

export interface BuildFailures {
  /** Why the build of this key failed, while it is too early to try again. */
  current(id: string, name: string): Extract<BuildState, { phase: "failed" }> | undefined;
  add(id: string, fault: BuildFault): void;
  forget(id: string): void;
}

/** Failures by key, each with its number in a row: they decide when a build is tried again. */
export function buildFailures(clock: Clock): BuildFailures {
  const failures = new Map<string, { fault: BuildFault; count: number; failedAt: Date; retryAt: Date }>();
  return {
    current(id, name) {
      const failure = failures.get(id);
      if (!failure || clock.now() >= failure.retryAt) return undefined;
      const { fault, failedAt, retryAt } = failure;
      return { phase: "failed", reason: fault.reason, message: fault.messageFor(name), failedAt, retryAt };
    },
    add(id, fault) {
      const count = (failures.get(id)?.count ?? 0) + 1;
      const failedAt = clock.now();
      failures.delete(id);
      failures.set(id, {
        fault,
        count,
        failedAt,
        retryAt: new Date(failedAt.getTime() + retryDelayMs(count, fault.code)),
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
