import {
  ANNOTATIONS,
  type AnyObject,
  DISABLED,
  FINALIZER,
  LABELS,
  type ObjectOf,
  ownerUidOf,
  refOf,
} from "../apis/index.ts";
import { type Next, withoutFinalizer } from "../controller/index.ts";
import { isSlessError } from "../errors/index.ts";
import { eachLimited } from "./each-limited.ts";
import { keyIn } from "./fetch-revision.ts";
import { storeReads } from "./live-reads.ts";
import type { SyncDeps } from "./sync-deps.ts";
import { writeApplied } from "./write-applied.ts";

/**
 * Looks after the objects of a Repository that is being deleted: `deletionPolicy` Delete deletes them (not those that
 * opted out of pruning), Orphan takes our marks from them and leaves them as they are. Then the Repository may go.
 */
export async function finalizeRepository(repository: ObjectOf<"Repository">, deps: SyncDeps): Promise<Next> {
  const { uid, namespace, finalizers = [] } = repository.metadata;
  if (!finalizers.includes(FINALIZER)) return { kind: "done" };
  const { items } = await storeReads(deps.store).objects(namespace);
  const owned = items.filter((object) => ownerUidOf(object) === uid);
  const isDeleted = (object: AnyObject) => repository.spec.deletionPolicy === "Delete" && !isKept(object);
  await eachLimited(owned, (object) => (isDeleted(object) ? remove(object, deps) : orphan(object, deps)));
  await withoutFinalizer(repository, deps.store, "sync");
  await deps.memory.forget(keyIn(repository));
  return { kind: "done" };
}

function isKept({ metadata }: AnyObject): boolean {
  return metadata.annotations?.[ANNOTATIONS.prune] === DISABLED;
}

async function remove(object: AnyObject, { store, report }: SyncDeps): Promise<void> {
  if (object.metadata.deletionTimestamp) return;
  const outcome = await store.delete(object.kind, refOf(object), { uid: object.metadata.uid });
  if (outcome !== "absent") report({ step: "deleted", object: refOf(object) });
}

async function orphan(object: AnyObject, deps: SyncDeps): Promise<void> {
  const labels = { [LABELS.repository]: null, [LABELS.deletion]: null };
  const { owner, path, revision, appliedHash, dependenciesDigest, deletionApproved } = ANNOTATIONS;
  const ours = [owner, path, revision, appliedHash, dependenciesDigest, deletionApproved];
  const annotations = Object.fromEntries(ours.map((name) => [name, null]));
  try {
    const orphaned = await deps.store.patch(
      object.kind,
      refOf(object),
      { metadata: { labels, annotations } },
      { owner: "sync", uid: object.metadata.uid },
    );
    await writeApplied(orphaned as AnyObject, undefined, deps);
  } catch (error) {
    // Somebody deleted it first.
    if (!isSlessError(error, "not_found")) throw error;
  }
}
