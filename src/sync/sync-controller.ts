import {
  ANNOTATIONS,
  type AnyObject,
  keyOf,
  type ObjectKey,
  type ObjectOf,
  type ObjectRef,
  ownerUidOf,
} from "../apis/index.ts";
import { afterQuiet, type ControllerLog, type Next, type ReconcileRun, startController } from "../controller/index.ts";
import { cachedReads, hasSameContent, onContentChange, onSourceLost, type SyncInformers } from "./cached-reads.ts";
import { intervalMs } from "./next-after.ts";
import { createOwnWrites } from "./own-writes.ts";
import { reconcileRepository } from "./reconcile-repository.ts";
import type { SyncDeps } from "./sync-deps.ts";
import { createSyncMemory, type ManifestPlace } from "./sync-memory.ts";

/** Repositories that are synced at the same time; some of them wait for servers that hang, */
const CONCURRENCY = 24;
/** of whose namespace no more wait with them than these. */
const PER_NAMESPACE = 8;

/** An approval is written object by object; it is carried out whole, once no more of it has come for so long. */
const APPROVAL_QUIET_MS = 250;

export interface SyncControllerDeps extends Omit<SyncDeps, "reads" | "memory"> {
  /** Started, and synced by the time of the call. */
  readonly informers: SyncInformers;
  readonly log?: ControllerLog;
  readonly onRun?: (run: ReconcileRun) => void;
}

export interface SyncController {
  /** Says that a repository may have something new: a push was seen, a webhook came. It is looked at soon. */
  hint(key: ObjectKey): void;
  /** Where the manifest of an object stands in a repository, as far as a run of this process read it. */
  placeOf(ref: ObjectRef, repository: ObjectKey): ManifestPlace | undefined;
  /** Resolves when no repository is being synced or waits to be; an approval that is being written does not count. */
  idle(): Promise<void>;
  /** Ends what runs, at the latest after `timeoutMs`, and closes the repositories. */
  stop(timeoutMs?: number): Promise<void>;
}

/**
 * Syncs every Repository: when it is new, when its spec or its `requestedAt` changes, when somebody else changes an
 * object of it, when a build cannot read a source, on a hint, and after its interval.
 */
export function createSyncController(deps: SyncControllerDeps): SyncController {
  const { informers, log, onRun, clock } = deps;
  const reads = cachedReads(informers);
  const memory = createSyncMemory();
  const ownWrites = createOwnWrites();
  async function reconcile(key: string, signal: AbortSignal): Promise<Next> {
    const next = await ownWrites.during(key, deps.store, (store) =>
      reconcileRepository(toKey(key), { ...deps, store, reads, memory }, signal),
    );
    // What recovered is not waited for longer than what never failed.
    const repository = next.kind === "backOff" && repositoryOf(toKey(key));
    if (repository) controller.enqueueAfter(key, intervalMs(repository));
    return next;
  }
  const repositoryOf = ({ namespace, name }: ObjectKey) =>
    informers.repositories.list(namespace).find(({ metadata }) => metadata.name === name);
  const controller = startController({
    name: "sync",
    concurrency: CONCURRENCY,
    perNamespace: PER_NAMESPACE,
    clock,
    reconcile,
    ...(log && { log }),
    ...(onRun && { onRun }),
  });
  const enqueue = (repository: ObjectOf<"Repository">) => controller.enqueue(keyOf(repository));
  const stopRepositories = informers.repositories.onEvent((type, repository, before) => {
    if (type === "DELETED") ownWrites.forget(keyOf(repository));
    if (type === "DELETED" || !before || isAskedFor(repository, before)) enqueue(repository);
  });
  const approvals = afterQuiet(clock, APPROVAL_QUIET_MS, (key) => controller.enqueue(key));
  const putBack = ({ metadata }: ObjectOf<"Repository">, object: AnyObject) => {
    memory.drift(metadata);
    const pauseMs = memory.corrections(metadata)?.pauseMs(object, clock.monotonicMs()) ?? 0;
    controller.enqueueAfter(keyOf(metadata), pauseMs);
  };
  const stopObjects = onContentChange(informers, (object, before, isGone) => {
    const wake =
      !isGone && isApprovalAlone(object, before)
        ? (repository: ObjectOf<"Repository">) => approvals.touch(keyOf(repository))
        : (repository: ObjectOf<"Repository">) => putBack(repository, object);
    for (const repository of concernedBy(object, before, isGone, informers)) {
      // A name that became free may be waited for.
      if (isGone) wake(repository);
      else ownWrites.saw(keyOf(repository), object, () => wake(repository));
    }
  });

  const stopLost = onSourceLost(informers, (object) => {
    for (const { metadata } of concernedBy(object, object, false, informers)) {
      memory.drift(metadata);
      controller.enqueue(keyOf(metadata));
    }
  });

  return {
    hint(key) {
      memory.hint(key);
      controller.enqueue(keyOf(key));
    },
    placeOf: memory.placeOf,
    idle: () => controller.idle(),
    async stop(timeoutMs) {
      stopObjects();
      stopLost();
      stopRepositories();
      approvals.close();
      reads.close();
      await controller.stop(timeoutMs);
      await memory.close();
    },
  };
}

/** The change is one that a sync answers, not the status that it wrote itself. */
function isAskedFor({ metadata: now }: ObjectOf<"Repository">, { metadata: before }: ObjectOf<"Repository">): boolean {
  return (
    now.uid !== before.uid ||
    now.generation !== before.generation ||
    now.deletionTimestamp !== before.deletionTimestamp ||
    now.annotations?.[ANNOTATIONS.requestedAt] !== before.annotations?.[ANNOTATIONS.requestedAt]
  );
}

/** The object was approved to be deleted, or is not any more, and nothing else of it changed. */
function isApprovalAlone(object: AnyObject, before: AnyObject | undefined): boolean {
  return before !== undefined && hasSameContent(withoutApproval(object), withoutApproval(before));
}

function withoutApproval(object: AnyObject): AnyObject {
  const { [ANNOTATIONS.deletionApproved]: _, ...annotations } = object.metadata.annotations ?? {};
  return { ...object, metadata: { ...object.metadata, annotations } } as AnyObject;
}

/** The object's repository; when a name becomes free or an owner changes, all that might want it. */
function concernedBy(
  object: AnyObject,
  before: AnyObject | undefined,
  isGone: boolean,
  informers: SyncInformers,
): ObjectOf<"Repository">[] {
  const repositories = informers.repositories.list(object.metadata.namespace);
  const owner = ownerUidOf(object);
  const isHandedOver = before !== undefined && ownerUidOf(before) !== owner;
  if (isGone || isHandedOver || owner === undefined) return repositories;
  return repositories.filter(({ metadata }) => metadata.uid === owner);
}

function toKey(key: string): ObjectKey {
  const slash = key.indexOf("/");
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}
