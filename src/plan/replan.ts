import type { AnyObject } from "../apis/index.ts";
import { type Action, type Plan, refOfAction } from "./action.ts";
import type { DesiredObject } from "./desired-state.ts";
import { compareWanted } from "./order-actions.ts";
import { type Memory, type PlanRequest, planParts } from "./plan-changes.ts";

/** A plan and what it was made of. */
export interface Planned {
  readonly plan: Plan;
  readonly request: PlanRequest;
}

/** Names beyond that are not sorted out: a whole plan costs hardly more. */
const NAMES_MAX = 1_000;

/** A later plan of the same repository may begin with this one: little of it is more than "unchanged". */
export function isBasis({ plan, request }: Planned): boolean {
  return request.desired.blocked.size === 0 && restless(plan).size <= NAMES_MAX;
}

/**
 * The plan of a request of which little is not as it was when another plan was made for the same repository: only
 * objects with the names of those that changed are looked at, and of the others the actions are taken over. What it
 * answers is equal to a whole plan. Pure but for the memory.
 *
 * @returns undefined when a whole plan is needed: too much changed, or what is to be deleted hangs on all objects
 */
export function replan(before: Planned, request: PlanRequest, memory: Memory): Plan | undefined {
  const { desired, live } = request;
  const was = before.request;
  if (desired.blocked.size > 0) return undefined;
  const names = restless(before.plan);
  const isNear =
    addChanged(was.desired.objects, desired.objects, isSameObject, nameOfDesired, names) &&
    addChanged(was.live, live, isSameLive, nameOfLive, names);
  if (!isNear) return undefined;
  const { revision } = desired;
  if (names.size === 0) return { ...before.plan, revision };
  // A Function and a Service of one name are in each other's way, so all kinds of a name are planned together.
  const parts = planParts(
    {
      ...request,
      desired: { ...desired, objects: desired.objects.filter((object) => names.has(nameOfDesired(object))) },
      live: live.filter((object) => names.has(nameOfLive(object))),
    },
    memory,
  );
  if (parts.gone.length > 0) return undefined;
  const kept = before.plan.actions.filter((action) => !names.has(nameOfAction(action)));
  return { revision, actions: merged(kept, parts.wanted), release: parts.release };
}

/** Another version of an object has another resourceVersion; another object of the same name another UID. */
export function isSameVersion(a: AnyObject["metadata"], b: AnyObject["metadata"]): boolean {
  return a === b || (a.resourceVersion === b.resourceVersion && a.uid === b.uid);
}

function isSameLive(a: AnyObject, b: AnyObject): boolean {
  return a === b || isSameVersion(a.metadata, b.metadata);
}

function isSameObject(a: DesiredObject, b: DesiredObject): boolean {
  return a === b;
}

/** The names of all that is to be looked at again, changed or not. */
function restless({ actions, release }: Plan): Set<string> {
  const names = new Set(release.map(nameOfLive));
  for (const action of actions) if (action.kind !== "unchanged") names.add(nameOfAction(action));
  return names;
}

/**
 * Adds the names of all that stands in only one of two lists, or in another place: what lies between an equal beginning
 * and an equal end is compared place by place.
 *
 * @returns false as soon as there are too many
 */
function addChanged<T>(
  before: readonly T[],
  after: readonly T[],
  isSame: (a: T, b: T) => boolean,
  nameOf: (item: T) => string,
  names: Set<string>,
): boolean {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && isSame(before[start]!, after[start]!)) start += 1;
  let tail = 0;
  while (tail < shorter - start && isSame(before.at(-1 - tail)!, after.at(-1 - tail)!)) tail += 1;
  const end = Math.max(before.length, after.length) - tail;
  for (let at = start; at < end; at += 1) {
    const [was, is] = [
      at < before.length - tail ? before[at] : undefined,
      at < after.length - tail ? after[at] : undefined,
    ];
    if (was && is && isSame(was, is)) continue;
    if (was) names.add(nameOf(was));
    if (is) names.add(nameOf(is));
    if (names.size > NAMES_MAX) return false;
  }
  return true;
}

function nameOfDesired({ intent }: DesiredObject): string {
  return intent.metadata.name;
}

function nameOfLive({ metadata }: AnyObject): string {
  return metadata.name;
}

function nameOfAction(action: Action): string {
  return action.kind === "unchanged" ? action.live.metadata.name : refOfAction(action).name;
}

/** Both are in order, and the second is short. */
function merged(many: readonly Action[], few: readonly Action[]): Action[] {
  const pieces: Action[][] = [];
  let from = 0;
  for (const action of few) {
    const at = placeOf(action, many, from);
    pieces.push(many.slice(from, at), [action]);
    from = at;
  }
  return pieces.concat(many.slice(from)).flat();
}

/** Where an action belongs among others that are in order, which it is none of; not before `low`. */
function placeOf(action: Action, among: readonly Action[], low: number): number {
  let high = among.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareWanted(among[middle]!, action) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
