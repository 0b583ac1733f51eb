import { createRequire } from "node:module";
import type { CronExpression } from "cron-parser";
import { type OffsetSpan, offsetSpans } from "./zone-offsets.ts";

/** The times at which a cron trigger fires. */
export interface CronSchedule {
  /** The first tick after an instant; undefined when there is none any more. */
  next(after: Date): Date | undefined;
  /** The last tick of `from` ≤ tick ≤ `to`. */
  latest(from: Date, to: Date): Date | undefined;
}

const MACROS: Readonly<Record<string, string>> = {
  "@hourly": "0 * * * *",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@weekly": "0 0 * * 0",
  "@monthly": "0 0 1 * *",
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
};
const FIELD = "[0-9A-Za-z*?,/#-]+";
/** The form of a schedule: five fields or a macro. */
export const SCHEDULE_PATTERN = `^(${Object.keys(MACROS).join("|")}|${FIELD}( +${FIELD}){4})$`;
const FORM = 'write minute hour day month weekday, for example "*/15 8-17 * * 1-5", or @hourly and the like';
const MINUTE_MS = 60_000;
const HOURS_OF_DAY = 24;
/** No zone's clocks ever jumped farther. */
const LONGEST_JUMP_MS = 26 * 60 * MINUTE_MS;
/** Spans that are looked through for a tick: changes of offset of more years than lie between two leap days. */
const SPANS_MAX = 200;

/**
 * Reads a schedule of five fields (or a macro) in a time zone, as cron-parser does: lists, ranges, steps, names, `L`
 * for the last day, `5#3` for the third Friday; a day counts when the day of the month or the weekday fits, if both
 * are given.
 *
 * On days when the clocks change, a time of day fires once: one that is skipped at the same distance from midnight as
 * ever (02:30 at 03:30), one that comes twice the first time, as RFC 5545 §3.3.5 reads such times. A schedule of every
 * hour goes on with the hours that pass.
 *
 * @throws Error for what `scheduleFault` or `timeZoneFault` find fault with
 */
export function cronSchedule(schedule: string, timeZone = "UTC"): CronSchedule {
  const wall = wallClock(parse(schedule));
  const spanOf = offsetSpans(timeZone);
  spanOf(0);
  const next = (after: number): number | undefined => {
    let at = after;
    for (let spans = 0; spans < SPANS_MAX; spans += 1) {
      // Where the search begins: the millisecond after.
      const span = spanOf(at + 1);
      const tick = wall.everyHour ? steadyTick(wall, span, at) : fixedTick(wall, span, at);
      if (tick === undefined || tick < span.end) return tick;
      // Straight to where the tick may be: years may lie between.
      at = Math.max(span.end - 1, tick - LONGEST_JUMP_MS);
    }
    return undefined;
  };
  return {
    next: (after) => dateOf(next(after.getTime())),
    latest: (from, to) => dateOf(latest(next, from.getTime(), to.getTime())),
  };
}

/** Why a text is no schedule, and what to write; undefined when it is one that fires. Pure. */
export function scheduleFault(schedule: string): string | undefined {
  const form = formFault(schedule);
  if (form !== undefined) return form;
  try {
    const fires = wallClock(parse(schedule)).next(0) !== undefined;
    return fires ? undefined : neverFires(schedule);
  } catch (error) {
    const { message } = error as Error;
    if (/explicit day of month/.test(message)) return neverFires(schedule);
    const cause = message.replace(/^(Constraint|Validation) error, /, "").replace(/\.$/, "");
    return `${JSON.stringify(schedule)} is no schedule (${cause}); ${FORM}`;
  }
}

function neverFires(schedule: string): string {
  return `${JSON.stringify(schedule)} never fires, for no such day exists; correct the day or the month`;
}

function formFault(schedule: string): string | undefined {
  if (schedule.startsWith("@"))
    return Object.hasOwn(MACROS, schedule)
      ? undefined
      : `${JSON.stringify(schedule)} is none of ${Object.keys(MACROS).join(", ")}; use one of them, or five fields`;
  const fields = schedule.trim().split(/\s+/);
  if (fields.length === 6) return `${JSON.stringify(schedule)} has six fields, and there are no seconds here; ${FORM}`;
  if (fields.length !== 5) return `${JSON.stringify(schedule)} has ${fields.length} of five fields; ${FORM}`;
  if (!new RegExp(SCHEDULE_PATTERN).test(schedule)) return `${JSON.stringify(schedule)} is no schedule; ${FORM}`;
  // cron-parser draws a random value for it at every reading.
  return fields.some((field) => /(^|,)h(\/|,|$)/i.test(field))
    ? `${JSON.stringify(schedule)} holds H, which is not supported; ${FORM}`
    : undefined;
}

function parse(schedule: string): CronExpression {
  // Loaded when the first schedule is read: most commands never need it.
  const { CronExpressionParser } = createRequire(import.meta.url)("cron-parser") as typeof import("cron-parser");
  return CronExpressionParser.parse(MACROS[schedule] ?? schedule, { tz: "UTC", currentDate: 0 });
}

/** A schedule on a wall clock that is never changed: times are milliseconds of an imagined UTC. */
interface WallClock {
  readonly everyHour: boolean;
  next(after: number): number | undefined;
}

function wallClock(expression: CronExpression): WallClock {
  return {
    everyHour: expression.fields.hour.values.length === HOURS_OF_DAY,
    next(after) {
      expression.reset(new Date(after));
      try {
        return expression.next().getTime();
      } catch {
        return undefined;
      }
    },
  };
}

function steadyTick(wall: WallClock, { offset }: OffsetSpan, after: number): number | undefined {
  const time = wall.next(after + offset);
  return time === undefined ? undefined : time - offset;
}

/** Times that the wall showed before the change that began this span are over; skipped ones come as if it had not been. */
function fixedTick(wall: WallClock, span: OffsetSpan, after: number): number | undefined {
  const { start, offset, offsetBefore } = span;
  const firstNewTime = start + Math.max(offset, offsetBefore);
  const time = wall.next(Math.max(after + offset, firstNewTime - 1));
  const tick = time === undefined ? undefined : time - offset;
  if (offsetBefore >= offset) return tick;
  const skipped = wall.next(Math.max(after, start - 1) + offsetBefore);
  if (skipped === undefined || skipped >= firstNewTime) return tick;
  return Math.min(tick ?? Number.POSITIVE_INFINITY, skipped - offsetBefore);
}

/** Looks back in growing steps, so that hours without a process cost no walk through every minute of them. */
function latest(next: (after: number) => number | undefined, from: number, to: number): number | undefined {
  for (let back = MINUTE_MS; ; back *= 2) {
    const start = Math.max(to - back, from - 1);
    let tick = next(start);
    if (tick !== undefined && tick <= to) {
      for (let later = next(tick); later !== undefined && later <= to; later = next(later)) tick = later;
      return tick;
    }
    if (start < from) return undefined;
  }
}

function dateOf(instant: number | undefined): Date | undefined {
  return instant === undefined ? undefined : new Date(instant);
}
