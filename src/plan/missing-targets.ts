import { type AnyObject, type Kind, refOf, refText } from "../apis/index.ts";
import { type Plan, refOfAction } from "./action.ts";
import type { DesiredObject } from "./desired-state.ts";

/** What is no fault of a manifest, and yet may not be meant. */
export interface PlanWarning {
  /** Of the manifest, below the repository's root. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/**
 * Triggers and jobs of a plan whose function will not be there when it is applied. Pure.
 *
 * @param live all of the namespace; undefined = not known, then only the plan tells what is there
 */
export function missingTargets(plan: Plan, live?: readonly AnyObject[]): PlanWarning[] {
  const there = new Set(live?.map((object) => refText(refOf(object))));
  for (const action of plan.actions) {
    const ref = refText(refOfAction(action));
    const isGone = action.kind === "delete" || (action.kind === "leave" && !action.live);
    if (isGone) there.delete(ref);
    else there.add(ref);
  }
  const where = live ? "neither the repository nor the namespace has one" : "no manifest here has one";
  return plan.actions.flatMap((action) => {
    if (!("desired" in action) || action.kind === "refuse") return [];
    const { kind, name } = refOf(action.desired.intent);
    const target = targetOf(action.desired);
    if (!target || target.kinds.some((one) => there.has(refText({ ...target, kind: one })))) return [];
    const { file, line, column } = action.desired;
    const what = `${kind} ${name} calls ${target.kinds.join(" or ")} ${target.name}`;
    return [{ file, line, column, message: `${what}, but ${where}; it goes on by itself once there is one` }];
  });
}

interface Target {
  readonly kinds: readonly Kind[];
  readonly namespace: string;
  readonly name: string;
}

/** What an object names in `functionRef`: a job runs Functions alone. */
function targetOf({ intent: { kind, metadata, spec } }: DesiredObject): Target | undefined {
  const { functionRef } = spec as { functionRef?: string };
  if (functionRef === undefined) return undefined;
  const kinds: readonly Kind[] = kind === "Trigger" ? ["Function", "Service"] : ["Function"];
  return { kinds, namespace: metadata.namespace, name: functionRef };
}
