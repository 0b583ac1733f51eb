import { expect, it } from "vitest";
import type { ResourceStore } from "../../src/resources/index.ts";
import { answer, calledTicks, cronWorld, isArmed, MINUTE_MS, skewed } from "./cron-fixture.ts";

const never = () => new Promise<never>(() => {});

async function claimedWorld(crash: (store: ResourceStore) => ResourceStore["updateStatus"]) {
  const world = await cronWorld();
  await world.func();
  await world.trigger({ concurrencyPolicy: "Forbid" });
  const first = await world.start();
  await world.until("it to be armed", isArmed);
  await first.stop();
  let dead = false;
  const store: ResourceStore = {
    ...world.store,
    updateStatus: (object, status) => {
      if (!("lastScheduleTime" in status)) return world.store.updateStatus(object, status);
      dead = true;
      return crash(world.store)(object, status);
    },
  };
  await world.start({ store, clock: skewed(world.clock, 0, () => dead), dies: true });
  return world;
}

it("a crash before the claim leaves the tick to the next scheduler", async () => {
  const world = await claimedWorld(() => never);
  world.clock.advance(MINUTE_MS);
  await world.start();
  await world.until("the claim", ({ lastScheduleTime }) => lastScheduleTime === "2026-01-01T12:01:00Z");
  expect(calledTicks(world.calls)).toEqual(["12:01"]);
});

it("a crash after the claim is told, and the tick is never fired again", async () => {
  const world = await claimedWorld((store) => async (...claim) => {
    await store.updateStatus(...claim);
    return never();
  });
  world.clock.advance(MINUTE_MS);
  await world.until("the claim", ({ lastScheduleTime }) => lastScheduleTime === "2026-01-01T12:01:00Z");
  await world.start();
  const status = await world.until("the crash to be told", ({ conditions }) =>
    Boolean(conditions?.some(({ reason }) => reason === "EndUnknown")),
  );
  expect(status.conditions).toContainEqual(
    expect.objectContaining({
      type: "LastCall",
      status: "Unknown",
      message: expect.stringMatching(/^The tick of 2026-01-01T12:01:00Z was claimed and its call's end is unknown/),
    }),
  );
  expect(world.calls).toEqual([]);
  expect(world.events).toEqual([expect.objectContaining({ step: "failed", reason: "EndUnknown" })]);
});

it("with Forbid a call that another process made counts as under way until its time limit is over", async () => {
  const world = await claimedWorld((store) => async (...claim) => {
    await store.updateStatus(...claim);
    return never();
  });
  await world.func({ timeoutSec: 150 });
  world.clock.advance(MINUTE_MS);
  await world.until("the claim", ({ lastScheduleTime }) => lastScheduleTime === "2026-01-01T12:01:00Z");
  await world.start();
  await world.minutes(3);
  expect(calledTicks(world.calls)).toEqual(["12:04"]);
});

it("a write that was made although it failed counts as the claim", async () => {
  const world = await cronWorld();
  await world.func();
  await world.trigger({ schedule: "1 * * * *" });
  let lost = 0;
  const store: ResourceStore = {
    ...world.store,
    updateStatus: async (object, status) => {
      const written = await world.store.updateStatus(object, status);
      if ("lastScheduleTime" in status && lost++ === 0) throw new Error("connection reset");
      return written;
    },
  };
  await world.start({ store });
  await world.until("it to be armed", isArmed);
  await world.minutes(3);
  expect(world.calls).toEqual([]);
  expect(await world.lastCall()).toMatchObject({ status: "Unknown", reason: "EndUnknown" });
});

it("two schedulers whose clocks differ by five minutes call once per tick together", async () => {
  const world = await cronWorld();
  await world.func();
  await world.trigger();
  world.answers(async () => answer());
  await world.start({ clock: skewed(world.clock, 5 * MINUTE_MS) });
  await world.start();
  await world.until("it to be armed", isArmed);
  await world.minutes(12);
  const ticks = calledTicks(world.calls);
  expect(new Set(ticks).size).toBe(ticks.length);
  expect(ticks.slice(-8)).toEqual(["12:10", "12:11", "12:12", "12:13", "12:14", "12:15", "12:16", "12:17"]);
});

it.each([
  [5, 0],
  [0, 5],
  [5, -5],
])(
  "a scheduler %i minutes ahead hands over to one at %i minutes, and no tick is called twice",
  async (before, after) => {
    const world = await cronWorld();
    await world.func();
    await world.trigger();
    const first = await world.start({ clock: skewed(world.clock, before * MINUTE_MS) });
    await world.until("it to be armed", isArmed);
    await world.minutes(10);
    await first.stop();
    await world.start({ clock: skewed(world.clock, after * MINUTE_MS) });
    await world.minutes(20);
    const ticks = calledTicks(world.calls);
    expect(new Set(ticks).size).toBe(ticks.length);
    const last = new Date(world.clock.now().getTime() + after * MINUTE_MS).toISOString().slice(11, 16);
    expect(ticks.at(-1)).toBe(last);
  },
);
