/** Waits among `waiting` until its function is called and taken out there; rejects when the signal aborts before. */
export function turn(waiting: Set<() => void>, serve: () => void, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
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
    serve();
  });
}
