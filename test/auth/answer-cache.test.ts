import { expect, it } from "vitest";
import { answerCache, type Life } from "../../src/auth/answer-cache.ts";
import { testClock } from "../support/test-clock.ts";

function openCache(options: { life?: Life; entriesMax?: number; askingMax?: number } = {}) {
  const { life = { freshMs: 10, staleMs: 10 }, ...bounds } = options;
  const clock = testClock();
  let asked = 0;
  let fault: Error | undefined;
  const cache = answerCache<string>({
    clock,
    lifeOf: () => life,
    isRefusal: (value) => value.startsWith("no"),
    ...bounds,
  });
  const ask = (key: string, value = "yes") =>
    cache.get(key, async () => {
      asked += 1;
      if (fault) throw fault;
      return value;
    });
  return {
    clock,
    ask,
    cache,
    asked: () => asked,
    failWith: (error: Error | undefined) => {
      fault = error;
    },
  };
}

it("asks once for as long as the answer is fresh", async () => {
  const { ask, asked, clock } = openCache();
  expect([await ask("a"), await ask("a")]).toEqual(["yes", "yes"]);
  clock.forward(9);
  await ask("a");
  expect(asked()).toBe(1);
  clock.forward(1);
  await ask("a");
  expect(asked()).toBe(2);
});

it("an answer that counts for no time is asked for each time", async () => {
  const { ask, asked } = openCache({ life: { freshMs: 0, staleMs: 0 } });
  await ask("a");
  await ask("a");
  expect(asked()).toBe(2);
});

it("many who ask at once are one question", async () => {
  const { cache } = openCache();
  const { promise, resolve } = Promise.withResolvers<string>();
  let asked = 0;
  const ask = () => {
    asked += 1;
    return promise;
  };
  const answers = Array.from({ length: 50 }, () => cache.get("a", ask));
  resolve("yes");
  expect(new Set(await Promise.all(answers))).toEqual(new Set(["yes"]));
  expect(asked).toBe(1);
});

it("a failed question is no answer, and is asked again", async () => {
  const { ask, failWith } = openCache();
  failWith(new Error("away"));
  await expect(ask("a")).rejects.toThrow("away");
  failWith(undefined);
  expect(await ask("a")).toBe("yes");
});

it("a stale answer counts while asking fails, but not for ever", async () => {
  const { ask, asked, failWith, clock } = openCache({ life: { freshMs: 10, staleMs: 20_000 } });
  await ask("a");
  failWith(new Error("away"));
  clock.forward(10);
  expect(await ask("a")).toBe("yes");
  // Not every request waits for a server that is away.
  expect([await ask("a"), asked()]).toEqual(["yes", 2]);
  clock.forward(20_000);
  await expect(ask("a")).rejects.toThrow("away");
});

it("never keeps more than it may; what was not used for longest goes", async () => {
  const { ask, asked } = openCache({ entriesMax: 2 });
  for (const key of ["a", "b", "a", "c"]) await ask(key);
  expect(asked()).toBe(3);
  await ask("a");
  expect(asked()).toBe(3);
  await ask("b");
  expect(asked()).toBe(4);
});

it("a flood of refusals drives out nothing else", async () => {
  const { ask, asked } = openCache({ entriesMax: 2 });
  await ask("good");
  for (const key of ["x", "y", "z"]) await ask(key, "no");
  await ask("good");
  expect(asked()).toBe(4);
});

it("beyond the questions that may be under way none is begun", async () => {
  const { cache } = openCache({ askingMax: 1 });
  const { promise, resolve } = Promise.withResolvers<string>();
  const first = cache.get("a", () => promise);
  await expect(cache.get("b", () => promise)).rejects.toMatchObject({ code: "cluster_unavailable" });
  resolve("yes");
  expect(await first).toBe("yes");
});

it("who was let in before is asked for while others use up all the room, and at worst counts by his last answer", async () => {
  const { cache, clock, ask } = openCache({ askingMax: 2, life: { freshMs: 10, staleMs: 60 } });
  await ask("known");
  await ask("also known", "yes too");
  clock.forward(10);
  const { promise, resolve } = Promise.withResolvers<string>();
  const flood = ["a", "b"].map((key) => cache.get(key, () => promise));
  await expect(ask("c")).rejects.toMatchObject({ code: "cluster_unavailable" });
  expect(await ask("known", "yes again")).toBe("yes again");
  clock.forward(20);
  const known = ["known", "also known"].map((key) => cache.get(key, () => promise));
  await expect(ask("c")).rejects.toMatchObject({ code: "cluster_unavailable" });
  resolve("yes");
  expect(await Promise.all([...flood, ...known])).toEqual(["yes", "yes", "yes", "yes"]);
});

it("a last answer that still counts is given when there is no room to ask again", async () => {
  const { cache, clock, ask } = openCache({ askingMax: 1, life: { freshMs: 10, staleMs: 60 } });
  for (const key of ["a", "b", "c"]) await ask(key, `yes ${key}`);
  clock.forward(10);
  const { promise, resolve } = Promise.withResolvers<string>();
  const asked = ["a", "b"].map((key) => cache.get(key, () => promise));
  expect(await ask("c", "no")).toBe("yes c");
  resolve("yes");
  await Promise.all(asked);
});
