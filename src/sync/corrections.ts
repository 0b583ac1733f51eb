import { ANNOTATIONS, type Kind, type ObjectOf, refOf, refText } from "../apis/index.ts";

/** So many corrections in a row are made at once: people try things. */
const FREE = 3;
const PAUSE_BASE_MS = 1_000;
const PAUSE_MAX_MS = 300_000;
/** An object that was left alone for so long begins anew. */
const CALM_MS = 600_000;

interface Written {
  /** Of what was applied. */
  readonly hash: string | undefined;
  readonly atMs: number;
  /** How often in a row the same was written again. */
  readonly streak: number;
}

/**
 * What sync wrote of a repository's objects, and how often it had to write the same again: whoever writes against it is
 * answered at once at first, then after pauses that double, so that two controllers do not fight without end.
 */
export interface Corrections {
  /** @returns whether it is now that pauses begin */
  written(object: ObjectOf<Kind>, nowMs: number): boolean;
  /** How long to leave the object as somebody made it. */
  pauseMs(object: ObjectOf<Kind>, nowMs: number): number;
}

export function createCorrections(): Corrections {
  const known = new Map<string, Written>();
  const of = (object: ObjectOf<Kind>) => known.get(refText(refOf(object)));
  return {
    written(object, nowMs) {
      const before = of(object);
      const hash = object.metadata.annotations?.[ANNOTATIONS.appliedHash];
      const isAgain = before !== undefined && before.hash === hash && nowMs - before.atMs < CALM_MS;
      const streak = isAgain ? before.streak + 1 : 0;
      known.set(refText(refOf(object)), { hash, atMs: nowMs, streak });
      return streak === FREE;
    },
    pauseMs(object, nowMs) {
      const { streak, atMs } = of(object) ?? { streak: 0, atMs: nowMs };
      if (streak < FREE) return 0;
      return Math.max(0, atMs + Math.min(PAUSE_MAX_MS, PAUSE_BASE_MS * 2 ** (streak - FREE)) - nowMs);
    },
  };
}
