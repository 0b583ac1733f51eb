/** Work of which only so much goes on at a time; the rest waits in order. */
export interface Slots {
  run<T>(work: () => Promise<T>): Promise<T>;
  /**
   * Waits for a free slot; the result gives it back, once however often it is called.
   *
   * @throws the signal's reason when it aborts before
   */
  take(signal?: AbortSignal): Promise<() => void>;
}

export function createSlots(count: number): Slots {
  let free = count;
  const waiting: (() => void)[] = [];

  function giveBack(): void {
    const next = waiting.shift();
    if (next) next();
    else free += 1;
  }

  function waitForTurn(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        waiting.splice(waiting.indexOf(go), 1);
        reject(signal?.reason);
      };
      const go = () => {
        signal?.removeEventListener("abort", leave);
        resolve();
      };
      waiting.push(go);
      signal?.addEventListener("abort", leave, { once: true });
    });
  }

  async function take(signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted();
    if (free > 0) free -= 1;
    else await waitForTurn(signal);
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
