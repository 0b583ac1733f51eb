/** How many calls are in flight. */
export interface CallCount {
  /** Counts a call that begins. @returns ends it, to be called once */
  begin(): () => void;
  count(): number;
  /** Resolves when none is in flight. */
  idle(): Promise<void>;
}

export function callCount(): CallCount {
  let total = 0;
  let waiting: (() => void)[] = [];
  function end(): void {
    total -= 1;
    if (total > 0) return;
    for (const resolve of waiting) resolve();
    waiting = [];
  }
  return {
    begin() {
      total += 1;
      return end;
    },
    count: () => total,
    idle: () => (total === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
  };
}
