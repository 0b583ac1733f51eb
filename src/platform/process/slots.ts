export interface Slots {
  /** Waits for a free slot; the result gives it back. */
  take(): Promise<() => void>;
}

/** At most `count` at the same time, first come, first served. */
export function openSlots(count: number): Slots {
  let free = count;
  const waiting: (() => void)[] = [];

  function giveBack(): void {
    const next = waiting.shift();
    if (next) next();
    else free++;
  }

  return {
    async take() {
      if (free > 0) free--;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      return giveBack;
    },
  };
}
