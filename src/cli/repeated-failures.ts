/** What fails after so long in the same way is told again. */
const FORGOTTEN_AFTER_MS = 10 * 60_000;

interface Failure {
  readonly text: string;
  lastMs: number;
  repeats: number;
}

export interface RepeatedFailures {
  /** An object failed with this text: for the first time, for the second time in a row, or once more after that. */
  failed(key: string, text: string): "new" | "again" | "known";
  /** It failed at least twice in the same way and was told so. */
  isRepeating(key: string): boolean;
  /** It was changed: whatever becomes of it now is new. */
  forget(key: string): void;
}

/** Remembers how objects failed last, so that what goes round in a circle does not fill a terminal. */
export function repeatedFailures(nowMs: () => number): RepeatedFailures {
  const failures = new Map<string, Failure>();
  return {
    failed(key, text) {
      const before = failures.get(key);
      const lastMs = nowMs();
      if (before?.text !== text || lastMs - before.lastMs > FORGOTTEN_AFTER_MS) {
        failures.set(key, { text, lastMs, repeats: 0 });
        return "new";
      }
      before.lastMs = lastMs;
      before.repeats += 1;
      return before.repeats === 1 ? "again" : "known";
    },
    isRepeating: (key) => (failures.get(key)?.repeats ?? 0) > 0,
    forget: (key) => void failures.delete(key),
  };
}
