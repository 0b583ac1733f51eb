import type { Clock } from "../../src/controller/clock.ts";

export interface TestClock extends Clock {
  forward(ms: number): void;
  /** Sets the time of day to another one; durations are as before. */
  set(to: string): void;
}

/** A clock that stands still until a test moves it. */
export function testClock(start = "2026-03-01T12:00:00Z"): TestClock {
  let time = Date.parse(start);
  let monotonic = time;
  return {
    now: () => new Date(time),
    monotonicMs: () => monotonic,
    forward(ms) {
      time += ms;
      monotonic += ms;
    },
    set(to) {
      time = Date.parse(to);
    },
  };
}
