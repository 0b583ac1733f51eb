import type { TimerClock } from "../controller/clock.ts";
import type { ObjectStore } from "../storage/index.ts";
import { chunksOf, eachOf } from "./chunks.ts";
import { REMOVAL_BEGINS_MS } from "./claiming-store.ts";
import { referrerOf, type Verdict } from "./judge-thing.ts";
import { marksOn, removingKey } from "./marks.ts";
import { type ReferenceReads, readReferences } from "./references.ts";
import type { Shelf, Thing } from "./thing.ts";

/** A thing, what was decided, and the key of the mark that says since when it is unused. */
export interface Found {
  readonly thing: Thing;
  readonly verdict: Verdict;
  readonly mark: string | undefined;
}

export type Removed = Found & { readonly verdict: Extract<Verdict, { action: "remove" }> };

export interface RemoveDeps extends ReferenceReads {
  readonly objects: ObjectStore;
  readonly clock: TimerClock;
  /** Tells this run from others. */
  readonly run: string;
  readonly layers: Promise<ReadonlySet<string>> | undefined;
  readonly signal?: AbortSignal;
}

/**
 * Between the last look at the references and the last removal after it is the time of so many, and whoever claims one of
 * them waits for it. Each batch costs a reading of all references, so smaller ones make much garbage among many workloads
 * dear.
 */
const BATCH = 200;
const AT_ONCE = 16;

/**
 * Removes things, so that none goes that somebody is about to refer to (`claimingStore`): it is first said that they are
 * being removed, then it is looked whether they are still marked and still unreferenced. What a shelf can put back is
 * put back when somebody refers to it a moment later.
 *
 * @returns those that went
 */
export async function removeThings(shelf: Shelf, doomed: readonly Found[], deps: RemoveDeps): Promise<Removed[]> {
  const removed: Removed[] = [];
  for await (const batch of chunksOf(each(doomed.filter(isDoomed)), BATCH)) {
    deps.signal?.throwIfAborted();
    removed.push(...(await removeBatch(shelf, batch, deps)));
  }
  return removed;
}

async function* each<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}

function isDoomed(found: Found): found is Removed {
  return found.verdict.action === "remove";
}

async function removeBatch(shelf: Shelf, batch: readonly Removed[], deps: RemoveDeps): Promise<Removed[]> {
  const { objects, clock, run } = deps;
  const announcedAt = clock.now();
  const announcedMs = clock.monotonicMs();
  const announced = new Map(batch.map(({ thing }) => [thing.id, removingKey(thing.id, announcedAt, run)]));
  const gone: Removed[] = [];
  try {
    await eachOf([...announced.values()], AT_ONCE, (key) => objects.put(key, new Uint8Array()));
    const isReferred = await referenceCheck(deps);
    await eachOf(batch, AT_ONCE, async (found) => {
      const { thing, mark } = found;
      const isMarked = (await marksOn(objects, thing.id)).some(({ key }) => key === mark);
      const isLate = clock.monotonicMs() - announcedMs > REMOVAL_BEGINS_MS;
      if (!isMarked || isLate || isReferred(thing)) return;
      const removal = announced.get(thing.id)!;
      // While it is not known how a removal ended, it may still come to pass: its announcement stays.
      announced.delete(thing.id);
      const isGone = await shelf.remove(thing);
      announced.set(thing.id, removal);
      if (isGone) gone.push(found);
    });
    const kept = shelf.putBack ? await putBack(shelf, gone, deps) : new Set<Thing>();
    const ended = gone.filter(({ thing }) => !kept.has(thing));
    await eachOf(ended, AT_ONCE, ({ mark }) => objects.delete(mark!));
    return ended;
  } finally {
    await eachOf([...announced.values()], AT_ONCE, (key) => objects.delete(key)).catch(() => undefined);
  }
}

async function referenceCheck(deps: RemoveDeps): Promise<(thing: Thing) => boolean> {
  const references = await readReferences(deps);
  const layers = (await deps.layers) ?? new Set();
  return (thing) => referrerOf(thing, references, layers) !== undefined;
}

async function putBack(shelf: Shelf, gone: readonly Removed[], deps: RemoveDeps): Promise<Set<Thing>> {
  const isReferred = gone.length > 0 ? await referenceCheck(deps) : () => false;
  const kept = gone.map(({ thing }) => thing).filter(isReferred);
  for (const thing of kept) await shelf.putBack?.(thing);
  return new Set(kept);
}
