/** Waits of the platform, in milliseconds. */
export interface Timing {
  /** From the start of a process to its first healthy answer. */
  readonly startDeadlineMs: number;
  readonly healthIntervalMs: number;
  /** Restarts wait this long, then twice as long, up to the maximum. */
  readonly backOffMinMs: number;
  readonly backOffMaxMs: number;
  /** A replica that served this long and crashes is restarted at once. */
  readonly stableMs: number;
  /** How long a draining replica of a workload without time limit is waited for. */
  readonly unlimitedDrainMs: number;
  /** Beyond the workload's own limit, for the answer to get through. */
  readonly drainMarginMs: number;
  /** From SIGTERM to SIGKILL. */
  readonly killAfterMs: number;
}

export const DEFAULT_TIMING: Timing = {
  startDeadlineMs: 60_000,
  healthIntervalMs: 12,
  backOffMinMs: 1_000,
  backOffMaxMs: 60_000,
  stableMs: 60_000,
  unlimitedDrainMs: 30_000,
  drainMarginMs: 5_000,
  killAfterMs: 5_000,
};
