import type { TimerClock } from "../controller/clock.ts";
import { messageOf, SlessError } from "../errors/index.ts";
import type { ObjectStore } from "../storage/index.ts";
import { collectGarbage, type GarbageDeps } from "./collect-garbage.ts";
import type { GarbageReport } from "./garbage-report.ts";
import { type LocalImages, localImageShelf } from "./local-image-shelf.ts";
import { marksOf } from "./marks.ts";
import { objectShelf } from "./object-shelf.ts";
import { type ReferenceReads, readReferences } from "./references.ts";
import { type RegistryShelfOptions, registryShelf } from "./registry-shelf.ts";

export interface GarbageOptions extends ReferenceReads {
  /** The store itself; whoever stores sources and contexts uses `claimingStore` of it. */
  readonly objects: ObjectStore;
  /** Where images are; undefined: nothing of them is collected. */
  readonly registry?: Pick<RegistryShelfOptions, "registry" | "prefix" | "removed">;
  readonly localImages?: LocalImages;
  /** How long something is unused before it goes; default 24 hours. */
  readonly graceMs?: number;
  /** The same for images of dependencies, of programs, and copies of base images; default 30 days. */
  readonly sharedGraceMs?: number;
  /** Between the end of a run and the next; default an hour. */
  readonly everyMs?: number;
  /** Until the first one; default 10 minutes. */
  readonly firstMs?: number;
  /** Names this installation, such as a cluster; a store in which another one has sources is not touched. */
  readonly installation?: string;
  /** No other process collects from this store: what an earlier one announced is void. */
  readonly isAlone?: boolean;
  readonly clock: TimerClock;
  readonly log: { info(fields: object, text: string): void; warn(fields: object, text: string): void };
}

export interface Garbage {
  /** Looks and collects now; while a run is under way, after it. @throws SlessError as `collectGarbage`, `garbage_of_others` */
  collect(options: { readonly dryRun: boolean }): Promise<GarbageReport>;
  /** No further run begins, and one that is under way ends soon; resolves once it has. */
  stop(): Promise<void>;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const INSTALLATIONS = "garbage/installations/";

/** Without a timer: collects when it is asked to. */
export function createGarbage(options: GarbageOptions): Garbage & { claim(): Promise<void> } {
  const stopping = new AbortController();
  const deps = { ...depsOf(options), signal: stopping.signal };
  const { isAlone = false } = options;
  let isCleared = !isAlone;
  let last: Promise<unknown> = Promise.resolve();

  async function run(dryRun: boolean): Promise<GarbageReport> {
    stopping.signal.throwIfAborted();
    if (!dryRun) await claimStore(options);
    const others = await othersIn(options);
    if (others.length > 0) throw new SlessError("garbage_of_others", { others: others.join(", ") });
    if (!isCleared && !dryRun) await clearRemovals(options.objects);
    isCleared ||= !dryRun;
    return collectGarbage(deps, { dryRun });
  }

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = last.then(work);
    last = done.catch(() => undefined);
    return done;
  }

  return {
    collect: ({ dryRun }) => inTurn(() => run(dryRun)),
    claim: () => inTurn(() => claimStore(options)),
    async stop() {
      stopping.abort(new SlessError("internal", { cause: "it is shutting down" }));
      await last;
    },
  };
}

/** Collects now and then, until it is stopped. On a cluster that is for the leader alone. */
export function startGarbage(options: GarbageOptions): Garbage {
  const { clock, log, everyMs = HOUR_MS, firstMs = 10 * 60_000 } = options;
  const { collect, claim, stop } = createGarbage(options);
  let isStopped = false;
  // Who is stopped before it first collects has sources there as well; a claim that fails is made up for by each run.
  void claim().catch(() => undefined);
  let cancel = clock.setTimer(firstMs, tick);

  function tick(): void {
    collect({ dryRun: false })
      .then((report) => tell(report, log))
      .catch((error: unknown) => {
        if (!isStopped) log.warn({ err: messageOf(error) }, "garbage not collected");
      })
      .finally(() => {
        if (!isStopped) cancel = clock.setTimer(everyMs, tick);
      });
  }

  return {
    collect,
    stop() {
      isStopped = true;
      cancel();
      return stop();
    },
  };
}

function tell({ removed, waiting, kept, failures, duration_ms }: GarbageReport, log: GarbageOptions["log"]): void {
  for (const { where, error } of failures) log.warn({ where, err: error }, "garbage not collected");
  if (removed.count > 0) log.info({ removed, waiting, kept, ms: duration_ms }, "garbage collected");
}

function depsOf(options: GarbageOptions): GarbageDeps {
  const { objects, registry, localImages, graceMs = DAY_MS, sharedGraceMs = 30 * DAY_MS } = options;
  const imageNames = async () => (await readReferences(options)).imageNames;
  const images = registry && registryShelf({ ...registry, objects, imageNames });
  return {
    ...options,
    // Images before archives: an archive tells that there may be images of a workload that is gone.
    shelves: [
      ...(images ? [images] : []),
      ...(localImages ? [localImageShelf(localImages)] : []),
      objectShelf(objects),
    ],
    layersOf: async (references) => images?.layersOf(references) ?? new Set(),
    graceMs: {
      source: graceMs,
      context: graceMs,
      log: graceMs,
      image: graceMs,
      dependencies: sharedGraceMs,
      build: sharedGraceMs,
      base: sharedGraceMs,
    },
  };
}

/** The other installations that have sources in the store. */
async function othersIn({ objects, installation }: GarbageOptions): Promise<string[]> {
  if (installation === undefined) return [];
  const names: string[] = [];
  for await (const key of objects.list(INSTALLATIONS)) names.push(key.slice(INSTALLATIONS.length));
  return names.filter((name) => name !== installation);
}

/** Says that this installation has sources in the store, whoever else does: each must know of all others. */
async function claimStore({ objects, installation }: GarbageOptions): Promise<void> {
  if (installation === undefined) return;
  const key = INSTALLATIONS + installation;
  if (!(await objects.has(key))) await objects.put(key, new Uint8Array());
}

async function clearRemovals(objects: ObjectStore): Promise<void> {
  for await (const { says, key } of marksOf(objects, "")) if (says === "removing") await objects.delete(key);
}
