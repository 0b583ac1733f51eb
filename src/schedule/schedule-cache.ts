import { type CronSchedule, cronSchedule, type ObjectOf, scheduleFault, timeZoneFault } from "../apis/index.ts";

/** The schedule of a cron trigger, or why there is none. */
export type ReadSchedule = { readonly schedule: CronSchedule } | { readonly fault: string };

const SCHEDULES_MAX = 1_000;

/** Reads schedules, and keeps the ones used last: many triggers have the same one, and each is asked at every tick. */
export function scheduleCache(): (trigger: ObjectOf<"Trigger">) => ReadSchedule {
  const kept = new Map<string, ReadSchedule>();
  return ({ spec: { schedule = "", timeZone = "UTC" } }) => {
    const text = `${schedule}\n${timeZone}`;
    const read = kept.get(text) ?? readSchedule(schedule, timeZone);
    kept.delete(text);
    kept.set(text, read);
    if (kept.size > SCHEDULES_MAX) kept.delete(kept.keys().next().value!);
    return read;
  };
}

/** An API server checks no more than a pattern: what reaches us may be no schedule after all. */
function readSchedule(schedule: string, timeZone: string): ReadSchedule {
  const fault = scheduleFault(schedule) ?? timeZoneFault(timeZone);
  return fault === undefined ? { schedule: cronSchedule(schedule, timeZone) } : { fault };
}
