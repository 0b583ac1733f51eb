import { setTimeout } from "node:timers/promises";

/** Far beyond what anything takes on a busy machine, and less than a test may take. */
const HANGS_AFTER_MS = 300_000;

const pending = new Set<() => string>();

/** What is waited for now, with what helps to find out why. */
export function pendingWaits(): string[] {
  return [...pending].map((tell) => tell());
}

/**
 * The outcome of what may hang, and when it does, an error that says what was waited for: a test that runs into its own
 * limit says nothing. No measure of speed.
 *
 * @param tell what helps to find out why, such as the output of a process; asked when it hangs
 * @param limitMs default: five minutes
 */
export async function within<T>(
  what: string,
  outcome: Promise<T> | T,
  tell: () => string = () => "",
  limitMs = HANGS_AFTER_MS,
): Promise<T> {
  const done = new AbortController();
  const told = () => `${what}\n${tell()}`;
  pending.add(told);
  const limit = setTimeout(limitMs, undefined, { signal: done.signal }).then(
    () => {
      throw new Error(`${what}: not within ${limitMs} ms\n${tell()}`);
    },
    () => undefined as never, // the outcome came first
  );
  try {
    return await Promise.race([outcome, limit]);
  } finally {
    pending.delete(told);
    done.abort();
  }
}
