import { refText, type WorkloadRef } from "../../apis/index.ts";
import { createBackOff } from "../../controller/back-off.ts";
import type { TimerClock } from "../../controller/clock.ts";

/** When workloads that were refused are tried again: one timer each, however often they are applied meanwhile. */
export interface RetryTimers {
  /** Has the workload told after its back-off, unless that is under way. */
  begin(workload: WorkloadRef): void;
  end(workload: WorkloadRef): void;
}

export function retryTimers({
  clock,
  tell,
}: {
  readonly clock: TimerClock;
  readonly tell: (workload: WorkloadRef) => void;
}): RetryTimers {
  const backOff = createBackOff<string>({ baseMs: 2_000, maxMs: 300_000 });
  const timers = new Map<string, () => void>();
  return {
    begin(workload) {
      const key = refText(workload);
      if (timers.has(key)) return;
      const cancel = clock.setTimer(backOff.next(key), () => {
        timers.delete(key);
        tell(workload);
      });
      timers.set(key, cancel);
    },
    end(workload) {
      const key = refText(workload);
      backOff.forget(key);
      timers.get(key)?.();
      timers.delete(key);
    },
  };
}
