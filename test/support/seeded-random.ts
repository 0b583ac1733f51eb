import { testSeed } from "./seed.ts";

export interface SeededRandom {
  readonly seed: number;
  /** A whole number from 0 to below `limit`. */
  below(limit: number): number;
  pick<T>(from: readonly T[]): T;
}

/** Random numbers that a test repeats, from the seed of the run, which is printed. */
export function seededRandom(test: string): SeededRandom {
  const seed = testSeed();
  console.info(`${test}: SLESS_SEED=${seed}`);
  let state = seed;
  // mulberry32
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  return { seed, below, pick: (from) => from[below(from.length)]! };
}
