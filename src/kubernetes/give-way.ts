import type { TimerClock } from "../controller/clock.ts";
import { turn } from "./turn.ts";

/** Work of two sorts: what is urgent begins at once, what gives way waits while much of the urgent is under way. */
export interface GiveWay {
  urgent<T>(work: () => Promise<T>): Promise<T>;
  /** Rejects with the signal's reason when that aborts before the work began. */
  yielding<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
}

/** So few urgent works are no reason to wait. */
const FEW = 4;
/** For so long everything waits for a rush of urgent work, which is as long as some thousand applies take. */
const PATIENCE_MS = 3_000;
/** So many go on beside a rush that lasts longer: nothing waits for ever. */
const LEAST = 1;

export function giveWay(clock: TimerClock): GiveWay {
  let urgent = 0;
  let yielding = 0;
  const waiting = new Set<() => void>();
  /** Since when there is a rush. */
  let rushingSinceMs: number | undefined;
  let isTimerSet = false;

  const noteRush = () => {
    if (urgent <= FEW) rushingSinceMs = undefined;
    else rushingSinceMs ??= clock.monotonicMs();
  };
  const mayBesideRush = () =>
    rushingSinceMs === undefined
      ? Number.POSITIVE_INFINITY
      : clock.monotonicMs() - rushingSinceMs >= PATIENCE_MS
        ? LEAST
        : 0;
  /** A rush of works that never end must not hold up the others either. */
  const lookAgain = () => {
    if (isTimerSet || waiting.size === 0) return;
    isTimerSet = true;
    clock.setTimer(PATIENCE_MS, () => {
      isTimerSet = false;
      letGo();
    });
  };

  const letGo = () => {
    noteRush();
    for (const go of waiting) {
      if (yielding >= mayBesideRush()) return lookAgain();
      waiting.delete(go);
      yielding += 1;
      go();
    }
  };

  return {
    async urgent(work) {
      urgent += 1;
      noteRush();
      try {
        return await work();
      } finally {
        urgent -= 1;
        letGo();
      }
    },
    async yielding(work, signal) {
      await turn(waiting, letGo, signal);
      try {
        return await work();
      } finally {
        yielding -= 1;
        letGo();
      }
    },
  };
}
