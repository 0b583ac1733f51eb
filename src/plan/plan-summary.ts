import type { Plan } from "./action.ts";
import { planCounts } from "./plan-counts.ts";
import { buildCounts, NO_BUILDS, type PlannedBuilds } from "./planned-build.ts";

/** `1 to create, 2 to update (1 code, 1 configuration), 5 unchanged; builds: 1 append, 1 no build`. */
export function planSummary(plan: Plan, faults: number, builds: PlannedBuilds = NO_BUILDS): string {
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
  if (parts.length === 0) return "nothing there, nothing to do";
  return parts.join(", ") + (builds.size > 0 ? `; builds: ${buildCounts(builds)}` : "");
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
