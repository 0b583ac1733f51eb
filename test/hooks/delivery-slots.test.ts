import { expect, it } from "vitest";
import { SlessError } from "../../src/errors/index.ts";
import { deliverySlots, type OpenBody } from "../../src/hooks/delivery-slots.ts";
import { manualClock } from "../support/manual-clock.ts";

const SPEED = 1_000;

function openSlots(max = 4, perKey = 2) {
  const clock = manualClock();
  const slots = deliverySlots({ max, perKey, bytesPerSecond: SPEED, clock });
  /** A delivery whose body begins with some bytes and then stalls; how it ends. */
  const begin = (key: string, from: string, bytes = 0) => {
    const body: OpenBody = async function* (signal) {
      if (bytes > 0) yield Buffer.alloc(bytes);
      await new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    };
    const state = { outcome: "under way", read: 0 };
    const ended = slots.run({ key, from }, async (place) => {
      for await (const chunk of place.receive(body)) state.read += chunk.length;
    });
    ended.catch((error: unknown) => {
      state.outcome = error instanceof SlessError ? error.code : String(error);
    });
    return state;
  };
  /** One whose body is there at once. */
  const whole = (key: string, from: string) =>
    slots.run({ key, from }, async (place) => {
      for await (const _ of place.receive(async function* () {}));
      return "taken";
    });
  return { clock, slots, begin, whole };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

it("who comes to a full repository takes the place of him who is furthest behind there", async () => {
  const { clock, begin, whole } = openSlots();
  const old = begin("a", "x");
  const busy = begin("a", "x", 5_000);
  const elsewhere = begin("b", "x");
  await settled();
  clock.advance(1_000);
  expect(await whole("a", "y")).toBe("taken");
  await settled();
  expect([old.outcome, busy.outcome, elsewhere.outcome]).toEqual(["hooks_busy", "under way", "under way"]);
});

it("how much came counts, not only how long it took", async () => {
  const { clock, begin, whole } = openSlots();
  const large = begin("a", "x", 10_000);
  await settled();
  clock.advance(5_000);
  const late = begin("a", "x");
  await settled();
  clock.advance(100);
  expect(await whole("a", "y")).toBe("taken");
  await settled();
  expect([large.outcome, late.outcome]).toEqual(["under way", "hooks_busy"]);
});

it("when all places are taken, the address that has most of them gives one", async () => {
  const { clock, begin, whole } = openSlots();
  const slow = begin("a", "x");
  await settled();
  clock.advance(1_000);
  const flood = ["b", "c", "d"].map((key) => begin(key, "flood"));
  await settled();
  clock.advance(100);
  for (const key of ["e", "f", "g", "h"]) expect(await whole(key, "y")).toBe("taken");
  await settled();
  expect([slow.outcome, ...flood.map(({ outcome }) => outcome)]).toEqual([
    "under way",
    "hooks_busy",
    "under way",
    "under way",
  ]);
});

it("nobody is sent away while it is not his body that is waited for", async () => {
  const { slots, whole } = openSlots();
  const gate = Promise.withResolvers<void>();
  const waiting = ["a", "b", "c", "d"].map((key) => slots.run({ key, from: "x" }, () => gate.promise));
  await expect(whole("e", "y")).rejects.toMatchObject({ code: "hooks_busy" });
  gate.resolve();
  await Promise.all(waiting);
  expect(await whole("e", "y")).toBe("taken");
});
