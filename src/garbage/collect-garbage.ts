import { randomUUID } from "node:crypto";
import type { TimerClock } from "../controller/clock.ts";
import { messageOf } from "../errors/index.ts";
import type { ObjectStore } from "../storage/index.ts";
import { chunksOf, eachOf } from "./chunks.ts";
import { REMOVAL_MAX_MS } from "./claiming-store.ts";
import { type GarbageItem, type GarbageReport, type ReportWriter, reportWriter } from "./garbage-report.ts";
import { judgeThing, type Verdict } from "./judge-thing.ts";
import { marksOf, unusedKey } from "./marks.ts";
import { type ReferenceReads, type References, readReferences } from "./references.ts";
import { type Found, removeThings } from "./remove-things.ts";
import type { Shelf, Sort, Thing } from "./thing.ts";

export interface GarbageDeps extends ReferenceReads {
  /** Where marks are kept: the store itself, not the one for claims. */
  readonly objects: ObjectStore;
  readonly shelves: readonly Shelf[];
  /** Layers of the images that serve; asked once per run. */
  readonly layersOf: (references: References) => Promise<ReadonlySet<string>>;
  readonly graceMs: Readonly<Record<Sort, number>>;
  readonly clock: TimerClock;
  /** Ends a run soon, wherever it is. */
  readonly signal?: AbortSignal;
}

/** Things that are judged by one reading of references, and held in memory. */
const CHUNK = 1_000;
const WRITES_AT_ONCE = 16;

/**
 * Looks at everything on the shelves, marks what nothing refers to, and removes what has been so for the grace time.
 * What is there is listed before the references are read, and these are read again right before anything is removed.
 * It may be stopped at any instant, and run several times at once.
 *
 * @throws SlessError when the references cannot be read: nothing is removed that was not before
 */
export async function collectGarbage(deps: GarbageDeps, { dryRun }: { dryRun: boolean }): Promise<GarbageReport> {
  const started = deps.clock.monotonicMs();
  const report = reportWriter(dryRun, deps.clock.now());
  const run: Run = { ...deps, dryRun, report, id: randomUUID().slice(0, 8), layers: undefined, lastRead: {} };
  await readReferences(run);
  for (const shelf of deps.shelves) {
    try {
      await sweep(shelf, run);
    } catch (error) {
      deps.signal?.throwIfAborted();
      report.fail(shelf.name, messageOf(error));
    }
  }
  return report.finish(deps.clock.monotonicMs() - started);
}

interface Run extends GarbageDeps {
  readonly dryRun: boolean;
  readonly report: ReportWriter;
  readonly id: string;
  layers: Promise<ReadonlySet<string>> | undefined;
}

async function sweep(shelf: Shelf, run: Run): Promise<void> {
  const unused = await readMarks(shelf, run);
  for await (const things of chunksOf(shelf.things(), CHUNK)) {
    run.signal?.throwIfAborted();
    const references = await readReferences(run);
    const judged: Found[] = [];
    for (const thing of things) {
      const found = await judge(thing, { shelf, references, unused, run });
      unused.delete(thing.id);
      judged.push(found);
    }
    await act(shelf, judged, run);
  }
  if (run.dryRun) return;
  // What is left is said of things that are gone.
  await eachOf([...unused.values()], WRITES_AT_ONCE, ({ key }) => run.objects.delete(key));
  await shelf.tidy?.();
}

interface UnusedMark {
  readonly key: string;
  readonly since: Date;
}

/** By the ids of things. Of two marks the later one counts; removals that nobody ended are forgotten. */
async function readMarks(shelf: Shelf, { objects, clock, dryRun }: Run): Promise<Map<string, UnusedMark>> {
  const unused = new Map<string, UnusedMark>();
  const stale: string[] = [];
  for (const ids of shelf.ids) {
    for await (const { id, says, since, key } of marksOf(objects, ids)) {
      if (says === "unused") {
        const other = unused.get(id);
        if (other) stale.push(other.key);
        unused.set(id, { key, since });
      } else if (Math.abs(clock.now().getTime() - since.getTime()) > 2 * REMOVAL_MAX_MS) stale.push(key);
    }
  }
  if (!dryRun) await eachOf(stale, WRITES_AT_ONCE, (key) => objects.delete(key));
  return unused;
}

interface Judging {
  readonly shelf: Shelf;
  readonly references: References;
  readonly unused: ReadonlyMap<string, UnusedMark>;
  readonly run: Run;
}

async function judge(thing: Thing, { shelf, references, unused, run }: Judging): Promise<Found> {
  const isNamed = thing.image !== undefined && references.images.has(thing.image.digest);
  const described = isNamed || !shelf.describe ? thing : await shelf.describe(thing);
  if (described.image && !isNamed && described.sort !== "image") run.layers ??= run.layersOf(references);
  const mark = unused.get(thing.id);
  const verdict = judgeThing({
    thing: described,
    references,
    layers: (await run.layers) ?? NO_LAYERS,
    unusedSince: mark?.since,
    now: run.clock.now(),
    graceMs: run.graceMs[thing.sort],
  });
  return { thing: described, verdict, mark: mark?.key };
}

const NO_LAYERS: ReadonlySet<string> = new Set();

async function act(shelf: Shelf, judged: readonly Found[], run: Run): Promise<void> {
  const { objects, clock, report, dryRun } = run;
  const doomed = judged.filter(({ verdict }) => verdict.action === "remove");
  for (const { thing, verdict } of judged) {
    if (verdict.action === "keep") report.keep();
    else if (verdict.action === "wait" || dryRun) report.add(itemOf(thing, verdict));
  }
  if (dryRun) return;
  await eachOf(judged, WRITES_AT_ONCE, async ({ thing, verdict, mark }) => {
    if (verdict.action === "keep" && mark !== undefined) await objects.delete(mark);
    if (verdict.action === "wait" && mark === undefined)
      await objects.put(unusedKey(thing.id, clock.now()), new Uint8Array());
  });
  for (const { thing, verdict } of await removeThings(shelf, doomed, { ...run, run: run.id })) {
    report.add(itemOf(thing, verdict));
  }
}

function itemOf({ sort, name, bytes }: Thing, verdict: Exclude<Verdict, { action: "keep" }>): GarbageItem {
  const goesAt = verdict.action === "wait" ? verdict.goesAt.toISOString() : undefined;
  return { sort, name, action: verdict.action, why: verdict.why, bytes, goes_at: goesAt };
}
