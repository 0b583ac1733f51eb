import { type AnyObject, ownerUidOf, refOf } from "../apis/index.ts";
import { isSlessError } from "../errors/index.ts";
import { eachLimited } from "./each-limited.ts";
import { noteFailure } from "./note-failure.ts";
import { OK, type Outcome, type Run } from "./run.ts";
import type { SyncDeps } from "./sync-deps.ts";

const TRIES = 3;

/**
 * Deletes what the plan allows, triggers first. While something that the revision wants could not be written, nothing is
 * deleted: it may be what takes the place of the deleted one.
 */
export async function deleteStale(run: Run, deps: SyncDeps): Promise<Outcome> {
  const stale = run.plan!.actions.flatMap((action) => (action.kind === "delete" ? [action.live] : []));
  if (run.refused.length > 0 || run.failures.some(({ doing }) => doing === "upload")) return OK;
  const deleting = (object: AnyObject) => noteFailure(run, "delete", object, () => deleteOne(object, run, deps));
  const isTrigger = (object: AnyObject) => object.kind === "Trigger";
  await eachLimited(stale.filter(isTrigger), deleting);
  await eachLimited(
    stale.filter((object) => !isTrigger(object)),
    deleting,
  );
  return OK;
}

/** Deletes this very object, and only as long as it is still this repository's. */
async function deleteOne(object: AnyObject, run: Run, deps: SyncDeps): Promise<void> {
  const ref = refOf(object);
  const { uid } = object.metadata;
  for (let left = TRIES; ; left -= 1) {
    const present = (await deps.store.get(ref.kind, ref)) as AnyObject | undefined;
    if (present?.metadata.uid !== uid || ownerUidOf(present) !== run.repository.metadata.uid) return;
    try {
      const { resourceVersion } = present.metadata;
      if ((await deps.store.delete(ref.kind, ref, { uid, resourceVersion })) === "absent") return;
      break;
    } catch (error) {
      // Its status is written all the time; that is no reason to leave it.
      if (left === 1 || !isSlessError(error, "conflict")) throw error;
    }
  }
  run.owned -= 1;
  run.deleted.push(ref);
  deps.report({ step: "deleted", object: ref });
}
