import { expect, it } from "vitest";
import { coreEvent } from "../../src/kubernetes-events/core-event.ts";
import { createEventQueue } from "../../src/kubernetes-events/event-queue.ts";
import { listedEvents } from "../../src/kubernetes-events/listed-events.ts";
import { createTokens } from "../../src/kubernetes-events/tokens.ts";
import type { EventNews } from "../../src/report/index.ts";
import { manualClock } from "../support/manual-clock.ts";

const NEWS: EventNews = {
  type: "Normal",
  reason: "Built",
  message: "Built it",
  object: { kind: "Function", namespace: "demo", name: "hello" },
};
const TOLD = { instance: "pod-1", now: new Date("2026-01-01T00:00:00.500Z") };
const told = (changes: Partial<EventNews> = {}, uid = "u") => coreEvent({ ...NEWS, ...changes }, uid, TOLD);

it("the same news have the same name, others another", () => {
  const { name } = told().metadata;
  expect(coreEvent(NEWS, "u", { instance: "pod-2", now: new Date() }).metadata.name).toBe(name);
  const others = [
    told({ message: "x" }),
    told({ reason: "Other" }),
    told({ type: "Warning" }),
    told({}, "another life"),
  ];
  expect(new Set([name, ...others.map(({ metadata }) => metadata.name)]).size).toBe(5);
});

it("a message is bounded, and shows no password of a URL", () => {
  const { message } = told({ message: `https://bot:secret@git.example.com/a ${"x".repeat(2_000)}` });
  expect(message).toMatch(/^https:\/\/\*\*\*@git\.example\.com\/a x+$/);
  expect(message).toHaveLength(1_000);
});

it.each([
  ["Built", "Built"],
  ["scaled to zero", "Scaledtozero"],
  ["", "Unknown"],
  ["a".repeat(200), `A${"a".repeat(127)}`],
])("the reason %s is told as %s", (reason, expected) => {
  expect(told({ reason }).reason).toBe(expected);
});

it("the longest names of objects make names of events", () => {
  const object = { kind: "FunctionJob", namespace: "demo", name: "a".repeat(52) };
  expect(told({ object }).metadata.name).toMatch(/^a{52}\.[0-9a-f]{16}$/);
});

it("equal events wait once, warnings go first, and of too many the normal ones are left out", () => {
  const queue = createEventQueue(2);
  const named = (message: string, type: EventNews["type"] = "Normal") => told({ message, type });
  expect([queue.add(named("a")), queue.add(named("a")), queue.add(named("b"))]).toEqual([false, false, false]);
  expect(queue.add(named("c"))).toBe(true);
  expect(queue.add(named("w", "Warning"))).toBe(true);
  expect(queue.size).toBe(2);
  expect([queue.take(), queue.take(), queue.take()].map((next) => next && [next.event.message, next.times])).toEqual([
    ["w", 1],
    ["b", 1],
    undefined,
  ]);
});

it("an object that tells something all the time is slowed down, others are not", () => {
  const clock = manualClock();
  const tokens = createTokens(clock, { burst: 2, refillMs: 10_000 });
  expect([tokens.take("a"), tokens.take("a"), tokens.take("a"), tokens.take("b")]).toEqual([true, true, false, true]);
  clock.advance(10_000);
  expect([tokens.take("a"), tokens.take("a")]).toEqual([true, false]);
});

it("events are listed oldest first, the latest 200", () => {
  const events = Array.from({ length: 250 }, (_, index) => ({
    ...told({ message: String(index) }),
    metadata: { ...told().metadata, resourceVersion: String(index + 9_990) },
    lastTimestamp: index < 100 ? "2026-01-01T00:00:01Z" : "2026-01-01T00:00:02Z",
  }));
  const listed = listedEvents(events.toReversed());
  expect(listed.map(({ message }) => message)).toEqual(Array.from({ length: 200 }, (_, index) => String(index + 50)));
  expect(listed[0]).toEqual({
    type: "Normal",
    reason: "Built",
    message: "50",
    object: { kind: "Function", name: "hello" },
    time: "2026-01-01T00:00:01Z",
  });
});
