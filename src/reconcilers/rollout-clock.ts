import type { Clock } from "../controller/index.ts";

/** Since when each workload is on its way to the version that is wanted: what this process saw, for durations that it reports. */
export interface RolloutClock {
  /** A version is made to run; a clock starts when it is another one than before. @returns whether it is */
  begin(key: string, version: string): boolean;
  /**
   * How the version does: once it served and does not any more, a new clock starts, for its way back.
   *
   * @returns milliseconds that it took, when it serves and this process saw it begin
   */
  note(key: string, now: "serving" | "missing" | "stopped"): number | undefined;
  forget(key: string): void;
}

interface Rollout {
  readonly version: string;
  readonly startedAt: number;
  readonly hasServed: boolean;
}

export function createRolloutClock(clock: Pick<Clock, "monotonicMs">): RolloutClock {
  const rollouts = new Map<string, Rollout>();
  const start = (key: string, version: string) =>
    rollouts.set(key, { version, startedAt: clock.monotonicMs(), hasServed: false });

  return {
    begin(key, version) {
      const isNew = rollouts.get(key)?.version !== version;
      if (isNew) start(key, version);
      return isNew;
    },
    note(key, now) {
      const rollout = rollouts.get(key);
      if (now === "stopped") rollouts.delete(key);
      else if (rollout && now === "serving") {
        rollouts.set(key, { ...rollout, hasServed: true });
        return clock.monotonicMs() - rollout.startedAt;
      } else if (rollout?.hasServed) start(key, rollout.version);
      return undefined;
    },
    forget: (key) => void rollouts.delete(key),
  };
}
