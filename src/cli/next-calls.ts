import { cronSchedule, type ObjectOf, scheduleFault, timeZoneFault } from "../apis/index.ts";
import { tableLines } from "./table.ts";

const SHOWN = 5;

/** The next five ticks of an enabled cron trigger, in UTC and as the clocks of its zone show them; else nothing. */
export function nextCallLines({ spec }: ObjectOf<"Trigger">, now: Date): string[] {
  const { type, enabled, schedule = "", timeZone = "UTC" } = spec;
  // What came past the API server's pattern may be no schedule.
  const isFaulty = (scheduleFault(schedule) ?? timeZoneFault(timeZone)) !== undefined;
  if (type !== "cron" || enabled === false || isFaulty) return [];
  const { next } = cronSchedule(schedule, timeZone);
  const ticks: Date[] = [];
  for (let tick = next(now); tick && ticks.length < SHOWN; tick = next(tick)) ticks.push(tick);
  const utc = ticks.map((tick) => tick.toISOString().replace(".000Z", "Z"));
  if (timeZone === "UTC") return utc;
  // Swedes write times as ISO 8601 does: 2026-03-29 03:30.
  const wall = new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short", timeStyle: "short" });
  return tableLines(
    ["UTC", timeZone],
    ticks.map((tick, index) => [utc[index], wall.format(tick)]),
  );
}
