import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createWorkQueue } from "../../src/controller/index.ts";
import { manualClock } from "../support/manual-clock.ts";

function openQueue() {
  const clock = manualClock();
  const queue = createWorkQueue({ clock, backOff: { baseMs: 200, maxMs: 300_000, jitter: () => 0 } });
  return { clock, queue };
}

describe("work queue", () => {
  it("gives keys in the order in which they were added, each once", async () => {
    const { queue } = openQueue();
    for (const key of ["a", "b", "a", "c", "b"]) queue.add(key);
    expect([await queue.take(), await queue.take(), await queue.take()]).toEqual(["a", "b", "c"]);
    expect(queue.sizes()).toEqual({ ready: 0, delayed: 0, running: 3 });
  });

  it("a key added while it runs comes again after it is done, and not before", async () => {
    const { queue } = openQueue();
    queue.add("a");
    await queue.take();
    queue.add("a");
    queue.add("a");
    expect(queue.sizes()).toEqual({ ready: 0, delayed: 0, running: 1 });
    queue.done("a");
    expect(queue.sizes()).toEqual({ ready: 1, delayed: 0, running: 0 });
    expect(await queue.take()).toBe("a");
    queue.done("a");
    expect(queue.sizes()).toEqual({ ready: 0, delayed: 0, running: 0 });
  });

  it("a taker that waits gets the next key", async () => {
    const { queue } = openQueue();
    const taken = queue.take();
    queue.add("a");
    expect(await taken).toBe("a");
  });

  it("of several delays the earliest counts", async () => {
    const { clock, queue } = openQueue();
    queue.addAfter("a", 100);
    queue.addAfter("a", 50);
    queue.addAfter("a", 80);
    expect(clock.timers()).toEqual([50]);
    clock.advance(49);
    expect(queue.sizes()).toEqual({ ready: 0, delayed: 1, running: 0 });
    clock.advance(1);
    expect(queue.sizes()).toEqual({ ready: 1, delayed: 0, running: 0 });
  });

  it("a delay longer than a timer can wait is waited for in parts", () => {
    const { clock, queue } = openQueue();
    const short = { ...clock, setTimer: (ms: number, wake: () => void) => clock.setTimer(Math.min(ms, 1000), wake) };
    const patient = createWorkQueue({ clock: short });
    patient.addAfter("a", 2500);
    clock.advance(2499);
    expect(patient.sizes().ready).toBe(0);
    clock.advance(1);
    expect(patient.sizes().ready).toBe(1);
    expect(queue.sizes().ready).toBe(0);
  });

  it("failures in a row double the delay up to the cap, and forget starts anew", () => {
    const { clock, queue } = openQueue();
    const delays = Array.from({ length: 13 }, () => {
      queue.addBackOff("a");
      const [delay] = clock.timers();
      clock.advance(delay!);
      return delay;
    });
    expect(delays.slice(0, 4)).toEqual([100, 200, 400, 800]);
    expect(delays.slice(-2)).toEqual([150_000, 150_000]);
    queue.addBackOff("b");
    expect(clock.timers()).toEqual([100]);
    queue.forget("a");
    queue.addBackOff("a");
    expect(clock.timers()).toEqual([100, 100]);
  });

  it("is idle when nothing is ready or runs, whatever is delayed", async () => {
    const { queue } = openQueue();
    await queue.idle();
    queue.addAfter("later", 1000);
    queue.add("a");
    let idle = false;
    const waiting = queue.idle().then(() => (idle = true));
    await queue.take();
    queue.add("a");
    queue.done("a");
    await queue.take();
    expect(idle).toBe(false);
    queue.done("a");
    await waiting;
  });

  it("closing ends takers, drops keys and timers, and lets what runs end", async () => {
    const { clock, queue } = openQueue();
    const taken = [queue.take(), queue.take()];
    queue.add("a");
    queue.addAfter("b", 10);
    queue.close();
    queue.add("c");
    queue.addAfter("d", 10);
    expect(await Promise.all(taken)).toEqual(["a", undefined]);
    expect(await queue.take()).toBeUndefined();
    expect(clock.timers()).toEqual([]);
    expect(queue.sizes()).toEqual({ ready: 0, delayed: 0, running: 1 });
    queue.done("a");
    await queue.idle();
  });

  it("no interleaving runs a key twice at a time or loses the last change", async () => {
    const steps = fc.array(
      fc.oneof(
        fc.record({ act: fc.constantFrom("add", "done", "fail", "after"), key: fc.constantFrom("a", "b", "c") }),
        fc.record({ act: fc.constantFrom("take", "advance"), key: fc.constant("") }),
      ),
      { maxLength: 60 },
    );
    await fc.assert(
      fc.asyncProperty(steps, async (list) => {
        const world = openWorld();
        for (const { act, key } of list) await world[act as keyof typeof world](key);
        await world.drain();
        expect(world.seen()).toEqual(world.changed());
      }),
      { numRuns: 300 },
    );
  });
});

/** Counts the changes of each key and which change the latest run of the key saw. */
function openWorld() {
  const { clock, queue } = openQueue();
  const changes = new Map<string, number>();
  const lastSeen = new Map<string, number>();
  const running = new Set<string>();
  const change = (key: string) => changes.set(key, (changes.get(key) ?? 0) + 1);
  const end = (key: string, finish: () => void) => {
    if (!running.delete(key)) return;
    finish();
    queue.done(key);
  };
  const take = async () => {
    if (queue.sizes().ready === 0) return;
    const key = (await queue.take())!;
    expect(running.has(key)).toBe(false);
    running.add(key);
    lastSeen.set(key, changes.get(key) ?? 0);
  };
  return {
    async add(key: string) {
      change(key);
      queue.add(key);
    },
    async after(key: string) {
      change(key);
      queue.addAfter(key, 1000);
    },
    done: async (key: string) => end(key, () => queue.forget(key)),
    fail: async (key: string) => end(key, () => queue.addBackOff(key)),
    take: async (_: string) => take(),
    advance: async (_: string) => clock.advance(500),
    async drain() {
      while (running.size > 0 || queue.sizes().ready > 0 || queue.sizes().delayed > 0) {
        for (const key of running) end(key, () => {});
        clock.advance(1_000_000);
        await take();
      }
    },
    seen: () => Object.fromEntries([...lastSeen].sort()),
    changed: () => Object.fromEntries([...changes].sort()),
  };
}
