import type { ActionKind, Plan } from "./action.ts";

/** How many actions of each kind. */
export type PlanCounts = Record<ActionKind, number>;

export function planCounts(plan: Pick<Plan, "actions">): PlanCounts {
  const counts: PlanCounts = {
    create: 0,
    update: 0,
    delete: 0,
    adopt: 0,
    hold: 0,
    refuse: 0,
    leave: 0,
    wait: 0,
    unchanged: 0,
  };
  for (const { kind } of plan.actions) counts[kind] += 1;
  return counts;
}
