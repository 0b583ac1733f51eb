import type { TimerClock } from "../../src/controller/index.ts";

export interface ManualClock extends TimerClock {
  /** Moves time on and calls what becomes due on the way, in order. */
  advance(ms: number): void;
  /** Milliseconds until each waiting timer, soonest first. */
  timers(): number[];
  /** Sets the time of day forward, or back by a negative number; durations and timers are as before. */
  jump(ms: number): void;
}

/** A clock that stands still until a test moves it. */
export function manualClock(start = "2026-01-01T00:00:00.000Z"): ManualClock {
  let epoch = Date.parse(start);
  let elapsed = 0;
  const timers = new Set<{ dueMs: number; callback: () => void }>();
  const soonest = () => [...timers].sort((a, b) => a.dueMs - b.dueMs);
  return {
    now: () => new Date(epoch + elapsed),
    monotonicMs: () => elapsed,
    setTimer(ms, callback) {
      const timer = { dueMs: elapsed + Math.max(0, ms), callback };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    advance(ms) {
      const until = elapsed + ms;
      for (let next = soonest()[0]; next && next.dueMs <= until; next = soonest()[0]) {
        timers.delete(next);
        elapsed = next.dueMs;
        next.callback();
      }
      elapsed = until;
    },
    jump(ms) {
      epoch += ms;
    },
    timers: () => soonest().map(({ dueMs }) => dueMs - elapsed),
  };
}
