import type { TimerClock } from "../controller/clock.ts";
import { turn } from "./turn.ts";

/** Resolves when the next request may be sent; rejects when the signal aborts before. */
export type RateLimit = (signal?: AbortSignal) => Promise<void>;

/** A token bucket: `burst` requests at once, `perSecond` on the average; those that wait go in order. */
export function rateLimit(options: { perSecond: number; burst: number; clock: TimerClock }): RateLimit {
  const { perSecond, burst, clock } = options;
  let tokens = burst;
  let filledAtMs = clock.monotonicMs();
  const waiting = new Set<() => void>();
  let isTimerSet = false;

  const fill = () => {
    const nowMs = clock.monotonicMs();
    tokens = Math.min(burst, tokens + ((nowMs - filledAtMs) * perSecond) / 1_000);
    filledAtMs = nowMs;
  };
  const serve = () => {
    fill();
    for (const go of waiting) {
      if (tokens < 1) break;
      tokens -= 1;
      waiting.delete(go);
      go();
    }
    if (waiting.size === 0 || isTimerSet) return;
    isTimerSet = true;
    clock.setTimer(Math.max(1, ((1 - tokens) * 1_000) / perSecond), () => {
      isTimerSet = false;
      serve();
    });
  };
  return (signal) => turn(waiting, serve, signal);
}
