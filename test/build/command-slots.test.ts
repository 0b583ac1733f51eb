import { expect, it } from "vitest";
import { openCommandSlots } from "../../src/build/command-slots.ts";

const running = new AbortController().signal;

it("runs so many commands at a time, first come, first served", async () => {
  const slots = openCommandSlots(2);
  const order: number[] = [];
  let now = 0;
  let most = 0;
  const work = (n: number) => async () => {
    most = Math.max(most, ++now);
    await new Promise((resolve) => setImmediate(resolve));
    order.push(n);
    now--;
  };
  await Promise.all([1, 2, 3, 4, 5].map((n) => slots.run(running, work(n))));
  expect(most).toBe(2);
  expect(order).toEqual([1, 2, 3, 4, 5]);
});

it("a command that hangs goes on, but no longer keeps others from starting", async () => {
  const slots = openCommandSlots(1, 50);
  const { promise: hanging, resolve: end } = Promise.withResolvers<string>();
  const first = slots.run(running, () => hanging);
  expect(await slots.run(running, async () => "second")).toBe("second");
  end("first");
  expect(await first).toBe("first");
  // The slot that was given up early is not given back twice.
  const { promise: blocked, resolve: unblock } = Promise.withResolvers<void>();
  const blocker = slots.run(running, () => blocked);
  let started = false;
  const waiting = slots.run(running, async () => {
    started = true;
  });
  await Promise.resolve();
  expect(started).toBe(false);
  unblock();
  await Promise.all([blocker, waiting]);
});

it("who stops waiting leaves the row, and a command that fails gives its slot back", async () => {
  const slots = openCommandSlots(1);
  const { promise, reject } = Promise.withResolvers<void>();
  const first = slots.run(running, () => promise);
  const stop = new AbortController();
  const second = slots.run(stop.signal, async () => "never");
  const third = slots.run(running, async () => "third");
  stop.abort(new Error("not wanted"));
  await expect(second).rejects.toThrow("not wanted");
  reject(new Error("broken"));
  await expect(first).rejects.toThrow("broken");
  expect(await third).toBe("third");
});

it("tenants take turns: one of many waits for no more than its turn", async () => {
  const slots = openCommandSlots(1);
  const order: string[] = [];
  const work = (name: string) => async () => {
    await new Promise((resolve) => setImmediate(resolve));
    order.push(name);
  };
  const many = Array.from({ length: 50 }, (_, n) => slots.run(running, work(`many ${n}`), "many"));
  const few = [1, 2].map((n) => slots.run(running, work(`few ${n}`), "few"));
  const stop = new AbortController();
  const gone = slots.run(stop.signal, work("gone"), "gone").catch(() => "left");
  const last = slots.run(running, work("last"), "last");
  stop.abort(new Error("not wanted"));
  await Promise.all([...many, ...few, last]);
  expect(await gone).toBe("left");
  expect(order.slice(0, 7)).toEqual(["many 0", "many 1", "few 1", "last", "many 2", "few 2", "many 3"]);
  expect(order).toHaveLength(53);
});
