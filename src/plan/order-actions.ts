import type { Kind, ObjectRef } from "../apis/index.ts";
import { type Action, refOfAction } from "./action.ts";

/** Functions and Services before the jobs and triggers that name them. */
const RANK: Record<Kind, number> = { Repository: 0, Function: 1, Service: 1, FunctionJob: 2, Trigger: 3 };

/** Sorts what is wanted by kind and name. */
export function orderWanted(actions: readonly Action[]): Action[] {
  return ordered(actions, 1);
}

/** Sorts what goes: what names others goes before them. */
export function orderGone(actions: readonly Action[]): Action[] {
  return ordered(actions, -1);
}

/** The order of `orderWanted`; below zero: `a` comes first. */
export function compareWanted(a: Action, b: Action): number {
  const [one, other] = [refOfAction(a), refOfAction(b)];
  return RANK[one.kind] - RANK[other.kind] || compareRefs(one, other);
}

function ordered(actions: readonly Action[], direction: 1 | -1): Action[] {
  const ranks = Map.groupBy(
    actions.map((action) => ({ action, ref: refOfAction(action) })),
    ({ ref }) => RANK[ref.kind],
  );
  // Rank by rank, for the files mostly have the order of the names: what is in order already is sorted in one pass.
  return [...ranks]
    .sort(([a], [b]) => (a - b) * direction)
    .flatMap(([, group]) => group.sort((a, b) => compareRefs(a.ref, b.ref) * direction))
    .map(({ action }) => action);
}

function compareRefs(a: ObjectRef, b: ObjectRef): number {
  return compareTexts(a.namespace, b.namespace) || compareTexts(a.name, b.name) || compareTexts(a.kind, b.kind);
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
