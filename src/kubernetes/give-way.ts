/** Work of two sorts: what is urgent begins at once, what gives way waits while much of the urgent is under way. */
export interface GiveWay {
  urgent<T>(work: () => Promise<T>): Promise<T>;
  /** Rejects with the signal's reason when that aborts before the work began. */
  yielding<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
}

/** So few urgent works are no reason to wait. */
const FEW = 4;
/** So many go on beside any number of urgent ones: nothing waits for ever. */
const LEAST = 1;

export function giveWay(): GiveWay {
  let urgent = 0;
  let yielding = 0;
  const waiting = new Set<() => void>();

  const letGo = () => {
    for (const go of waiting) {
      if (urgent > FEW && yielding >= LEAST) return;
      waiting.delete(go);
      yielding += 1;
      go();
    }
  };
  const turn = (signal?: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const onAbort = () => {
        waiting.delete(go);
        reject(signal?.reason);
      };
      const go = () => {
        signal?.removeEventListener("abort", onAbort);
        resolve();
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      waiting.add(go);
      letGo();
    });

  return {
    async urgent(work) {
      urgent += 1;
      try {
        return await work();
      } finally {
        urgent -= 1;
        letGo();
      }
    },
    async yielding(work, signal) {
      await turn(signal);
      try {
        return await work();
      } finally {
        yielding -= 1;
        letGo();
      }
    },
  };
}
