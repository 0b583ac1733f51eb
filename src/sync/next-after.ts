import { durationMs, type ObjectOf } from "../apis/index.ts";
import type { Next } from "../controller/index.ts";
import type { Verdict } from "./verdict.ts";

const DEFAULT_INTERVAL = "1m";

const INTERVAL_MIN_MS = 1_000;

/** How often a repository is looked at, in milliseconds. */
export function intervalMs({ spec }: ObjectOf<"Repository">): number {
  return Math.max(INTERVAL_MIN_MS, durationMs(spec.interval ?? DEFAULT_INTERVAL));
}

/**
 * When a repository is looked at again without a hint: after its interval, sooner and with back-off when something may
 * mend itself, never when only another spec can help. Pure.
 */
export function nextAfter({ consequence }: Pick<Verdict, "consequence">, repository: ObjectOf<"Repository">): Next {
  switch (consequence) {
    case "retry":
      return { kind: "backOff" };
    case "stalled":
      return { kind: "done" };
    case "waiting":
    case "done":
      return { kind: "after", ms: intervalMs(repository) };
  }
}
