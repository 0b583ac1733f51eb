/** Work of which only so much goes on at a time. The rest waits: groups take turns, and within a group it goes in order. */
export interface Slots {
  run<T>(work: () => Promise<T>): Promise<T>;
  /**
   * Waits for a free slot; the result gives it back, once however often it is called.
   *
   * @param group default: that of all who name none
   * @throws the signal's reason when it aborts before
   */
  take(signal?: AbortSignal, group?: string): Promise<() => void>;
}

export function createSlots(count: number): Slots {
  let free = count;
  /** The group whose turn is next comes first; none is empty. */
  const waiting = new Map<string, Set<() => void>>();

  function giveBack(): void {
    for (const [group, row] of waiting) {
      const [next] = row;
      leave(group, next!);
      const rest = waiting.get(group);
      waiting.delete(group);
      if (rest) waiting.set(group, rest);
      next!();
      return;
    }
    free += 1;
  }

  function leave(group: string, go: () => void): void {
    const row = waiting.get(group);
    row?.delete(go);
    if (row?.size === 0) waiting.delete(group);
  }

  function waitForTurn(signal: AbortSignal | undefined, group: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        leave(group, go);
        reject(signal?.reason);
      };
      const go = () => {
        signal?.removeEventListener("abort", giveUp);
        resolve();
      };
      waiting.set(group, (waiting.get(group) ?? new Set()).add(go));
      signal?.addEventListener("abort", giveUp, { once: true });
    });
  }

  async function take(signal?: AbortSignal, group = ""): Promise<() => void> {
    signal?.throwIfAborted();
    if (free > 0) free -= 1;
    else await waitForTurn(signal, group);
    let isOurs = true;
    return () => {
      if (isOurs) giveBack();
      isOurs = false;
    };
  }

  return {
    take,
    async run(work) {
      const release = await take();
      try {
        return await work();
      } finally {
        release();
      }
    },
  };
}
