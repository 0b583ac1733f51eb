/** How long a command counts. One that takes longer goes on, but no longer keeps others from starting. */
const SLOT_MAX_MS = 30_000;

export interface CommandSlots {
  /** Runs the work when a slot is free; rejects with the signal's reason when it aborts before. */
  run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T>;
}

/** At most `count` commands at the same time, hanging ones aside: one bad function never blocks another. */
export function openCommandSlots(count: number, slotMaxMs: number = SLOT_MAX_MS): CommandSlots {
  let free = count;
  const waiting: (() => void)[] = [];

  function giveBack(): void {
    const next = waiting.shift();
    if (next) next();
    else free++;
  }

  async function take(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (free > 0) free--;
    else await waitForTurn(signal);
    let isOurs = true;
    return () => {
      if (isOurs) giveBack();
      isOurs = false;
    };
  }

  function waitForTurn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        waiting.splice(waiting.indexOf(go), 1);
        reject(signal.reason);
      };
      const go = () => {
        signal.removeEventListener("abort", leave);
        resolve();
      };
      waiting.push(go);
      signal.addEventListener("abort", leave, { once: true });
    });
  }

  return {
    async run(signal, work) {
      const release = await take(signal);
      const timer = setTimeout(release, slotMaxMs);
      try {
        return await work();
      } finally {
        clearTimeout(timer);
        release();
      }
    },
  };
}
