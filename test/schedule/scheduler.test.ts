import { expect, it } from "vitest";
import { effectiveReplicas, findCondition, type TriggerSpec } from "../../src/apis/index.ts";
import { SlessError } from "../../src/errors/index.ts";
import type { InternalAnswer } from "../../src/gateway/index.ts";
import { answer, calledTicks, cronWorld, isArmed, MINUTE_MS, NAMESPACE } from "./cron-fixture.ts";

const endless = () => new Promise<InternalAnswer>(() => {});

async function running(spec: Partial<TriggerSpec> = {}, func = {}) {
  const world = await cronWorld();
  await world.func(func);
  await world.trigger(spec);
  const scheduler = await world.start();
  await world.until("the trigger to be armed", isArmed);
  return { ...world, scheduler };
}

it("every tick calls the function once, under a name of its own", async () => {
  const world = await running({ eventJSON: '{"a":1}' });
  world.answers(async () => answer('{"ok":true}'));
  await world.minutes(3);
  const { metadata, status } = await world.object();
  expect(world.calls.map(({ requestId }) => requestId)).toEqual(
    ["01", "02", "03"].map((minute) => `${metadata.uid}/2026-01-01T12:${minute}:00Z`),
  );
  expect(world.calls[0]).toMatchObject({
    trigger: "cron",
    body: '{"a":1}',
    headers: { "content-type": "application/json", "x-cron-trigger": "tick", "x-cron-time": "2026-01-01T12:01:00Z" },
  });
  expect(status).toMatchObject({
    active: true,
    lastScheduleTime: "2026-01-01T12:03:00Z",
    nextScheduleTime: "2026-01-01T12:04:00Z",
  });
  expect(findCondition(status?.conditions, "Ready")).toMatchObject({ status: "True", reason: "Active" });
  expect(await world.lastCall()).toMatchObject({
    status: "True",
    reason: "Succeeded",
    message: 'It answered 200 after 0 ms: {"ok":true}',
  });
});

it("without eventJSON the event is an empty object", async () => {
  const world = await running();
  await world.minutes(1);
  expect(world.calls[0]?.body).toBe("{}");
});

it("a tick costs two writes, a time without a tick none", async () => {
  const world = await running({ schedule: "5 * * * *" });
  const versionOf = async () => Number((await world.object()).metadata.resourceVersion);
  const before = await versionOf();
  await world.minutes(4);
  expect(await versionOf()).toBe(before);
  await world.minutes(1);
  expect(await versionOf()).toBe(before + 2);
  await world.minutes(10);
  expect(await versionOf()).toBe(before + 2);
});

const failures = {
  "the function fails": [
    async () => answer("boom", 500, "text/plain"),
    "FunctionFailed",
    /^It answered 500 after 0 ms: boom/,
  ],
  "it is scaled to zero": [refusal("scaled_to_zero"), "ScaledToZero", /is scaled to zero/],
  "it times out": [refusal("function_timeout"), "FunctionTimeout", /did not answer/],
  "the gateway is away": [async () => Promise.reject(new Error("ECONNREFUSED")), "CallFailed", /ECONNREFUSED/],
} as const;

function refusal(code: "scaled_to_zero" | "function_timeout" | "function_not_ready") {
  return async (): Promise<InternalAnswer> => {
    throw new SlessError(code, { namespace: NAMESPACE, name: "hello", seconds: 30, component: "its runtime" });
  };
}

it.each(Object.entries(failures))("when %s the status says so and nothing is called again", async (_name, failure) => {
  const [invoke, reason, message] = failure;
  const world = await running({ schedule: "1 * * * *" });
  world.answers(invoke);
  await world.minutes(10);
  expect(calledTicks(world.calls)).toEqual(["12:01"]);
  expect(await world.lastCall()).toMatchObject({ status: "False", reason, message: expect.stringMatching(message) });
  expect(world.events).toEqual([expect.objectContaining({ step: "failed", reason })]);
});

it("what fails at every tick is told once, and again after a success", async () => {
  const world = await running();
  const broken = refusal("function_timeout");
  world.answers(broken);
  await world.minutes(3);
  expect(world.events).toHaveLength(1);
  world.answers(async () => answer());
  await world.minutes(1);
  world.answers(broken);
  await world.minutes(1);
  expect(world.events).toHaveLength(2);
});

it("a long answer is kept to its beginning, one of bytes is only measured", async () => {
  const world = await running();
  world.answers(async () => answer("x".repeat(5_000), 200, "text/plain"));
  await world.minutes(1);
  expect((await world.lastCall())?.message).toBe(`It answered 200 after 0 ms: ${"x".repeat(1_024)} … (5000 bytes)`);
  world.answers(async () => answer("\u0001\u0002", 200, "image/png"));
  await world.minutes(1);
  expect((await world.lastCall())?.message).toBe("It answered 200 after 0 ms: 2 bytes of image/png");
});

it("a function that is not ready yet is tried again until it is, under the same name", async () => {
  const world = await running({ schedule: "1 * * * *" });
  world.answers(refusal("function_not_ready"));
  await world.minutes(1);
  expect(await world.lastCall()).toMatchObject({ status: "Unknown", reason: "Running" });
  world.answers(async () => answer());
  world.clock.advance(1_000);
  await world.quiet();
  expect(await world.lastCall()).toMatchObject({ status: "True", reason: "Succeeded" });
  expect(new Set(calledTicks(world.calls))).toEqual(new Set(["12:01"]));
});

it("one that does not become ready within a minute is given up, and was not asked all the time", async () => {
  const world = await running({ schedule: "1 * * * *" });
  world.answers(refusal("function_not_ready"));
  await world.minutes(1);
  for (let second = 0; second < 70; second += 1) {
    world.clock.advance(1_000);
    await world.quiet();
  }
  expect(await world.lastCall()).toMatchObject({ status: "False", reason: "FunctionNotReady" });
  expect(world.calls.length).toBeGreaterThan(10);
  expect(world.calls.length).toBeLessThan(25);
});

it("with Forbid a tick is left out while the last call runs", async () => {
  const world = await running({ concurrencyPolicy: "Forbid" });
  const first = Promise.withResolvers<InternalAnswer>();
  world.answers(() => first.promise);
  await world.minutes(3);
  expect(calledTicks(world.calls)).toEqual(["12:01"]);
  expect(await world.status()).toMatchObject({ nextScheduleTime: "2026-01-01T12:04:00Z" });
  expect(world.events.map((event) => "reason" in event && event.reason)).toEqual(["TickSkipped", "TickSkipped"]);
  first.resolve(answer());
  await world.quiet();
  expect(calledTicks(world.calls)).toEqual(["12:01"]);
  await world.minutes(1);
  expect(calledTicks(world.calls)).toEqual(["12:01", "12:04"]);
});

it("with Allow calls overlap, and the status tells of the latest tick", async () => {
  const world = await running();
  const first = Promise.withResolvers<InternalAnswer>();
  world.answers(() => first.promise);
  await world.minutes(1);
  world.answers(endless);
  await world.minutes(1);
  expect(calledTicks(world.calls)).toEqual(["12:01", "12:02"]);
  first.resolve(answer("late"));
  await world.quiet();
  expect(await world.lastCall()).toMatchObject({ status: "Unknown", reason: "Running", message: /12:02/ });
});

it("a disabled trigger calls nobody, and what it left out meanwhile stays so", async () => {
  const world = await running();
  await world.trigger({ enabled: false });
  await world.until("it to be inactive", ({ active }) => active === false);
  await world.minutes(3);
  expect(await world.status()).not.toHaveProperty("nextScheduleTime");
  await world.trigger({ enabled: true });
  await world.until("it to be armed", isArmed);
  await world.quiet();
  expect(world.calls).toEqual([]);
  await world.minutes(1);
  expect(calledTicks(world.calls)).toEqual(["12:04"]);
});

it("a new schedule begins when it is written", async () => {
  const world = await running({ schedule: "0 * * * *" });
  await world.minutes(20);
  await world.trigger({ schedule: "*/10 * * * *" });
  await world.until("the new schedule", ({ nextScheduleTime }) => nextScheduleTime === "2026-01-01T12:30:00Z");
  await world.minutes(20);
  expect(calledTicks(world.calls)).toEqual(["12:30", "12:40"]);
});

it("without its function it waits, and goes on once there is one", async () => {
  const world = await cronWorld();
  await world.trigger();
  await world.start();
  const reasonOf = (conditions: Parameters<typeof findCondition>[0]) => findCondition(conditions, "Ready")?.reason;
  await world.until("the function to be missed", ({ conditions }) => reasonOf(conditions) === "FunctionNotFound");
  await world.minutes(2);
  await world.func();
  await world.until("it to be armed", isArmed);
  await world.minutes(1);
  expect(calledTicks(world.calls)).toEqual(["12:03"]);
});

it("a deleted trigger calls nobody any more", async () => {
  const world = await running();
  await world.store.delete("Trigger", { namespace: NAMESPACE, name: "tick" });
  await world.quiet();
  await world.minutes(3);
  expect(world.calls).toEqual([]);
});

it("a trigger that nobody saw yet is owed the ticks since it was made", async () => {
  const world = await cronWorld();
  await world.func();
  await world.trigger();
  world.clock.advance(MINUTE_MS);
  await world.start();
  await world.until("its first call", ({ lastScheduleTime }) => lastScheduleTime === "2026-01-01T12:01:00Z");
  expect(calledTicks(world.calls)).toEqual(["12:01"]);
});

it("after a time without a scheduler the latest tick is made up for, and only that", async () => {
  const { scheduler, ...world } = await running();
  await scheduler.stop();
  world.clock.advance(30 * MINUTE_MS);
  await world.start();
  await world.until("the late call", ({ lastScheduleTime }) => lastScheduleTime === "2026-01-01T12:30:00Z");
  await world.minutes(1);
  expect(calledTicks(world.calls)).toEqual(["12:30", "12:31"]);
  expect(world.events).toEqual([
    expect.objectContaining({ reason: "TickMissed", message: expect.stringMatching(/12:01:00Z on/) }),
  ]);
});

it("beyond the starting deadline nothing is made up for", async () => {
  const { scheduler, ...world } = await running({ schedule: "1 12 * * *" });
  await scheduler.stop();
  world.clock.advance(62 * MINUTE_MS);
  await world.start();
  await world.until("the next day", ({ nextScheduleTime }) => nextScheduleTime === "2026-01-02T12:01:00Z");
  await world.quiet();
  expect(world.calls).toEqual([]);
  expect(world.events).toEqual([expect.objectContaining({ reason: "TickMissed" })]);
});

it("a stop waits for the calls under way and writes how they ended", async () => {
  const { scheduler, ...world } = await running();
  const call = Promise.withResolvers<InternalAnswer>();
  world.answers(() => call.promise);
  await world.minutes(1);
  const stopped = scheduler.stop();
  call.resolve(answer("done"));
  await stopped;
  expect(await world.lastCall()).toMatchObject({ status: "True", message: /done/ });
});

it("a call that a stop breaks off is told as one whose end is unknown", async () => {
  const { scheduler, ...world } = await running();
  world.answers((_workload, { signal }) => {
    const { promise, reject } = Promise.withResolvers<InternalAnswer>();
    signal?.addEventListener("abort", () => reject(signal.reason));
    return promise;
  });
  await world.minutes(1);
  const stopped = scheduler.stop(1_000);
  world.clock.advance(1_000);
  await stopped;
  expect(await world.lastCall()).toMatchObject({ status: "Unknown", reason: "EndUnknown", message: /12:01:00Z/ });
});

it("a function at 0 replicas is started before the tick and stopped after the call", async () => {
  const world = await running({ schedule: "10 * * * *", preWarmSeconds: 120 }, { replicas: 0 });
  const replicas = async () =>
    effectiveReplicas((await world.store.get("Function", { namespace: NAMESPACE, name: "hello" }))!, [
      await world.object(),
    ]);
  const call = Promise.withResolvers<InternalAnswer>();
  world.answers(() => call.promise);
  const seen = [await replicas()];
  for (const minutes of [7, 1, 2]) {
    await world.minutes(minutes);
    seen.push(await replicas());
  }
  expect(calledTicks(world.calls)).toEqual(["12:10"]);
  call.resolve(answer());
  await world.quiet();
  seen.push(await replicas());
  expect(seen).toEqual([0, 0, 1, 1, 0]);
});

it("a scheduler that was started anew stops what the one before had warmed", async () => {
  const { scheduler, ...world } = await running({ schedule: "10 * * * *", preWarmSeconds: 120 }, { replicas: 0 });
  await world.minutes(8);
  expect(await world.status()).toMatchObject({ warm: true });
  await scheduler.stop();
  await world.trigger({ schedule: "10 * * * *", preWarmSeconds: 0 });
  await world.start();
  const status = await world.until("it to be cold", ({ warm }) => warm === undefined);
  expect(status.nextScheduleTime).toBe("2026-01-01T12:10:00Z");
});

it("a target with replicas of its own is not warmed", async () => {
  const world = await running({ preWarmSeconds: 30 }, { replicas: 1 });
  await world.minutes(2);
  expect(await world.status()).not.toHaveProperty("warm");
});

it("clocks in a time zone decide, on the day of the change too", async () => {
  const world = await cronWorld("2026-03-29T00:59:30Z");
  await world.func();
  await world.trigger({ schedule: "30 2 * * *", timeZone: "Europe/Berlin" });
  await world.start();
  await world.until("it to be armed", isArmed);
  await world.minutes(90);
  expect(calledTicks(world.calls)).toEqual(["01:30"]);
});
