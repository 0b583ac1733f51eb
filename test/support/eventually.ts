import { setTimeout } from "node:timers/promises";
import { within } from "./within.ts";

/**
 * Polls until `holds`, and shows what was seen instead when it never does, also when a read does not end. The only place
 * of tests that waits.
 *
 * @param withinMs ends what hangs, and is no measure of speed: shorter than the default it is broken by a busy machine
 * @param readMs ends a read that hangs; default: that of `within`
 */
export async function eventually<T>(
  what: string,
  read: () => Promise<T> | T,
  holds: (seen: T) => boolean,
  withinMs = 120_000,
  readMs?: number,
): Promise<T> {
  const deadline = performance.now() + withinMs;
  let seen: T | undefined;
  const last = () => `last seen\n${JSON.stringify(seen, null, 2)}`;
  for (;;) {
    seen = await within(`${what}: a look at it`, read(), last, readMs);
    if (holds(seen)) return seen;
    if (performance.now() > deadline) throw new Error(`${what}: not within ${withinMs} ms, ${last()}`);
    await setTimeout(20);
  }
}
