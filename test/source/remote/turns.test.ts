import { expect, it } from "vitest";
import { createTurns } from "../../../src/source/remote/turns.ts";

const never = new AbortController().signal;

it("work goes on one at a time, in order, also after some of it failed", async () => {
  const turns = createTurns();
  const log: string[] = [];
  const work = (name: string) => async () => {
    log.push(`${name} begins`);
    await new Promise(setImmediate);
    log.push(`${name} ends`);
    if (name === "b") throw new Error(name);
  };
  const all = ["a", "b", "c"].map((name) => turns.take(never, work(name)));
  expect((await Promise.allSettled(all)).map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(log).toEqual(["a begins", "a ends", "b begins", "b ends", "c begins", "c ends"]);
});

it("who gives up while it waits is let go at once, and its work never begins", async () => {
  const turns = createTurns();
  const first = Promise.withResolvers<void>();
  const working = turns.take(never, () => first.promise);
  const impatient = new AbortController();
  let hasBegun = false;
  const waiting = turns.take(impatient.signal, async () => {
    hasBegun = true;
  });
  impatient.abort(new Error("enough"));
  await expect(waiting).rejects.toThrow("enough");
  const last = turns.take(never, async () => "last");
  first.resolve();
  await working;
  expect(await last).toBe("last");
  expect(hasBegun).toBe(false);
});
