import { findCondition, type ObjectOf } from "../apis/index.ts";
import type { ResourceStore } from "../resources/index.ts";

interface Idle {
  idle(): Promise<void>;
}

/** Tells when a reconcile of any controller ended: whatever becomes of an object becomes of it in one. */
export interface RunWatch {
  onRun(): void;
  /** Resolves at the end of the next run. */
  next(): Promise<void>;
}

export function createRunWatch(): RunWatch {
  let next = Promise.withResolvers<void>();
  return {
    onRun() {
      next.resolve();
      next = Promise.withResolvers<void>();
    },
    next: () => next.promise,
  };
}

export interface SettlingParts {
  readonly store: ResourceStore;
  readonly runs: Pick<RunWatch, "next">;
  readonly sync: Idle;
  readonly reconcilers: Idle;
}

/** Waits until everything of a namespace came to an end; each look is taken when nothing is left to do now. */
export async function settled({ store, runs, sync, reconcilers }: SettlingParts, namespace: string): Promise<void> {
  for (;;) {
    // Asked for before the look: a run that ends meanwhile, perhaps after its back-off, is not missed.
    const changed = runs.next();
    await sync.idle();
    await reconcilers.idle();
    if (await isSettled(store, namespace)) break;
    await changed;
  }
  // Who wrote the last of it during the look tells of it after that.
  await sync.idle();
  await reconcilers.idle();
}

const UNDER_WAY = ["Building", "Running"];

/**
 * Everything of a namespace came to an end, well or not: its repositories were synced, every workload is Ready or
 * Failed in its present generation or waits for something that is not there, no job is under way.
 */
export async function isSettled(store: ResourceStore, namespace: string): Promise<boolean> {
  const repositories = await store.list("Repository", { namespace });
  if (!repositories.items.every(isSynced)) return false;
  for (const kind of ["Function", "Service"] as const) {
    const { items } = await store.list(kind, { namespace });
    if (!items.every(hasEnded)) return false;
  }
  const jobs = await store.list("FunctionJob", { namespace });
  return jobs.items.every((job) => isCurrent(job) && !UNDER_WAY.includes(job.status?.phase ?? ""));
}

function hasEnded(workload: ObjectOf<"Function"> | ObjectOf<"Service">): boolean {
  const phase = workload.status?.phase;
  const waits = findCondition(workload.status?.conditions, "Ready")?.reason === "WaitingForSource";
  return isCurrent(workload) && (phase === "Ready" || phase === "Failed" || waits);
}

function isCurrent(object: { metadata: { generation: number }; status?: { observedGeneration?: number } }): boolean {
  return object.status?.observedGeneration === object.metadata.generation;
}

function isSynced(repository: ObjectOf<"Repository">): boolean {
  const ready = findCondition(repository.status?.conditions, "Ready");
  return isCurrent(repository) && ready !== undefined && ready.status !== "Unknown";
}
