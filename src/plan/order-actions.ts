import type { Kind, ObjectRef } from "../apis/index.ts";
import { type Action, refOfAction } from "./action.ts";

/** Functions and Services before the jobs and triggers that name them. */
const RANK: Record<Kind, number> = { Repository: 0, Function: 1, Service: 1, FunctionJob: 2, Trigger: 3 };

export function compareRefs(a: ObjectRef, b: ObjectRef): number {
  return (
    RANK[a.kind] - RANK[b.kind] ||
    compareText(a.namespace, b.namespace) ||
    compareText(a.name, b.name) ||
    compareText(a.kind, b.kind)
  );
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Sorts what is wanted by kind and name. */
export function orderWanted(actions: readonly Action[]): Action[] {
  return ordered(actions, 1);
}

/** Sorts what goes: what names others goes before them. */
export function orderGone(actions: readonly Action[]): Action[] {
  return ordered(actions, -1);
}

function ordered(actions: readonly Action[], direction: 1 | -1): Action[] {
  return actions
    .map((action) => ({ action, ref: refOfAction(action) }))
    .sort((a, b) => direction * compareRefs(a.ref, b.ref))
    .map(({ action }) => action);
}
