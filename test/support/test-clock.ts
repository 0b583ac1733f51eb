import type { Clock } from "../../src/controller/clock.ts";

export interface TestClock extends Clock {
  forward(ms: number): void;
}

/** A clock that stands still until a test moves it. */
export function testClock(start = "2026-03-01T12:00:00Z"): TestClock {
  let time = Date.parse(start);
  return {
    now: () => new Date(time),
    monotonicMs: () => time,
    forward(ms) {
      time += ms;
    },
  };
}
