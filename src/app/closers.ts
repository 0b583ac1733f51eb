type Close = () => Promise<unknown> | unknown;

/** What a composition root opened, to be closed in the reverse order. */
export interface Closers {
  add<T extends { close(): Promise<unknown> | unknown }>(opened: T): T;
  defer(close: Close): void;
  /** Closes everything, also after one of them failed, and then throws the first failure. Once, however often called. */
  close(): Promise<void>;
}

export function createClosers(): Closers {
  const opened: Close[] = [];
  let closing: Promise<void> | undefined;
  return {
    add(one) {
      opened.push(() => one.close());
      return one;
    },
    defer: (close) => void opened.push(close),
    close() {
      closing ??= closeAll(opened.reverse());
      return closing;
    },
  };
}

async function closeAll(closes: readonly Close[]): Promise<void> {
  const failures: unknown[] = [];
  for (const close of closes) {
    try {
      await close();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}
