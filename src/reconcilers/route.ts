import { isReachable, type ObjectKey, type ObjectOf, type ObjectRef } from "../apis/index.ts";
import type { Next } from "../controller/index.ts";
import type { Routes } from "../routes/index.ts";

export interface RouteDeps {
  readonly routes: Routes;
  /** The Function or Service of that name, from watches. */
  targetOf(key: ObjectKey): ObjectRef | undefined;
  triggersOf(key: ObjectKey): readonly ObjectOf<"Trigger">[];
}

/** Keeps the route of an address: it is there exactly while calls may arrive, however many triggers say so. */
export function createRouteReconciler({ routes, targetOf, triggersOf }: RouteDeps): (key: ObjectKey) => Promise<Next> {
  return async (key) => {
    const target = targetOf(key);
    if (target && isReachable(target.kind, triggersOf(key))) await routes.publish(key);
    else await routes.withdraw(key);
    return { kind: "done" };
  };
}
