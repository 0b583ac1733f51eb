import { expect, it } from "vitest";
import { createEventRing } from "../../src/server/index.ts";
import { testClock } from "../support/test-clock.ts";

function ringOf() {
  const ring = createEventRing(testClock());
  const fail = (namespace: string, message: string) =>
    ring.report({
      step: "failed",
      object: { kind: "Function", namespace, name: "hello" },
      reason: "BuildFailed",
      message,
    });
  return { ring, fail };
}

it("the last two hundred events of a namespace are kept, oldest first", () => {
  const { ring, fail } = ringOf();
  for (let n = 0; n < 250; n += 1) fail("demo", `no ${n}`);
  const messages = ring.list("demo").map(({ message }) => message);
  expect(messages).toHaveLength(200);
  expect(messages[0]).toContain("no 50");
  expect(messages.at(-1)).toContain("no 249");
  expect(ring.list("other")).toEqual([]);
});

it("of many namespaces those that were silent for longest are forgotten, so that all together stay bounded", () => {
  const { ring, fail } = ringOf();
  const namespaces = Array.from({ length: 150 }, (_, n) => `ns-${n}`);
  for (const namespace of namespaces) for (let n = 0; n < 220; n += 1) fail(namespace, "no");
  const kept = namespaces.filter((namespace) => ring.list(namespace).length > 0);
  expect(kept).toEqual(namespaces.slice(50));
  fail("ns-50", "again");
  fail("ns-new", "no");
  expect(ring.list("ns-50")).toHaveLength(200);
  expect(ring.list("ns-51")).toEqual([]);
});

it("ten thousand namespaces with an event each are all told", () => {
  const { ring, fail } = ringOf();
  for (let n = 0; n < 10_000; n += 1) fail(`ns-${n}`, "no");
  expect(ring.list("ns-0")).toHaveLength(1);
  expect(ring.list("ns-9999")).toHaveLength(1);
});
