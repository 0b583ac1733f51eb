import type { Clock } from "../controller/index.ts";

/** A bucket of tokens per key. */
export interface Tokens {
  /** @returns whether there was one */
  take(key: string): boolean;
}

interface Bucket {
  readonly left: number;
  readonly atMs: number;
}

/** Keys that are remembered; those that took nothing for longest are forgotten, and full again. */
const KEYS_MAX = 10_000;

/** Each key has `burst` tokens and gets one back in `refillMs`. */
export function createTokens(
  clock: Pick<Clock, "monotonicMs">,
  { burst, refillMs }: { readonly burst: number; readonly refillMs: number },
): Tokens {
  const buckets = new Map<string, Bucket>();
  return {
    take(key) {
      const nowMs = clock.monotonicMs();
      const { left, atMs } = buckets.get(key) ?? { left: burst, atMs: nowMs };
      const filled = Math.min(burst, left + (nowMs - atMs) / refillMs);
      if (filled < 1) return false;
      buckets.delete(key);
      buckets.set(key, { left: filled - 1, atMs: nowMs });
      if (buckets.size > KEYS_MAX) buckets.delete(buckets.keys().next().value!);
      return true;
    },
  };
}
