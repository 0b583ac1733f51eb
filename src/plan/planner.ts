import type { AnyObject } from "../apis/index.ts";
import type { Plan } from "./action.ts";
import { appliedHash } from "./applied-intent.ts";
import type { DesiredObject } from "./desired-state.ts";
import { type Memory, type PlanRequest, planWith } from "./plan-changes.ts";
import { isBasis, isSameVersion, type Planned, replan } from "./replan.ts";

export type Planner = (request: PlanRequest) => Plan;

/**
 * A `planChanges` that remembers which desired object (by identity) was equal to which version of a live one, and
 * does not compare the two again; and when little has changed since its last plan, it does not even look up the rest.
 * One per Repository. It keeps the objects of its last plan alive if that had little to do.
 */
export function createPlanner(): Planner {
  let applier: string | undefined;
  let memory = rememberEqual();
  let last: Planned | undefined;
  return (request) => {
    const { uid, s3Bucket } = request.repository;
    const present = `${uid} ${s3Bucket ?? ""}`;
    if (applier !== present) {
      applier = present;
      memory = rememberEqual();
      last = undefined;
    }
    const plan = (last && replan(last, request, memory)) ?? planWith(request, memory);
    last = isBasis({ plan, request }) ? { plan, request } : undefined;
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
