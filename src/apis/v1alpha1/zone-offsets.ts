import { nearestName } from "./nearest-name.ts";

/** A stretch of time in which a zone's clocks keep one distance from UTC. All in milliseconds. */
export interface OffsetSpan {
  /** First instant of it. */
  readonly start: number;
  /** First instant after it. The next span may have the same offset: none is longer than is looked ahead. */
  readonly end: number;
  /** What is added to UTC for the time on the wall. */
  readonly offset: number;
  /** The same before `start`. */
  readonly offsetBefore: number;
}

const DAY_MS = 86_400_000;
const LOOK_AHEAD_MS = 32 * DAY_MS;
/** No zone ever changed its offset and changed it back within so short a time. */
const STEP_MS = 4 * DAY_MS;
/** A change that is older says nothing about times of now: no zone's clocks ever jumped by so much. */
const LOOK_BACK_MS = 2 * DAY_MS;

/** Finds the span of an instant; the last one found is kept, for the next question is mostly about it too. */
export function offsetSpans(timeZone: string): (instant: number) => OffsetSpan {
  const offsetAt = offsets(timeZone);
  let span: OffsetSpan | undefined;
  return (instant) => {
    if (!span || instant < span.start || instant >= span.end) span = spanOf(offsetAt, instant);
    return span;
  };
}

function spanOf(offsetAt: (instant: number) => number, instant: number): OffsetSpan {
  const offset = offsetAt(instant);
  const end = nextChange(offsetAt, instant, instant + LOOK_AHEAD_MS) ?? instant + LOOK_AHEAD_MS;
  const offsetBefore = offsetAt(instant - LOOK_BACK_MS);
  const start = offsetBefore === offset ? instant : nextChange(offsetAt, instant - LOOK_BACK_MS, instant)!;
  return { start, end, offset, offsetBefore };
}

/** The first instant of `from` < instant ≤ `to` with another offset than at `from`. */
function nextChange(offsetAt: (instant: number) => number, from: number, to: number): number | undefined {
  const offset = offsetAt(from);
  for (let low = from; low < to; low += STEP_MS) {
    let high = Math.min(low + STEP_MS, to);
    if (offsetAt(high) === offset) continue;
    for (let same = low; high - same > 1; ) {
      const middle = Math.floor((same + high) / 2);
      if (offsetAt(middle) === offset) same = middle;
      else high = middle;
    }
    return high;
  }
  return undefined;
}

/** Offsets by Intl: Temporal, which would tell the changes too, is not in every Node that runs us. */
function offsets(timeZone: string): (instant: number) => number {
  const format = formatOf(timeZone);
  return (instant) => {
    // "3/29/2026, 03:30:00"
    const [month, day, year, hour, minute, second] = format.format(instant).split(/\D+/).map(Number);
    const wall = Date.UTC(year!, month! - 1, day, hour, minute, second);
    return wall - Math.floor(instant / 1_000) * 1_000;
  };
}

const FORMATS_MAX = 1_000;
const formats = new Map<string, Intl.DateTimeFormat>();

/** Each takes longer to make than a thousand uses of it. @throws RangeError for what is no time zone */
function formatOf(timeZone: string): Intl.DateTimeFormat {
  const numeric = { year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric" } as const;
  const format =
    formats.get(timeZone) ??
    new Intl.DateTimeFormat("en-US", { timeZone, hourCycle: "h23", second: "numeric", ...numeric });
  if (formats.size >= FORMATS_MAX) formats.clear();
  formats.set(timeZone, format);
  return format;
}

/** The form of IANA names; offsets such as +03:00, which know no daylight-saving time, have another. */
export const TIME_ZONE_PATTERN = "^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$";
const timeZonePattern = new RegExp(TIME_ZONE_PATTERN);

/** Why a text names no time zone, and what to write; undefined when it does. Pure. */
export function timeZoneFault(timeZone: string): string | undefined {
  if (timeZonePattern.test(timeZone) && isKnown(timeZone)) return undefined;
  const near = nearestName(timeZone, Intl.supportedValuesOf("timeZone"));
  return `${JSON.stringify(timeZone)} is no time zone; ${near ? `did you mean ${near}?` : "write an IANA name such as Europe/Paris, or leave it out for UTC"}`;
}

function isKnown(timeZone: string): boolean {
  try {
    formatOf(timeZone);
    return true;
  } catch {
    return false;
  }
}
