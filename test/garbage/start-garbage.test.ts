import { expect, it } from "vitest";
import { SlessError } from "../../src/errors/index.ts";
import { startGarbage } from "../../src/garbage/index.ts";
import { manualClock } from "../support/manual-clock.ts";
import { memoryObjectStore } from "../support/memory-object-store.ts";
import { DAY_MS, HOUR_MS, objectsOf, source } from "./garbage-world.ts";

const THING = source("hello", "a");

function started(installation?: string) {
  const clock = manualClock();
  const objects = memoryObjectStore({}, clock.now);
  const store = objectsOf();
  const told: string[] = [];
  const log = {
    info: (_fields: object, text: string) => void told.push(`info ${text}`),
    warn: (_fields: object, text: string) => void told.push(`warn ${text}`),
  };
  const named = installation === undefined ? {} : { installation };
  const garbage = startGarbage({ store, objects, running: async () => [], clock, log, isAlone: true, ...named });
  const pass = async (ms: number) => {
    clock.advance(ms);
    // A run waits for the one before it: afterwards both have ended.
    await garbage.collect({ dryRun: true }).catch(() => undefined);
    await new Promise((done) => setImmediate(done));
  };
  return { clock, objects, store, told, garbage, pass };
}

it("garbage is collected ten minutes after the start and every hour from then on, until it is stopped", async () => {
  const { objects, told, garbage, pass } = started();
  await objects.put(THING, new Uint8Array(1));
  await pass(10 * 60_000);
  for (let hour = 0; hour < 24; hour++) {
    expect(await objects.has(THING)).toBe(true);
    await pass(HOUR_MS);
  }
  expect(await objects.has(THING)).toBe(false);
  expect(told).toEqual(["info garbage collected"]);
  await garbage.stop();
  await objects.put(THING, new Uint8Array(1));
  await pass(3 * DAY_MS);
  expect(await objects.has(THING)).toBe(true);
  await expect(garbage.collect({ dryRun: true })).rejects.toThrow("shutting down");
});

it("a run that fails is told, and the next one comes all the same", async () => {
  const { objects, store, told, pass } = started();
  await objects.put(THING, new Uint8Array(1));
  const { list } = store;
  store.list = () => Promise.reject(new SlessError("cluster_unavailable", { cause: "it is away" }));
  await pass(10 * 60_000);
  expect(told).toEqual(["warn garbage not collected"]);
  store.list = list;
  await pass(HOUR_MS);
  await pass(DAY_MS);
  expect(await objects.has(THING)).toBe(false);
});

it("an installation is known to the others of its store although it ended before it first collected", async () => {
  const { objects, garbage } = started("dev-1");
  await garbage.stop();
  expect(await objects.has("garbage/installations/dev-1")).toBe(true);
});

it("what an earlier process announced is void for one that is alone", async () => {
  const { objects, garbage } = started();
  const announced = `garbage/marks/${THING}/removing-20260101T000000000Z-dead`;
  await objects.put(announced, new Uint8Array());
  await garbage.collect({ dryRun: true });
  expect(await objects.has(announced)).toBe(true);
  await garbage.collect({ dryRun: false });
  expect(await objects.has(announced)).toBe(false);
});
