export interface BackOffOptions {
  /** Delay after the first failure, default 200. */
  baseMs?: number;
  /** Longest delay, default 300,000. */
  maxMs?: number;
  /** Gives 0 ≤ n < 1; a delay is between half (0) and all (1) of its nominal length. Default `Math.random`. */
  jitter?: () => number;
}

/** Growing delays by key: each failure in a row doubles the next delay up to the cap. */
export interface BackOff<T> {
  /** Counts a failure and tells for how many milliseconds to wait. */
  next(key: T): number;
  forget(key: T): void;
}

export function createBackOff<T>(options: BackOffOptions = {}): BackOff<T> {
  const { baseMs = 200, maxMs = 300_000, jitter = Math.random } = options;
  const failures = new Map<T, number>();
  return {
    next(key) {
      const before = failures.get(key) ?? 0;
      failures.set(key, before + 1);
      const nominal = Math.min(maxMs, baseMs * 2 ** before);
      return nominal * (0.5 + jitter() / 2);
    },
    forget: (key) => void failures.delete(key),
  };
}
