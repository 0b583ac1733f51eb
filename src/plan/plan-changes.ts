import {
  ANNOTATIONS,
  type AnyObject,
  DISABLED,
  ENABLED,
  HELD,
  isDeletionApproved,
  LABELS,
  ownerUidOf,
  refOf,
  refText,
} from "../apis/index.ts";
import type { Action, Plan } from "./action.ts";
import { type Applier, appliedHash } from "./applied-intent.ts";
import { type DeletionGuard, isWithinGuard } from "./deletion-guard.ts";
import type { DesiredObject, DesiredState } from "./desired-state.ts";
import { changeClasses, drifts, fieldChanges, isAdoptable } from "./field-changes.ts";
import { rivalOf } from "./name-clashes.ts";
import { orderGone, orderWanted } from "./order-actions.ts";

/** What a plan is made for: a Repository's own settings. */
export interface PlannedRepository extends Applier {
  readonly prune: boolean;
  readonly guard: DeletionGuard;
}

export interface PlanRequest {
  readonly desired: DesiredState;
  /** All Functions, Services, FunctionJobs and Triggers of the namespace, whoever owns them. */
  readonly live: readonly AnyObject[];
  readonly repository: PlannedRepository;
  /** A Repository with that UID exists, anywhere. */
  isRepositoryAlive(uid: string): boolean;
}

export type Planner = (request: PlanRequest) => Plan;

/** What must be done so that the live objects are what the revision wants (design §2, §4). Pure. */
export function planChanges(request: PlanRequest): Plan {
  return planWith(request, { isKnownEqual: () => false, remember: () => {}, hashOf: appliedHash });
}

/**
 * A `planChanges` that remembers which desired object (by identity) was equal to which version of a live one, and
 * does not compare the two again. One per Repository; what it remembers goes with the desired objects.
 */
export function createPlanner(): Planner {
  const equal = new WeakMap<DesiredObject, { live: string; applier: string }>();
  const hashes = new WeakMap<DesiredObject, { hash: string; applier: string }>();
  return (request) => {
    const { uid, s3Bucket } = request.repository;
    const applier = `${uid} ${s3Bucket ?? ""}`;
    return planWith(request, {
      isKnownEqual(desired, live) {
        const known = equal.get(desired);
        return known !== undefined && known.live === versionOf(live) && known.applier === applier;
      },
      remember: (desired, live) => equal.set(desired, { live: versionOf(live), applier }),
      hashOf(desired) {
        const known = hashes.get(desired);
        if (known?.applier === applier) return known.hash;
        const hash = appliedHash(desired, request.repository);
        hashes.set(desired, { hash, applier });
        return hash;
      },
    });
  };
}

function versionOf({ metadata }: AnyObject): string {
  return `${metadata.uid} ${metadata.resourceVersion}`;
}

interface Memory {
  isKnownEqual(desired: DesiredObject, live: AnyObject): boolean;
  remember(desired: DesiredObject, live: AnyObject): void;
  hashOf(desired: DesiredObject, applier: Applier): string;
}

function planWith(request: PlanRequest, memory: Memory): Plan {
  const { desired, live, repository } = request;
  const present = new Map(live.map((object) => [refText(refOf(object)), object]));
  const gone = new Map(present);
  for (const { intent } of desired.objects) gone.delete(refText(refOf(intent)));
  const going = planDeletions([...gone.values()], request);
  const deleted = new Set(going.filter(({ kind }) => kind === "delete").map((action) => (action as Deletion).live));
  const wanted: Action[] = [];
  const release: AnyObject[] = [];
  for (const object of desired.objects) {
    const key = refText(refOf(object.intent));
    const match = present.get(key);
    if (match && isMarked(match) && !desired.blocked.has(key) && ownerUidOf(match) === repository.uid)
      release.push(match);
    const action = desired.blocked.has(key)
      ? blockedAction(match, repository)
      : match
        ? planExisting(object, match, request, memory)
        : planNew(object, present, deleted);
    if (action) wanted.push(action);
  }
  return { revision: desired.revision, actions: [...orderWanted(wanted), ...orderGone(going)], release };
}

type Deletion = Extract<Action, { kind: "delete" }>;

/** Held or approved for deletion, by us or by whoever approved. */
function isMarked({ metadata }: AnyObject): boolean {
  return (
    metadata.labels?.[LABELS.deletion] === HELD || metadata.annotations?.[ANNOTATIONS.deletionApproved] !== undefined
  );
}

function blockedAction(live: AnyObject | undefined, repository: PlannedRepository): Action | undefined {
  if (!live || ownerUidOf(live) !== repository.uid) return undefined;
  return { kind: "leave", ref: refOf(live), live, because: "blocked" };
}

function isOff(object: { metadata: { annotations?: Record<string, string> } }, annotation: string): boolean {
  return object.metadata.annotations?.[annotation] === DISABLED;
}

function planNew(
  desired: DesiredObject,
  present: ReadonlyMap<string, AnyObject>,
  deleted: ReadonlySet<AnyObject>,
): Action {
  if (isOff(desired.intent, ANNOTATIONS.reconcile))
    return { kind: "leave", ref: refOf(desired.intent), because: "reconcile disabled" };
  const rivalRef = rivalOf(refOf(desired.intent));
  const rival = rivalRef && present.get(refText(rivalRef));
  if (!rival) return { kind: "create", desired };
  if (rival.metadata.deletionTimestamp || deleted.has(rival)) return { kind: "wait", desired, live: rival };
  return { kind: "refuse", desired, live: rival, because: "name taken", changes: [] };
}

function planExisting(desired: DesiredObject, live: AnyObject, request: PlanRequest, memory: Memory): Action {
  const { repository } = request;
  if (memory.isKnownEqual(desired, live)) return { kind: "unchanged", desired, live };
  if (live.metadata.deletionTimestamp) return { kind: "wait", desired, live };
  const owner = ownerUidOf(live);
  if (owner !== undefined && owner !== repository.uid && request.isRepositoryAlive(owner))
    return { kind: "refuse", desired, live, because: "owned elsewhere", changes: [] };
  const isOurs = owner === repository.uid;
  const applied = live.metadata.annotations?.[ANNOTATIONS.appliedHash] === memory.hashOf(desired, repository);
  if (isOurs && applied && !drifts(desired, live, repository)) {
    memory.remember(desired, live);
    return { kind: "unchanged", desired, live };
  }
  if (isOff(live, ANNOTATIONS.reconcile) || isOff(desired.intent, ANNOTATIONS.reconcile))
    return { kind: "leave", ref: refOf(live), live, because: "reconcile disabled" };
  if (isOurs) return { kind: "update", desired, live, ...difference(desired, live, repository, !applied) };
  const mayAdopt = desired.intent.metadata.annotations?.[ANNOTATIONS.adopt] === ENABLED || isAdoptable(desired, live);
  if (mayAdopt) return { kind: "adopt", desired, live, ...difference(desired, live, repository, false) };
  const changes = fieldChanges(desired, live, repository, { dropped: true });
  return { kind: "refuse", desired, live, because: "not adopted", changes };
}

function difference(desired: DesiredObject, live: AnyObject, applier: Applier, dropped: boolean) {
  const changes = fieldChanges(desired, live, applier, { dropped });
  const before = live.metadata.annotations?.[ANNOTATIONS.dependenciesDigest];
  return { changes, classes: changeClasses(changes, before, desired.source?.dependenciesDigest) };
}

/** What becomes of live objects that the revision does not want; those of others, and those that go already, are nothing to us. */
function planDeletions(gone: readonly AnyObject[], request: PlanRequest): Action[] {
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
  const isAllowed = isWithinGuard(unapproved.length, owned, repository.guard);
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
