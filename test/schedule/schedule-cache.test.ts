import { expect, it } from "vitest";
import type { ObjectOf, TriggerSpec } from "../../src/apis/index.ts";
import { scheduleCache } from "../../src/schedule/schedule-cache.ts";

const trigger = (spec: Partial<TriggerSpec>) =>
  ({ spec: { type: "cron", functionRef: "hello", ...spec } }) as unknown as ObjectOf<"Trigger">;

it("triggers of one schedule and zone share what was read of it", () => {
  const read = scheduleCache();
  const berlin = trigger({ schedule: "@hourly", timeZone: "Europe/Berlin" });
  expect(read(berlin)).toBe(read({ ...berlin }));
  expect(read(trigger({ schedule: "@hourly" }))).not.toBe(read(berlin));
});

it.each([
  [{ schedule: "0 0 30 2 *" }, /never fires/],
  [{ schedule: "@hourly", timeZone: "Mars/Phobos" }, /is no time zone/],
  [{}, /has 1 of five fields/],
])("what came past an API server's pattern and is no schedule is a fault: %j", (spec, expected) => {
  expect(scheduleCache()(trigger(spec))).toEqual({ fault: expect.stringMatching(expected) });
});

it("of many schedules the ones used last are kept", () => {
  const read = scheduleCache();
  const first = trigger({ schedule: "0 0 1 1 *" });
  const kept = read(first);
  for (let n = 0; n < 1_500; n += 1) {
    read(trigger({ schedule: `${n % 60} ${Math.floor(n / 60) % 24} ${1 + Math.floor(n / 1_440)} * *` }));
    if (n < 900) read(first);
    if (n === 900) expect(read(first)).toBe(kept);
  }
  for (let n = 0; n < 1_000; n += 1) read(trigger({ schedule: `${n % 60} ${Math.floor(n / 60)} * * *` }));
  expect(read(first)).not.toBe(kept);
});
