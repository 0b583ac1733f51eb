import type { TimerClock } from "./clock.ts";

export interface AfterQuiet {
  /** Something came for the key: its quiet begins anew. */
  touch(key: string): void;
  /** Calls back for nobody any more. */
  close(): void;
}

/** Calls `run` for a key once nothing came for it in `quietMs`: many touches in a row are one run, after the last. */
export function afterQuiet(clock: TimerClock, quietMs: number, run: (key: string) => void): AfterQuiet {
  const waiting = new Map<string, () => void>();
  return {
    touch(key) {
      waiting.get(key)?.();
      const cancel = clock.setTimer(quietMs, () => {
        waiting.delete(key);
        run(key);
      });
      waiting.set(key, cancel);
    },
    close() {
      for (const cancel of waiting.values()) cancel();
      waiting.clear();
    },
  };
}
