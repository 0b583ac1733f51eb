import { describe, expect, it } from "vitest";
import { giveWay } from "../../src/kubernetes/give-way.ts";
import { manualClock } from "../support/manual-clock.ts";

/** Works that are under way until they are ended, by name. */
function works() {
  const clock = manualClock();
  const ways = giveWay(clock);
  const running = new Map<string, () => void>();
  const work = (name: string) => () =>
    new Promise<void>((resolve) => {
      running.set(name, () => {
        running.delete(name);
        resolve();
      });
    });
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  return {
    urgent: (...names: string[]) => names.map((name) => ways.urgent(work(name))),
    yielding: (name: string, signal?: AbortSignal) => ways.yielding(work(name), signal),
    passes: (ms: number) => clock.advance(ms),
    async end(...names: string[]) {
      for (const name of names) running.get(name)!();
      await settled();
    },
    async running() {
      await settled();
      return [...running.keys()].sort().join(" ");
    },
  };
}

describe("giving way", () => {
  it("nothing waits while little is urgent", async () => {
    const { urgent, yielding, running } = works();
    urgent("a", "b", "c", "d");
    for (const name of ["x", "y", "z"]) void yielding(name);
    expect(await running()).toBe("a b c d x y z");
  });

  it("in a rush of the urgent all others wait, until little of it is left", async () => {
    const { urgent, yielding, running, end } = works();
    urgent("a", "b", "c", "d", "e");
    for (const name of ["x", "y", "z"]) void yielding(name);
    urgent("f");
    expect(await running()).toBe("a b c d e f");
    await end("a");
    expect(await running()).toBe("b c d e f");
    await end("b");
    expect(await running()).toBe("c d e f x y z");
  });

  it("beside a rush that lasts for seconds one goes on at a time, and the urgent never waits", async () => {
    const { urgent, yielding, running, end, passes } = works();
    urgent("a", "b", "c", "d", "e");
    for (const name of ["x", "y"]) void yielding(name);
    passes(3_000);
    urgent("f");
    expect(await running()).toBe("a b c d e f x");
    await end("x");
    expect(await running()).toBe("a b c d e f y");
  });

  it("a rush that ends and begins again is waited for anew", async () => {
    const { urgent, yielding, running, end, passes } = works();
    urgent("a", "b", "c", "d", "e");
    passes(2_000);
    await end("a");
    urgent("f");
    void yielding("x");
    passes(2_000);
    expect(await running()).toBe("b c d e f");
    passes(3_000);
    expect(await running()).toBe("b c d e f x");
  });

  it("a work that fails makes room too", async () => {
    const ways = giveWay(manualClock());
    await expect(ways.yielding(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
    await expect(ways.urgent(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(await ways.yielding(async () => "yes")).toBe("yes");
  });

  it("one that is given up while it waits never begins", async () => {
    const { urgent, yielding, running, end, passes } = works();
    urgent("a", "b", "c", "d", "e");
    passes(3_000);
    void yielding("x");
    const abort = new AbortController();
    const waiting = yielding("y", abort.signal);
    void yielding("z");
    abort.abort(new Error("stop"));
    await expect(waiting).rejects.toThrow("stop");
    await end("x");
    expect(await running()).toBe("a b c d e z");
  });
});
