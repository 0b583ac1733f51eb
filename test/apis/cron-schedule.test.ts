import fc from "fast-check";
import { expect, it } from "vitest";
import { cronSchedule, scheduleFault, timeZoneFault } from "../../src/apis/index.ts";

/** The ticks after an instant, `MM-DDTHH:MM` in UTC, each asked for anew. */
function ticks(schedule: string, timeZone: string, after: string, count = 3): string[] {
  const told: string[] = [];
  let at = new Date(after);
  for (let n = 0; n < count; n += 1) {
    // Read anew each time, as a process does that was just started.
    at = cronSchedule(schedule, timeZone).next(at)!;
    told.push(at.toISOString().slice(5, 16));
  }
  return told;
}

const plain = {
  "every fifteen minutes": ["*/15 * * * *", "2026-01-01T00:07:00Z", ["01-01T00:15", "01-01T00:30", "01-01T00:45"]],
  "a tick is never its own successor": [
    "0 * * * *",
    "2026-01-01T01:00:00Z",
    ["01-01T02:00", "01-01T03:00", "01-01T04:00"],
  ],
  "a millisecond before the tick": [
    "0 * * * *",
    "2026-01-01T00:59:59.999Z",
    ["01-01T01:00", "01-01T02:00", "01-01T03:00"],
  ],
  "@hourly": ["@hourly", "2026-01-01T00:00:00Z", ["01-01T01:00", "01-01T02:00", "01-01T03:00"]],
  "@midnight": ["@midnight", "2026-01-01T00:00:00Z", ["01-02T00:00", "01-03T00:00", "01-04T00:00"]],
  "workdays by name": ["0 9 * * MON-FRI", "2026-01-02T10:00:00Z", ["01-05T09:00", "01-06T09:00", "01-07T09:00"]],
  "0 and 7 are Sunday": ["0 0 * * 7", "2026-01-01T00:00:00Z", ["01-04T00:00", "01-11T00:00", "01-18T00:00"]],
  "the last day of the month": ["0 0 L * *", "2026-01-15T00:00:00Z", ["01-31T00:00", "02-28T00:00", "03-31T00:00"]],
  "the third Friday": ["0 0 * * 5#3", "2026-01-01T00:00:00Z", ["01-16T00:00", "02-20T00:00", "03-20T00:00"]],
  "the day of the month or the weekday, if both are given": [
    "0 0 13 * 5",
    "2026-01-03T00:00:00Z",
    ["01-09T00:00", "01-13T00:00", "01-16T00:00"],
  ],
  "a leap day over a century's end": [
    "0 0 29 2 *",
    "2096-03-01T00:00:00Z",
    ["02-29T00:00", "02-29T00:00", "02-29T00:00"],
  ],
} as const;

it.each(Object.entries(plain))("%s", (_name, [schedule, after, expected]) => {
  expect(ticks(schedule, "UTC", after)).toEqual(expected);
});

// In 2026: Berlin changes on 29 March and 25 October at 01:00Z, New York on 8 March at 07:00Z and 1 November at 06:00Z,
// Lord Howe by half an hour on 4 October, Beirut at midnight on 29 March.
const changes = {
  "spring, Berlin: a time that is skipped fires once, an hour later on the wall": [
    ["30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z"],
    ["03-29T01:30", "03-30T00:30", "03-31T00:30"],
  ],
  "spring, Berlin: of two times that meet, one tick is left": [
    ["30 2,3 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z"],
    ["03-29T01:30", "03-30T00:30", "03-30T01:30"],
  ],
  "spring, Berlin: every skipped time of the hour fires": [
    ["*/30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z"],
    ["03-29T01:00", "03-29T01:30", "03-30T00:00"],
  ],
  "spring, Berlin: an hourly schedule goes on": [
    ["30 * * * *", "Europe/Berlin", "2026-03-29T00:00:00Z"],
    ["03-29T00:30", "03-29T01:30", "03-29T02:30"],
  ],
  "spring, New York": [
    ["30 2 * * *", "America/New_York", "2026-03-07T12:00:00Z"],
    ["03-08T07:30", "03-09T06:30", "03-10T06:30"],
  ],
  "spring, Lord Howe, by half an hour": [
    ["15 2 * * *", "Australia/Lord_Howe", "2026-10-03T00:00:00Z"],
    ["10-03T15:45", "10-04T15:15", "10-05T15:15"],
  ],
  "spring, Beirut, where midnight is skipped": [
    ["0 0 * * *", "Asia/Beirut", "2026-03-28T12:00:00Z"],
    ["03-28T22:00", "03-29T21:00", "03-30T21:00"],
  ],
  "autumn, Berlin: a time that comes twice fires the first time": [
    ["30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z"],
    ["10-25T00:30", "10-26T01:30", "10-27T01:30"],
  ],
  "autumn, Berlin: asked between the two times, nothing is left of the day": [
    ["30 2 * * *", "Europe/Berlin", "2026-10-25T00:45:00Z"],
    ["10-26T01:30", "10-27T01:30", "10-28T01:30"],
  ],
  "autumn, Berlin: an hourly schedule fires in both": [
    ["30 * * * *", "Europe/Berlin", "2026-10-25T00:00:00Z"],
    ["10-25T00:30", "10-25T01:30", "10-25T02:30"],
  ],
  "autumn, Berlin: every second hour counts the wall's hours": [
    ["0 */2 * * *", "Europe/Berlin", "2026-10-24T23:00:00Z"],
    ["10-25T00:00", "10-25T03:00", "10-25T05:00"],
  ],
  "autumn, New York": [
    ["30 1 * * *", "America/New_York", "2026-10-31T12:00:00Z"],
    ["11-01T05:30", "11-02T06:30", "11-03T06:30"],
  ],
} as const;

it.each(Object.entries(changes))("%s", (_name, [[schedule, timeZone, after], expected]) => {
  expect(ticks(schedule, timeZone, after)).toEqual(expected);
});

const MINUTE_MS = 60_000;
const DAY_MINUTES = 1_440;

/** All ticks of some days by their definition: minute by minute, as Temporal reads times of a wall clock. */
function ticksByDefinition(minutes: number[], hours: number[], timeZone: string, day: Temporal.PlainDate): number[] {
  const everyHour = hours.length === 24;
  const found = new Set<number>();
  for (let n = 0; n < 5 * DAY_MINUTES; n += 1) {
    const wall = day.toPlainDateTime().add({ minutes: n });
    if (!minutes.includes(wall.minute) || !hours.includes(wall.hour)) continue;
    const earlier = wall.toZonedDateTime(timeZone, { disambiguation: "earlier" });
    const later = wall.toZonedDateTime(timeZone, { disambiguation: "later" });
    const isSkipped = !earlier.toPlainDateTime().equals(wall);
    if (!everyHour) found.add((isSkipped ? later : earlier).epochMilliseconds);
    else if (!isSkipped) found.add(earlier.epochMilliseconds).add(later.epochMilliseconds);
  }
  return [...found].sort((a, b) => a - b);
}

const someOf = (max: number) =>
  fc.oneof(fc.uniqueArray(fc.integer({ min: 0, max }), { minLength: 1, maxLength: 4 }), fc.constant(range(max + 1)));
const range = (length: number) => Array.from({ length }, (_, n) => n);
const changeDays = fc.constantFrom(
  ["Europe/Berlin", "2026-03-28"],
  ["Europe/Berlin", "2026-10-24"],
  ["America/New_York", "2026-03-07"],
  ["America/New_York", "2026-10-31"],
  ["Australia/Lord_Howe", "2026-10-02"],
  ["Australia/Lord_Howe", "2026-04-03"],
  ["America/Santiago", "2026-09-04"],
  ["Asia/Beirut", "2026-03-27"],
  ["Asia/Kolkata", "2026-05-01"],
  ["Pacific/Apia", "2011-12-28"],
);

it("around every change of the clocks the ticks are those of the definition, wherever one starts", () => {
  fc.assert(
    fc.property(
      changeDays,
      someOf(59),
      someOf(23),
      fc.integer({ min: DAY_MINUTES, max: 3 * DAY_MINUTES }),
      ([timeZone, first], minutes, hours, start) => {
        const day = Temporal.PlainDate.from(first!);
        const from = day.toZonedDateTime(timeZone!).epochMilliseconds + start * MINUTE_MS;
        const schedule = cronSchedule(`${minutes.join(",")} ${hours.join(",")} * * *`, timeZone);
        const expected = ticksByDefinition(minutes, hours, timeZone!, day)
          .filter((tick) => tick > from)
          .slice(0, 5);
        let at = new Date(from);
        for (const tick of expected) {
          at = schedule.next(at)!;
          expect(at.toISOString()).toBe(new Date(tick).toISOString());
        }
      },
    ),
    { numRuns: 60 },
  );
});

it("the latest tick of a stretch of time is the last that next would come to", () => {
  const schedules = ["* * * * *", "*/7 * * * *", "30 2 * * *", "@hourly", "0 0 1 * *"].map((text) =>
    cronSchedule(text, "Europe/Berlin"),
  );
  const start = Date.parse("2026-03-28T00:00:00Z");
  const minutes = fc.integer({ min: 0, max: 3 * DAY_MINUTES });
  fc.assert(
    fc.property(fc.constantFrom(...schedules), minutes, minutes, (schedule, begin, length) => {
      const from = new Date(start + begin * MINUTE_MS);
      const to = new Date(from.getTime() + (length % 300) * MINUTE_MS);
      let last: Date | undefined;
      let tick = schedule.next(new Date(from.getTime() - 1));
      for (; tick && tick <= to; tick = schedule.next(tick)) last = tick;
      expect(schedule.latest(from, to)).toEqual(last);
    }),
    { numRuns: 100 },
  );
});

it.each([
  ["* * * *", /has 4 of five fields; write minute hour day month weekday/],
  ["* * * * * *", /six fields, and there are no seconds here/],
  ["* * * * * * *", /has 7 of five fields/],
  ["60 * * * *", /is no schedule \(got value 60 expected range 0-59\); write/],
  ["*/0 * * * *", /cannot repeat at every 0 time\)/],
  ["5-1 * * * *", /Invalid range/],
  ["a b c d e", /Invalid characters/],
  ["0 0 * * $(id)", /is no schedule; write/],
  ["H * * * *", /holds H, which is not supported/],
  ["H/5 * * * *", /holds H, which is not supported/],
  ["@reboot", /is none of @hourly, @daily/],
  ["@every 5m", /is none of @hourly, @daily/],
  ["@secondly", /is none of @hourly, @daily/],
  ["0 0 30 2 *", /never fires, for no such day exists; correct the day or the month/],
  ["0 0 31 4,6,9,11 *", /never fires/],
])("%s is refused and told what to write", (schedule, expected) => {
  expect(scheduleFault(schedule)).toMatch(expected);
});

it.each(["@daily", "*/5 * * * *", "0 0 31 2 1", "0 0 29 2 *", "0 0 * * THU", "0 0 * MAR *", "0  0 * * *"])(
  "%s is a schedule",
  (schedule) => {
    expect(scheduleFault(schedule)).toBeUndefined();
  },
);

it.each([
  ["Europe/Pariss", /did you mean Europe\/Paris\?/],
  ["Mars/Phobos", /is no time zone; write an IANA name such as Europe\/Paris/],
  ["+03:00", /is no time zone/],
  ["Local", /is no time zone/],
  [" UTC", /is no time zone/],
])("%j is no time zone", (timeZone, expected) => {
  expect(timeZoneFault(timeZone)).toMatch(expected);
});

it.each(["UTC", "Europe/Paris", "America/Argentina/Buenos_Aires", "Etc/GMT+5"])("%s is a time zone", (timeZone) => {
  expect(timeZoneFault(timeZone)).toBeUndefined();
});
