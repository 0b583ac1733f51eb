import { refText, type WorkloadRef } from "../../apis/index.ts";
import type { TimerClock } from "../../controller/clock.ts";

export interface RenewalSettings {
  /** Images that are made anew at the same time. Default 2. */
  readonly atOnce?: number;
  /** Time between the beginnings of two. Default 5 s. */
  readonly everyMs?: number;
}

/** Turns of what stands on a base image that has changed: nothing is wrong with what runs, so there is no hurry. */
export interface Renewals {
  /** Is it the workload's turn? If not, it is told when to ask again. */
  take(workload: WorkloadRef): boolean;
  /** It is made anew, or nobody wants that any more. */
  leave(workload: WorkloadRef): void;
  close(): void;
}

export function openRenewals(
  { atOnce = 2, everyMs = 5_000 }: RenewalSettings,
  clock: TimerClock,
  wake: (workload: WorkloadRef) => void,
): Renewals {
  const running = new Set<string>();
  const waiting = new Map<string, WorkloadRef>();
  let nextAtMs = Number.NEGATIVE_INFINITY;
  let stopTimer: (() => void) | undefined;

  function schedule(afterMs = 0): void {
    if (stopTimer || waiting.size === 0 || running.size >= atOnce) return;
    const waitMs = Math.max(afterMs, nextAtMs - clock.monotonicMs());
    stopTimer = clock.setTimer(waitMs, () => {
      stopTimer = undefined;
      const [next] = waiting;
      if (!next) return;
      waiting.delete(next[0]);
      wake(next[1]);
      // It may not come: it was deleted, or wants something else by now.
      schedule(everyMs);
    });
  }

  return {
    take(workload) {
      const id = refText(workload);
      if (running.has(id)) return true;
      if (running.size < atOnce && clock.monotonicMs() >= nextAtMs) {
        waiting.delete(id);
        running.add(id);
        nextAtMs = clock.monotonicMs() + everyMs;
        return true;
      }
      waiting.set(id, workload);
      schedule();
      return false;
    },
    leave(workload) {
      const id = refText(workload);
      waiting.delete(id);
      if (running.delete(id)) schedule();
    },
    close() {
      stopTimer?.();
      waiting.clear();
    },
  };
}
