/** Time as a dependency, so that tests move it. */
export interface Clock {
  now(): Date;
  /** Milliseconds that only grow, for durations. */
  monotonicMs(): number;
}

export const systemClock: Clock = { now: () => new Date(), monotonicMs: () => performance.now() };
