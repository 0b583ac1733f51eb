import type { Plan } from "./action.ts";
import { planCounts } from "./plan-counts.ts";

/** `1 to create, 2 to update (1 code, 1 configuration), 5 unchanged`. */
export function planSummary(plan: Plan, faults: number): string {
  const counts = planCounts(plan);
  const parts = [
    part(counts.create, "to create"),
    part(counts.update, "to update", classCounts(plan)),
    part(counts.adopt, "to adopt"),
    part(counts.delete, "to delete"),
    part(counts.wait, "waiting"),
    part(counts.hold, "held"),
    part(counts.refuse, "refused"),
    part(counts.leave, "left alone"),
    part(counts.unchanged, "unchanged"),
    part(faults, faults === 1 ? "fault" : "faults"),
  ].filter((text) => text !== "");
  return parts.length > 0 ? parts.join(", ") : "nothing there, nothing to do";
}

function part(count: number, what: string, detail = ""): string {
  return count === 0 ? "" : `${count} ${what}${detail && ` (${detail})`}`;
}

function classCounts(plan: Plan): string {
  const counts = new Map<string, number>();
  for (const action of plan.actions) {
    if (action.kind !== "update") continue;
    const isMove = action.classes.length === 0 && action.changes.some(({ path }) => path === "path");
    for (const name of isMove ? ["moved"] : action.classes) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].map(([name, count]) => `${count} ${name}`).join(", ");
}
