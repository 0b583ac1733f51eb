import { ANNOTATIONS, type AnyObject, ENABLED, ownerUidOf, refOf, refText } from "../apis/index.ts";
import type { Action, Plan } from "./action.ts";
import { type Applier, appliedHash } from "./applied-intent.ts";
import type { DeletionGuard } from "./deletion-guard.ts";
import type { DesiredObject, DesiredState } from "./desired-state.ts";
import { changeClasses, drifts, fieldChanges, isAdoptable } from "./field-changes.ts";
import { isMarked, isOff } from "./marks.ts";
import { rivalOf } from "./name-clashes.ts";
import { orderGone, orderWanted } from "./order-actions.ts";
import { planDeletions } from "./plan-deletions.ts";

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

/** What must be done so that the live objects are what the revision wants (design §2, §4). Pure. */
export function planChanges(request: PlanRequest): Plan {
  return planWith(request, { isKnownEqual: () => false, remember: () => {}, hashOf: appliedHash });
}

/** What a planner knows from earlier plans; `planChanges` knows nothing. */
export interface Memory {
  isKnownEqual(desired: DesiredObject, live: AnyObject): boolean;
  remember(desired: DesiredObject, live: AnyObject): void;
  hashOf(desired: DesiredObject, applier: Applier): string;
}

/** `planChanges` with a memory. */
export function planWith(request: PlanRequest, memory: Memory): Plan {
  const { wanted, gone, release } = planParts(request, memory);
  return { revision: request.desired.revision, actions: [...wanted, ...gone], release };
}

/** A plan by what is wanted and what is not, each in its order. */
export interface PlanParts extends Pick<Plan, "release"> {
  readonly wanted: readonly Action[];
  /** Of live objects that the revision does not want. */
  readonly gone: readonly Action[];
}

export function planParts(request: PlanRequest, memory: Memory): PlanParts {
  const { desired, live, repository } = request;
  const gone = new Map(live.map((object) => [refText(refOf(object)), object]));
  const wanted = desired.objects.map((object) => {
    const key = refText(refOf(object.intent));
    const match = gone.get(key);
    if (match) gone.delete(key);
    return { object, match, isBlocked: desired.blocked.has(key) };
  });
  const going = planDeletions([...gone.values()], request);
  const deleted = new Set(going.filter(({ kind }) => kind === "delete").map((action) => (action as Deletion).live));
  const actions: Action[] = [];
  const release: AnyObject[] = [];
  for (const { object, match, isBlocked } of wanted) {
    if (match && !isBlocked && isMarked(match) && ownerUidOf(match) === repository.uid) release.push(match);
    if (isBlocked) actions.push(...blockedActions(match, repository));
    else actions.push(match ? planExisting(object, match, request, memory) : planNew(object, gone, deleted));
  }
  return { wanted: orderWanted(actions), gone: orderGone(going), release };
}

type Deletion = Extract<Action, { kind: "delete" }>;

function blockedActions(live: AnyObject | undefined, repository: PlannedRepository): Action[] {
  if (!live || ownerUidOf(live) !== repository.uid) return [];
  return [{ kind: "leave", ref: refOf(live), live, because: "blocked" }];
}

/** @param gone live objects that the revision does not want; a rival that it wanted too would be blocked. */
function planNew(
  desired: DesiredObject,
  gone: ReadonlyMap<string, AnyObject>,
  deleted: ReadonlySet<AnyObject>,
): Action {
  if (isOff(desired.intent, ANNOTATIONS.reconcile))
    return { kind: "leave", ref: refOf(desired.intent), because: "reconcile disabled" };
  const rivalRef = rivalOf(refOf(desired.intent));
  const rival = rivalRef && gone.get(refText(rivalRef));
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
  const hindering = changes.filter(({ path }) => path.startsWith("spec.") || path === "source");
  return { kind: "refuse", desired, live, because: "not adopted", changes: hindering };
}

function difference(desired: DesiredObject, live: AnyObject, applier: Applier, dropped: boolean) {
  const changes = fieldChanges(desired, live, applier, { dropped });
  const before = live.metadata.annotations?.[ANNOTATIONS.dependenciesDigest];
  return { changes, classes: changeClasses(changes, before, desired.source?.dependenciesDigest) };
}
