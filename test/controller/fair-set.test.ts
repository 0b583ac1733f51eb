import fc from "fast-check";
import { expect, it } from "vitest";
import { fairSet } from "../../src/controller/fair-set.ts";
import { startController, systemClock } from "../../src/controller/index.ts";
import { eventually } from "../support/eventually.ts";

const groupOf = (key: string) => key.split("/")[0]!;

function takeAll(set: ReturnType<typeof fairSet<string>>): string[] {
  const taken: string[] = [];
  for (let key = set.take(); key !== undefined; key = set.take()) taken.push(key);
  return taken;
}

it("groups take turns, and within one the order stays", () => {
  const set = fairSet<string>({ of: groupOf });
  for (const key of ["a/1", "a/2", "a/3", "b/1", "a/4", "c/1", "b/2", "a/2"]) set.add(key);
  expect(set.size).toBe(7);
  expect(takeAll(set)).toEqual(["a/1", "b/1", "c/1", "a/2", "b/2", "a/3", "a/4"]);
  expect(set.size).toBe(0);
});

it("a group has no more out than it may, and the others go on", () => {
  const set = fairSet<string>({ of: groupOf, max: 2 });
  for (const key of ["a/1", "a/2", "a/3", "b/1"]) set.add(key);
  expect(takeAll(set)).toEqual(["a/1", "b/1", "a/2"]);
  expect(set.size).toBe(1);
  set.giveBack("b/1");
  expect(set.take()).toBeUndefined();
  set.giveBack("a/1");
  expect(set.take()).toBe("a/3");
});

it("every key comes out once, whatever is added, taken and given back", () => {
  const steps = fc.array(fc.oneof(fc.tuple(fc.constantFrom("a", "b", "c"), fc.nat(5)), fc.constant("take" as const)));
  fc.assert(
    fc.property(steps, fc.integer({ min: 1, max: 3 }), (all, max) => {
      const set = fairSet<string>({ of: groupOf, max });
      const waiting = new Set<string>();
      const out: string[] = [];
      for (const step of all) {
        if (step !== "take") {
          set.add(step.join("/"));
          waiting.add(step.join("/"));
        } else {
          const key = set.take();
          if (key === undefined) {
            const back = out.shift();
            if (back !== undefined) set.giveBack(back);
            continue;
          }
          expect(waiting.delete(key)).toBe(true);
          out.push(key);
          expect(out.filter((one) => groupOf(one) === groupOf(key)).length).toBeLessThanOrEqual(max);
        }
        expect(set.size).toBe(waiting.size);
      }
    }),
  );
});

it("keys of one namespace that never end leave places to others", async () => {
  const ended: string[] = [];
  const hanging = Promise.withResolvers<void>();
  const controller = startController({
    name: "test",
    concurrency: 3,
    perNamespace: 2,
    clock: systemClock,
    async reconcile(key) {
      if (key.startsWith("bad/")) await hanging.promise;
      ended.push(key);
      return { kind: "done" };
    },
  });
  for (let n = 0; n < 100; n += 1) controller.enqueue(`bad/${n}`);
  for (const key of ["good/1", "good/2"]) controller.enqueue(key);
  await eventually(
    "the others ended",
    () => ended.length,
    (count) => count === 2,
  );
  expect(ended).toEqual(["good/1", "good/2"]);
  expect(controller.sizes()).toMatchObject({ running: 2, ready: 98 });
  hanging.resolve();
  await controller.stop();
});
