import type { TimerClock } from "../controller/clock.ts";
import { SlessError } from "../errors/index.ts";
import type { ObjectStore } from "../storage/index.ts";
import { marksOn } from "./marks.ts";

/** A removal that was announced so long ago has ended, or whoever announced it has: see `REMOVAL_BEGINS_MS`. */
export const REMOVAL_MAX_MS = 5 * 60_000;
/** An announced removal that has not begun by then is given up; one that has, with its retries, ends within four minutes. */
export const REMOVAL_BEGINS_MS = 60_000;
const WAIT_MAX_MS = 30_000;
const LOOK_AGAIN_MS = 50;

/**
 * An ObjectStore for whoever is about to refer to what is in it: when `has` and `put` say that an object is there, it
 * stays at least for the grace time from then on, although nothing refers to it yet. It takes from the object the mark
 * without which it is not collected; and waits for the end of a removal that is under way already.
 */
export function claimingStore(objects: ObjectStore, clock: TimerClock): ObjectStore {
  return {
    ...objects,
    async has(key) {
      await claim(key, objects, clock);
      return objects.has(key);
    },
    async put(key, body) {
      await claim(key, objects, clock);
      return objects.put(key, body);
    },
  };
}

/** Taking the mark comes before looking for removals: they look for the mark after they have said that they remove. */
async function claim(key: string, objects: ObjectStore, clock: TimerClock): Promise<void> {
  const deadlineMs = clock.monotonicMs() + WAIT_MAX_MS;
  for (;;) {
    const marks = await marksOn(objects, key);
    const unused = marks.filter(({ says }) => says === "unused");
    for (const mark of unused) await objects.delete(mark.key);
    if (unused.length > 0) continue;
    const now = clock.now().getTime();
    // Either way: one of a time to come was written before the clock was set back, and nobody is at it any more.
    if (!marks.some(({ since }) => Math.abs(now - since.getTime()) < REMOVAL_MAX_MS)) return;
    if (clock.monotonicMs() >= deadlineMs) {
      const cause = "it is being collected as garbage at this moment; try again in a minute";
      throw new SlessError("storage_unavailable", { what: `Object ${key}`, cause });
    }
    await new Promise<void>((done) => clock.setTimer(LOOK_AGAIN_MS, done));
  }
}
