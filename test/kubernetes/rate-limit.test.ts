import { describe, expect, it } from "vitest";
import { rateLimit } from "../../src/kubernetes/rate-limit.ts";
import { manualClock } from "../support/manual-clock.ts";

/** A limit, and the numbers of the requests that it let go so far. */
function limited(options: { perSecond: number; burst: number }) {
  const clock = manualClock();
  const limit = rateLimit({ ...options, clock });
  const gone: number[] = [];
  const ask = (n: number, signal?: AbortSignal) => limit(signal).then(() => void gone.push(n));
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  return {
    ask,
    clock,
    async gone() {
      await settled();
      return [...gone];
    },
  };
}

const upTo = (n: number) => Array.from({ length: n }, (_, index) => index + 1);

describe("the rate limit", () => {
  it("lets a burst go at once and the rest at its pace, in order", async () => {
    const { ask, clock, gone } = limited({ perSecond: 10, burst: 3 });
    for (const n of upTo(6)) void ask(n);
    expect(await gone()).toEqual([1, 2, 3]);
    clock.advance(100);
    expect(await gone()).toEqual([1, 2, 3, 4]);
    clock.advance(200);
    expect(await gone()).toEqual(upTo(6));
  });

  it("fills up to the burst again, and never beyond", async () => {
    const { ask, clock, gone } = limited({ perSecond: 10, burst: 2 });
    for (const n of upTo(2)) void ask(n);
    clock.advance(60_000);
    for (const n of [3, 4, 5]) void ask(n);
    expect(await gone()).toEqual([1, 2, 3, 4]);
  });

  it("sends no more than its rate over a long time", async () => {
    const { ask, clock, gone } = limited({ perSecond: 50, burst: 10 });
    for (const n of upTo(1_000)) void ask(n);
    for (let tick = 0; tick < 100; tick += 1) clock.advance(100);
    expect((await gone()).length).toBe(10 + 50 * 10);
  });

  it("a request that is given up leaves its place to the next", async () => {
    const { ask, clock, gone } = limited({ perSecond: 10, burst: 1 });
    void ask(1);
    const abort = new AbortController();
    const given = ask(2, abort.signal);
    void ask(3);
    abort.abort(new Error("stop"));
    await expect(given).rejects.toThrow("stop");
    clock.advance(100);
    expect(await gone()).toEqual([1, 3]);
  });

  it("a request that is given up before it asks is not let go", async () => {
    const { ask } = limited({ perSecond: 10, burst: 1 });
    await expect(ask(1, AbortSignal.abort(new Error("stop")))).rejects.toThrow("stop");
  });

  it("leaves no timer behind when nobody waits", async () => {
    const { ask, clock } = limited({ perSecond: 10, burst: 1 });
    for (const n of upTo(2)) void ask(n);
    clock.advance(1_000);
    expect(clock.timers()).toEqual([]);
  });
});
