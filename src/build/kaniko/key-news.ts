/** Who wants to hear of keys. */
export interface KeyNews {
  readonly tell: (key: string) => void;
  /** @returns stops listening */
  readonly onChange: (listener: (key: string) => void) => () => void;
  /** Resolves at the next news of any key, or when the signal aborts. */
  readonly next: (signal: AbortSignal) => Promise<void>;
}

export function keyNews(): KeyNews {
  const listeners = new Set<(key: string) => void>();
  const onChange = (listener: (key: string) => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };
  return {
    tell(key) {
      for (const listener of [...listeners]) listener(key);
    },
    onChange,
    next: (signal) =>
      new Promise((resolve) => {
        const done = () => {
          stop();
          signal.removeEventListener("abort", done);
          resolve();
        };
        const stop = onChange(done);
        signal.addEventListener("abort", done, { once: true });
        if (signal.aborted) done();
      }),
  };
}
