/** Work that goes on one at a time, in the order in which it was asked for. */
export interface Turns {
  /** @throws the signal's reason when it aborts before the work's turn; what the work throws */
  take<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T>;
}

export function createTurns(): Turns {
  let last: Promise<unknown> = Promise.resolve();
  return {
    take(signal, work) {
      const before = last;
      const turn = before.then(() => {
        signal.throwIfAborted();
        return work();
      });
      last = turn.catch(() => {});
      return untilAborted(turn, before, signal);
    },
  };
}

/** Whoever waits for its turn need not wait for the one before; once it works, its end is waited for. */
async function untilAborted<T>(turn: Promise<T>, before: Promise<unknown>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  turn.catch(() => {});
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  try {
    await Promise.race([before, aborted.promise]);
    return await turn;
  } finally {
    signal.removeEventListener("abort", abort);
    aborted.promise.catch(() => {});
  }
}
