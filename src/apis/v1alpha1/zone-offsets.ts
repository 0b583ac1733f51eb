import { nearestName } from "./nearest-name.ts";

/** A stretch of time in which a zone's clocks keep one distance from UTC. All in milliseconds. */
export interface OffsetSpan {
  /** First instant of it; -Infinity where the zone's history begins. */
  readonly start: number;
  /** First instant after it; Infinity when no change is known. */
  readonly end: number;
  /** What is added to UTC for the time on the wall. */
  readonly offset: number;
  /** The same before `start`. */
  readonly offsetBefore: number;
}

const NS_PER_MS = 1e6;

/** Finds the span of an instant; the last one found is kept, for the next question is mostly about it too. */
export function offsetSpans(timeZone: string): (instant: number) => OffsetSpan {
  let span: OffsetSpan | undefined;
  return (instant) => {
    if (!span || instant < span.start || instant >= span.end) span = spanOf(timeZone, instant);
    return span;
  };
}

function spanOf(timeZone: string, instant: number): OffsetSpan {
  const at = (ms: number) => Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timeZone);
  const offsetAt = (ms: number) => at(ms).offsetNanoseconds / NS_PER_MS;
  // "previous" is strictly before: a change at this very instant begins this span.
  const start = at(instant + 1).getTimeZoneTransition("previous")?.epochMilliseconds ?? Number.NEGATIVE_INFINITY;
  const end = at(instant).getTimeZoneTransition("next")?.epochMilliseconds ?? Number.POSITIVE_INFINITY;
  const offset = offsetAt(instant);
  return { start, end, offset, offsetBefore: Number.isFinite(start) ? offsetAt(start - 1) : offset };
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
    new Intl.DateTimeFormat("en", { timeZone });
    return true;
  } catch {
    return false;
  }
}
