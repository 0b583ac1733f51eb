import { expect, it } from "vitest";
import { createRolloutClock } from "../../src/reconcilers/rollout-clock.ts";
import { testClock } from "../support/test-clock.ts";

it("a rollout lasts from its begin, whatever is seen of it on the way", () => {
  const clock = testClock();
  const rollouts = createRolloutClock(clock);
  expect(rollouts.begin("a", "1")).toBe(true);
  clock.forward(500);
  expect(rollouts.begin("a", "1")).toBe(false);
  expect(rollouts.note("a", "missing")).toBeUndefined();
  clock.forward(500);
  expect(rollouts.note("a", "serving")).toBe(1_000);
});

it("what served and is away for a second took a second, not the time since it was new", () => {
  const clock = testClock();
  const rollouts = createRolloutClock(clock);
  rollouts.begin("a", "1");
  rollouts.note("a", "serving");
  clock.forward(17_000);
  expect(rollouts.begin("a", "1")).toBe(false);
  rollouts.note("a", "missing");
  clock.forward(400);
  rollouts.note("a", "missing");
  clock.forward(600);
  expect(rollouts.note("a", "serving")).toBe(1_000);
});

it("what was stopped begins anew when it is wanted again", () => {
  const clock = testClock();
  const rollouts = createRolloutClock(clock);
  rollouts.begin("a", "1");
  rollouts.note("a", "serving");
  expect(rollouts.note("a", "stopped")).toBeUndefined();
  clock.forward(60_000);
  expect(rollouts.begin("a", "1")).toBe(true);
  clock.forward(200);
  expect(rollouts.note("a", "serving")).toBe(200);
});

it("what this process did not see begin took nobody knows how long", () => {
  const rollouts = createRolloutClock(testClock());
  expect(rollouts.note("a", "serving")).toBeUndefined();
  rollouts.begin("a", "1");
  rollouts.forget("a");
  expect(rollouts.note("a", "serving")).toBeUndefined();
});
