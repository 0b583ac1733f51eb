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

function ordered(actions: readonly Action[], direction: 1 | -1): Action[] {
  return actions
    .map((action) => ({ action, at: sortKey(refOfAction(action)) }))
    .sort((a, b) => (a.at < b.at ? -direction : direction))
    .map(({ action }) => action);
}

/** The separator is lower than any character of a name, so that a name comes before its own continuations. */
function sortKey({ kind, namespace, name }: ObjectRef): string {
  return `${RANK[kind]}\0${namespace}\0${name}\0${kind}`;
}
