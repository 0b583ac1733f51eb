import { type ConditionUpdate, type ObjectKey, type ObjectOf, refOf, type TriggerStatus } from "../apis/index.ts";
import type { ControllerLog, Informer, Next, TimerClock } from "../controller/index.ts";
import type { Reporter } from "../report/index.ts";
import type { ResourceStore } from "../resources/index.ts";
import { createCronNews } from "./cron-news.ts";
import { cronStatus, mayRunElsewhere, timeText } from "./cron-status.ts";
import { decideTick, type TickDecision } from "./decide-tick.ts";
import type { DueAlarm } from "./due-alarm.ts";
import type { ReadSchedule } from "./schedule-cache.ts";
import type { EndedCall, TickCalls } from "./tick-calls.ts";

type Trigger = ObjectOf<"Trigger">;
type Target = ObjectOf<"Function"> | ObjectOf<"Service">;

export interface CronDeps {
  readonly store: Pick<ResourceStore, "updateStatus">;
  readonly triggers: Pick<Informer<"Trigger">, "get" | "observe">;
  readonly alarm: DueAlarm;
  readonly calls: TickCalls;
  readonly clock: TimerClock;
  readonly report: Reporter;
  readonly log: ControllerLog;
  readonly startingDeadlineMs: number;
  /** The Function or Service of that name, unless it is being deleted. */
  targetOf(key: ObjectKey): Target | undefined;
  readSchedule(trigger: Trigger): ReadSchedule;
  /** Claims no tick any more. */
  isStopping(): boolean;
}

const DEFAULT_FUNCTION_TIMEOUT_SEC = 30;
const READY = "Ready";

/**
 * Reconciles a cron trigger: claims the tick that is due by writing it into the status in the version that was read,
 * and only then calls. Whoever reads an older version, or claims at the same time, writes nothing and calls nobody.
 * One write claims, one tells how the call ended; a look in between writes nothing.
 */
export function createCronReconciler(deps: CronDeps): (key: string) => Promise<Next> {
  const news = createCronNews(deps.report);
  return async (key) => {
    const trigger = deps.triggers.get(key);
    if (trigger?.spec.type !== "cron" || trigger.metadata.deletionTimestamp !== undefined) {
      deps.alarm.cancel(key);
      deps.calls.forget(key);
      news.forget(key);
      return { kind: "done" };
    }
    const seen = look(trigger, deps);
    if (deps.isStopping() && !seen.ended) return { kind: "done" };
    setAlarm(key, seen, deps);
    const written = await deps.store.updateStatus<"Trigger">(trigger, seen.status);
    deps.triggers.observe(written);
    if (seen.decision?.fire && seen.target)
      deps.calls.start(written, refOf<"Function" | "Service">(seen.target), timeText(seen.decision.fire));
    if (seen.ended) deps.calls.told(key, seen.ended);
    news.tell(trigger, written, seen);
    return { kind: "done" };
  };
}

/** What a look at a trigger came to. */
interface Seen {
  readonly now: Date;
  readonly target: Target | undefined;
  /** Undefined when it calls nobody. */
  readonly decision: TickDecision | undefined;
  readonly status: TriggerStatus;
  /** A call of it that ended since the last look. */
  readonly ended: EndedCall | undefined;
  /** When its target is to be started for the next tick; undefined when it is not. */
  readonly warmFrom: Date | undefined;
}

function look(trigger: Trigger, deps: CronDeps): Seen {
  const now = deps.clock.now();
  const { namespace } = trigger.metadata;
  const target = deps.targetOf({ namespace, name: trigger.spec.functionRef });
  const read = deps.readSchedule(trigger);
  const ready = readyOf(trigger, target, read);
  const calls = { running: deps.calls.running(trigger), ended: deps.calls.ended(trigger) };
  const underWay =
    calls.running.length > 0 || (calls.ended === undefined && mayRunElsewhere(trigger, timeoutOf(target), now));
  const isActive = ready.reason === "Active" && "schedule" in read;
  const facts = { now, underWay, startingDeadlineMs: deps.startingDeadlineMs };
  const decided = isActive ? decideTick(trigger, { ...facts, schedule: read.schedule }) : undefined;
  const decision = decided && deps.isStopping() ? unclaimed(trigger, decided) : decided;
  const warmFrom = warmFromOf(trigger, target, decision);
  const isCalling = calls.running.length > 0 || decision?.fire !== undefined;
  const warm = isStoppedTarget(trigger, target) && (isCalling || (warmFrom !== undefined && warmFrom <= now));
  const status = cronStatus(trigger, { now, ready, decision, calls, warm });
  return { now, target, decision, warmFrom, status, ended: calls.ended };
}

/** A process that stops leaves the ticks that are due to the one after it. */
function unclaimed({ status }: Trigger, { next }: TickDecision): TickDecision {
  return { next: status?.nextScheduleTime === undefined ? next : new Date(status.nextScheduleTime) };
}

function setAlarm(key: string, { now, decision, warmFrom }: Seen, { alarm }: CronDeps): void {
  const next = warmFrom && warmFrom > now ? warmFrom : decision?.next;
  if (next) alarm.set(key, next);
  else alarm.cancel(key);
}

function readyOf({ spec }: Trigger, target: Target | undefined, read: ReadSchedule): ConditionUpdate {
  if ("fault" in read)
    return {
      type: READY,
      status: "False",
      reason: "ScheduleInvalid",
      message: `The schedule cannot be kept: ${read.fault}.`,
    };
  if (!target) {
    const message = `No Function or Service ${spec.functionRef} exists in this namespace; it goes on by itself once there is one.`;
    return { type: READY, status: "False", reason: "FunctionNotFound", message };
  }
  if (spec.enabled === false)
    return { type: READY, status: "True", reason: "Disabled", message: "It is disabled; no call arrives through it." };
  return { type: READY, status: "True", reason: "Active", message: `It calls ${spec.functionRef} on schedule.` };
}

function isStoppedTarget({ spec }: Trigger, target: Target | undefined): boolean {
  return spec.preWarmSeconds !== undefined && target?.spec.replicas === 0;
}

function warmFromOf(
  trigger: Trigger,
  target: Target | undefined,
  decision: TickDecision | undefined,
): Date | undefined {
  if (!decision?.next || !isStoppedTarget(trigger, target)) return undefined;
  return new Date(decision.next.getTime() - trigger.spec.preWarmSeconds! * 1_000);
}

function timeoutOf(target: Target | undefined): number {
  return target?.spec.timeoutSec ?? (target?.kind === "Function" ? DEFAULT_FUNCTION_TIMEOUT_SEC : 0);
}
