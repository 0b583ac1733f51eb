import { setTimeout } from "node:timers/promises";

/**
 * Polls until `holds`, and shows what was seen instead when it never does. The only place of tests that waits.
 *
 * @param withinMs ends what hangs, and is no measure of speed: shorter than the default it is broken by a busy machine
 */
export async function eventually<T>(
  what: string,
  read: () => Promise<T> | T,
  holds: (seen: T) => boolean,
  withinMs = 120_000,
): Promise<T> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const seen = await read();
    if (holds(seen)) return seen;
    if (performance.now() > deadline) {
      throw new Error(`${what}: not within ${withinMs} ms, last seen\n${JSON.stringify(seen, null, 2)}`);
    }
    await setTimeout(20);
  }
}
