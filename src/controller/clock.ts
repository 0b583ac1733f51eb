/** Time as a dependency, so that tests move it. */
export interface Clock {
  now(): Date;
  /** Milliseconds that only grow, for durations. */
  monotonicMs(): number;
}

/** A clock that also wakes. */
export interface TimerClock extends Clock {
  /** Calls back once after `ms` (longer than 24 days counts as that), unless the returned function is called before. */
  setTimer(ms: number, callback: () => void): () => void;
}

/** The longest delay of Node's timers; a longer one would fire at once. */
const TIMER_MAX_MS = 2 ** 31 - 1;

export const systemClock: TimerClock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
  setTimer(ms, callback) {
    const timer = setTimeout(callback, Math.min(ms, TIMER_MAX_MS));
    return () => clearTimeout(timer);
  },
};

/** Resolves after `ms`, and at once when the signal aborts. */
export function pause(ms: number, clock: TimerClock, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted || ms <= 0) return resolve();
    const end = () => {
      cancel();
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const cancel = clock.setTimer(ms, end);
    signal?.addEventListener("abort", end);
  });
}
