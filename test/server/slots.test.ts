import { expect, it } from "vitest";
import { createSlots } from "../../src/controller/slots.ts";
import { createKeyedSlots } from "../../src/server/slots.ts";

/** Work that a test ends, and how much of it goes on. */
function controlled() {
  const running: PromiseWithResolvers<void>[] = [];
  let most = 0;
  let now = 0;
  const work = async () => {
    const end = Promise.withResolvers<void>();
    running.push(end);
    most = Math.max(most, ++now);
    await end.promise.finally(() => {
      now -= 1;
    });
  };
  return { work, running, most: () => most };
}

it("so much work goes on at a time, and a failure frees its place", async () => {
  const slots = createSlots(2);
  const { work, running, most } = controlled();
  const all = Promise.allSettled(Array.from({ length: 5 }, () => slots.run(work)));
  for (let index = 0; index < 5; index += 1) {
    while (!running[index]) await Promise.resolve();
    if (index % 2 === 0) running[index]!.reject(new Error("failed"));
    else running[index]!.resolve();
  }
  expect((await all).map(({ status }) => status)).toEqual([
    "rejected",
    "fulfilled",
    "rejected",
    "fulfilled",
    "rejected",
  ]);
  expect(most()).toBe(2);
});

it("work of one key goes on one by one, of others beside it", async () => {
  const slots = createKeyedSlots();
  const order: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const first = slots.run("a", async () => {
    await promise;
    order.push("a1");
  });
  const second = slots.run("a", async () => void order.push("a2"));
  await slots.run("b", async () => void order.push("b"));
  resolve();
  await Promise.all([first, second]);
  await slots.run("a", async () => void order.push("a3"));
  expect(order).toEqual(["b", "a1", "a2", "a3"]);
});
