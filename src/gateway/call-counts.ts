import { refText, type WorkloadRef } from "../apis/index.ts";

/** Calls in flight, altogether and by workload. */
export interface CallCounts {
  total(): number;
  of(workload: WorkloadRef): number;
  /** @returns ends the call; once */
  enter(workload: WorkloadRef): () => void;
  /** Resolves when nothing is in flight. */
  idle(): Promise<void>;
}

export function createCallCounts(): CallCounts {
  const counts = new Map<string, number>();
  let total = 0;
  let waiting: (() => void)[] = [];

  function leave(text: string): void {
    total -= 1;
    const left = (counts.get(text) ?? 1) - 1;
    if (left === 0) counts.delete(text);
    else counts.set(text, left);
    if (total > 0) return;
    for (const resolve of waiting) resolve();
    waiting = [];
  }
  return {
    total: () => total,
    of: (workload) => counts.get(refText(workload)) ?? 0,
    enter(workload) {
      const text = refText(workload);
      total += 1;
      counts.set(text, (counts.get(text) ?? 0) + 1);
      return () => leave(text);
    },
    idle: () => (total === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
  };
}
