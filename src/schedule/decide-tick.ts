import type { CronSchedule, ObjectOf } from "../apis/index.ts";

/** What of the world decides about a tick. */
export interface TickFacts {
  readonly now: Date;
  readonly schedule: CronSchedule;
  /** A call of this trigger is under way, as far as anybody knows. */
  readonly underWay: boolean;
  /** A tick that is older than this is not made up for. */
  readonly startingDeadlineMs: number;
}

export interface TickDecision {
  /** The tick to claim and fire now. */
  readonly fire?: Date;
  /** Ticks from here on were not fired in time and are left out; `fire` or the last one of them is the latest. */
  readonly missed?: Date;
  /** The tick that is left out because of `concurrencyPolicy: Forbid`. */
  readonly skipped?: Date;
  /** The tick after all of these. */
  readonly next: Date | undefined;
}

/**
 * What is to be done of an enabled cron trigger now: the latest tick that is due is fired, older ones never; nothing
 * at or before `lastScheduleTime` is ever fired, whatever the clock says. A tick is due when `nextScheduleTime`, which
 * the status keeps over restarts, has come; of an object that was never looked at, ticks since its creation are. Pure.
 */
export function decideTick(trigger: ObjectOf<"Trigger">, facts: TickFacts): TickDecision {
  const { now, schedule, underWay, startingDeadlineMs } = facts;
  const last = timeOf(trigger.status?.lastScheduleTime);
  const first = firstDue(trigger, last, facts);
  const tick = first && schedule.latest(first, now);
  const next = schedule.next(latestOf(now, last, tick));
  if (!first || !tick) return { next };
  if (now.getTime() - tick.getTime() > startingDeadlineMs) return { missed: first, next };
  const missed = tick > first && { missed: first };
  if (underWay && trigger.spec.concurrencyPolicy === "Forbid") return { skipped: tick, next, ...missed };
  return { fire: tick, next, ...missed };
}

/** The first tick since the last look that has come; undefined when none has. */
function firstDue(
  { metadata, status }: ObjectOf<"Trigger">,
  last: Date | undefined,
  { now, schedule }: TickFacts,
): Date | undefined {
  const isUnseen = status?.observedGeneration === undefined;
  const due =
    timeOf(status?.nextScheduleTime) ?? (isUnseen ? schedule.next(new Date(metadata.creationTimestamp)) : undefined);
  if (!due || due > now) return undefined;
  // The tick of a schedule that was changed since: the new one begins now.
  if (schedule.latest(due, due) === undefined) return undefined;
  const first = last && due <= last ? schedule.next(last) : due;
  return first && first <= now ? first : undefined;
}

export function timeOf(text: string | undefined): Date | undefined {
  return text === undefined ? undefined : new Date(text);
}

function latestOf(first: Date, ...others: readonly (Date | undefined)[]): Date {
  return others.reduce<Date>((latest, time) => (time && time > latest ? time : latest), first);
}
