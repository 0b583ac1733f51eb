import { expect, it } from "vitest";
import { eachLimited } from "../../src/sync/each-limited.ts";

it("works on every item once, and on no more than the limit at a time", async () => {
  const done: number[] = [];
  let now = 0;
  let most = 0;
  await eachLimited(
    Array.from({ length: 20 }, (_, at) => at),
    async (item) => {
      most = Math.max(most, ++now);
      await new Promise(setImmediate);
      done.push(item);
      now -= 1;
    },
    3,
  );
  expect(done.sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, at) => at));
  expect(most).toBe(3);
});

it("begins nothing more after a failure, and rejects when what was under way has ended", async () => {
  const begun: number[] = [];
  let ended = 0;
  const work = async (item: number) => {
    begun.push(item);
    await new Promise(setImmediate);
    if (item === 1) throw new Error("one");
    await new Promise(setImmediate);
    ended += 1;
  };
  await expect(eachLimited([0, 1, 2, 3, 4], work, 2)).rejects.toThrow("one");
  expect(begun).toEqual([0, 1]);
  expect(ended).toBe(1);
});

it("nothing to do is done at once", async () => {
  await expect(eachLimited([], async () => {})).resolves.toBeUndefined();
});
