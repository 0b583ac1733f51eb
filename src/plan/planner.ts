import type { AnyObject } from "../apis/index.ts";
import type { Plan } from "./action.ts";
import { appliedHash } from "./applied-intent.ts";
import type { DesiredObject } from "./desired-state.ts";
import { type Memory, type PlanRequest, planWith } from "./plan-changes.ts";

export type Planner = (request: PlanRequest) => Plan;

/**
 * A `planChanges` that remembers which desired object (by identity) was equal to which version of a live one, and
 * does not compare the two again; when nothing at all has changed since, it does not even look them up. One per
 * Repository. It keeps the objects of its last plan alive if that had nothing to do.
 */
export function createPlanner(): Planner {
  let applier: string | undefined;
  let memory = rememberEqual();
  let quiet: Quiet | undefined;
  return (request) => {
    const { uid, s3Bucket } = request.repository;
    const present = `${uid} ${s3Bucket ?? ""}`;
    if (applier !== present) {
      applier = present;
      memory = rememberEqual();
      quiet = undefined;
    }
    if (quiet && isStillQuiet(quiet, request)) return { ...quiet.plan, revision: request.desired.revision };
    const plan = planWith(request, memory);
    quiet = isQuiet(plan, request) ? { plan, request } : undefined;
    return plan;
  };
}

/** Of one applier: the hash of a desired object and its equality depend on it. */
function rememberEqual(): Memory {
  const equal = new WeakMap<DesiredObject, AnyObject["metadata"]>();
  const hashes = new WeakMap<DesiredObject, string>();
  return {
    isKnownEqual(desired, live) {
      const known = equal.get(desired);
      return known !== undefined && isSameVersion(known, live.metadata);
    },
    remember: (desired, live) => equal.set(desired, live.metadata),
    hashOf(desired, applier) {
      const hash = hashes.get(desired) ?? appliedHash(desired, applier);
      hashes.set(desired, hash);
      return hash;
    },
  };
}

function isSameVersion(a: AnyObject["metadata"], b: AnyObject["metadata"]): boolean {
  return a === b || (a.resourceVersion === b.resourceVersion && a.uid === b.uid);
}

/** A plan that had nothing to do, which neither settings nor the life of other repositories can change. */
interface Quiet {
  readonly plan: Plan;
  readonly request: PlanRequest;
}

function isQuiet(plan: Plan, { desired }: PlanRequest): boolean {
  return (
    desired.blocked.size === 0 && plan.release.length === 0 && plan.actions.every(({ kind }) => kind === "unchanged")
  );
}

function isStillQuiet({ request: before }: Quiet, { desired, live }: PlanRequest): boolean {
  if (desired.blocked.size > 0 || desired.objects.length !== before.desired.objects.length) return false;
  if (live.length !== before.live.length) return false;
  return (
    desired.objects.every((object, index) => object === before.desired.objects[index]) &&
    live.every(({ metadata }, index) => isSameVersion(metadata, before.live[index]!.metadata))
  );
}
