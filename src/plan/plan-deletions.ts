import { ANNOTATIONS, type AnyObject, isDeletionApproved, ownerUidOf, refOf, refText } from "../apis/index.ts";
import type { Action } from "./action.ts";
import { isWithinGuard } from "./deletion-guard.ts";
import type { DesiredState } from "./desired-state.ts";
import { isHeld, isOff } from "./marks.ts";
import type { PlannedRepository, PlanRequest } from "./plan-changes.ts";

/** What becomes of live objects that the revision does not want; those of others, and those that go already, are nothing to us. */
export function planDeletions(gone: readonly AnyObject[], request: PlanRequest): Action[] {
  const { desired, live, repository } = request;
  const isOurs = (object: AnyObject) => ownerUidOf(object) === repository.uid && !object.metadata.deletionTimestamp;
  const actions: Action[] = [];
  const unapproved: AnyObject[] = [];
  let approved = 0;
  for (const object of gone.filter(isOurs)) {
    const because = whyNotDeleted(object, desired, repository);
    if (because === "diagnostics") actions.push({ kind: "hold", live: object, because });
    else if (because) actions.push({ kind: "leave", ref: refOf(object), live: object, because });
    else if (isDeletionApproved(object, repository.uid)) {
      approved += 1;
      actions.push({ kind: "delete", live: object, allowedBy: "approval" });
    } else unapproved.push(object);
  }
  if (unapproved.length === 0) return actions;
  const owned = live.filter(isOurs).length - approved;
  const deletions = { count: unapproved.length, wereHeld: unapproved.some(isHeld) };
  const isAllowed = isWithinGuard(deletions, owned, repository.guard);
  for (const object of unapproved)
    actions.push(
      isAllowed
        ? { kind: "delete", live: object, allowedBy: "guard" }
        : { kind: "hold", live: object, because: "guard" },
    );
  return actions;
}

function whyNotDeleted(object: AnyObject, desired: DesiredState, repository: PlannedRepository) {
  if (desired.blocked.has(refText(refOf(object)))) return "blocked";
  if (isOff(object, ANNOTATIONS.reconcile)) return "reconcile disabled";
  if (isOff(object, ANNOTATIONS.prune)) return "prune disabled";
  if (!repository.prune) return "prune off";
  return desired.blocksPruning ? "diagnostics" : undefined;
}
