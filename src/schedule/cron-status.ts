import {
  type ConditionUpdate,
  conditionsAfter,
  findCondition,
  type ObjectOf,
  type TriggerStatus,
  withOutlook,
} from "../apis/index.ts";
import { endUnknown } from "./call-tick.ts";
import type { TickDecision } from "./decide-tick.ts";
import type { EndedCall } from "./tick-calls.ts";

/** The condition that tells how the call of `lastScheduleTime` ended: Unknown while it is under way. */
export const LAST_CALL = "LastCall";
const RUNNING = "Running";

/** What a status is made of. */
export interface CronFacts {
  readonly now: Date;
  /** Why it calls nobody, or that it does. */
  readonly ready: ConditionUpdate;
  /** Undefined when it calls nobody. */
  readonly decision: TickDecision | undefined;
  readonly calls: { readonly running: readonly string[]; readonly ended: EndedCall | undefined };
  readonly warm: boolean;
}

/** The status of a cron trigger; with a tick to fire it is the claim of it. Pure. */
export function cronStatus(trigger: ObjectOf<"Trigger">, facts: CronFacts): TriggerStatus {
  const { now, ready, decision, warm } = facts;
  const observedGeneration = trigger.metadata.generation;
  const fire = decision?.fire && timeText(decision.fire);
  const lastCall = fire === undefined ? lastCallAfter(trigger, facts) : callOf(fire);
  // A claim begins a time of its own, also when the end of the last call was unknown.
  const before = trigger.status?.conditions?.filter(({ type }) => fire === undefined || type !== LAST_CALL);
  const lastScheduleTime = fire ?? trigger.status?.lastScheduleTime;
  return {
    observedGeneration,
    active: decision !== undefined,
    ...(lastScheduleTime !== undefined && { lastScheduleTime }),
    ...(decision?.next && { nextScheduleTime: timeText(decision.next) }),
    ...(warm && { warm }),
    conditions: conditionsAfter(
      before,
      [
        ...withOutlook(
          { ...ready, observedGeneration },
          ready.reason === "ScheduleInvalid" ? "Stalled" : "Reconciling",
        ),
        ...(lastCall ? [{ ...lastCall, observedGeneration }] : []),
      ],
      now.toISOString(),
    ),
  };
}

function callOf(tick: string): ConditionUpdate {
  return {
    type: LAST_CALL,
    status: "Unknown",
    reason: RUNNING,
    message: `The call of the tick of ${tick} is under way.`,
  };
}

/** How the call of the last claimed tick ended, as far as this process or the status knows. */
function lastCallAfter({ status }: ObjectOf<"Trigger">, { calls }: CronFacts): ConditionUpdate | undefined {
  const before = findCondition(status?.conditions, LAST_CALL);
  const tick = status?.lastScheduleTime;
  if (!before || tick === undefined) return undefined;
  const { type, status: known, reason, message } = before;
  if (calls.ended?.tick === tick) return { type, ...calls.ended.outcome };
  if (reason !== RUNNING || calls.running.includes(tick)) return { type, status: known, reason, message };
  const orphan = `The tick of ${tick} was claimed and its call's end is unknown: the process that made it ended, or lost its leadership. It is not called again.`;
  return { type, ...endUnknown(orphan) };
}

/**
 * A call that another process made may still be under way: its end is unknown, and its time limit (seconds, 0 = none
 * that we could wait for) has not run out. Pure.
 */
export function mayRunElsewhere({ status }: ObjectOf<"Trigger">, timeoutSec: number, now: Date): boolean {
  const lastCall = findCondition(status?.conditions, LAST_CALL);
  if (lastCall?.status !== "Unknown" || timeoutSec === 0) return false;
  return now.getTime() < Date.parse(lastCall.lastTransitionTime) + timeoutSec * 1_000;
}

/** RFC 3339 in whole seconds, as Kubernetes writes times. */
export function timeText(time: Date): string {
  return time.toISOString().replace(/\.\d{3}Z$/, "Z");
}
