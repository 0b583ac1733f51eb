import type { Sort } from "./thing.ts";

/** One thing that went or will go. */
export interface GarbageItem {
  readonly sort: Sort;
  readonly name: string;
  readonly action: "remove" | "wait";
  readonly why: string;
  readonly bytes: number | undefined;
  /** RFC 3339: when a waiting one goes, if nothing refers to it by then. */
  readonly goes_at: string | undefined;
}

export interface GarbageCount {
  readonly count: number;
  /** Of those whose size is known. */
  readonly bytes: number;
}

/** What a look at everything came to. */
export interface GarbageReport {
  /** Nothing was removed or marked. */
  readonly dry_run: boolean;
  readonly started_at: string;
  readonly duration_ms: number;
  readonly removed: GarbageCount;
  readonly waiting: GarbageCount;
  /** Things that something refers to. */
  readonly kept: number;
  /** The first thousand, removed ones first. */
  readonly items: readonly GarbageItem[];
  /** Places that could not be looked at to the end; nothing else of them was removed. */
  readonly failures: readonly { readonly where: string; readonly error: string }[];
}

const ITEMS_MAX = 1_000;

/** Gathers a report, in bounded memory. */
export interface ReportWriter {
  keep(): void;
  add(item: GarbageItem): void;
  fail(where: string, error: string): void;
  finish(durationMs: number): GarbageReport;
}

export function reportWriter(dryRun: boolean, startedAt: Date): ReportWriter {
  const items = { remove: [] as GarbageItem[], wait: [] as GarbageItem[] };
  const counts = { remove: { count: 0, bytes: 0 }, wait: { count: 0, bytes: 0 } };
  const failures: { where: string; error: string }[] = [];
  let kept = 0;
  return {
    keep() {
      kept += 1;
    },
    add(item) {
      const { count, bytes } = counts[item.action];
      counts[item.action] = { count: count + 1, bytes: bytes + (item.bytes ?? 0) };
      if (items[item.action].length < ITEMS_MAX) items[item.action].push(item);
    },
    fail: (where, error) => void failures.push({ where, error }),
    finish: (durationMs) => ({
      dry_run: dryRun,
      started_at: startedAt.toISOString(),
      duration_ms: Math.round(durationMs),
      removed: counts.remove,
      waiting: counts.wait,
      kept,
      items: [...items.remove, ...items.wait].slice(0, ITEMS_MAX),
      failures,
    }),
  };
}
