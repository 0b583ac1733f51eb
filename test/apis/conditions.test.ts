import { expect, it } from "vitest";
import {
  APPLIED,
  type Condition,
  type ConditionUpdate,
  conditionsAfter,
  conditionsWithApplied,
  findCondition,
  isTrue,
} from "../../src/apis/index.ts";

const BEFORE = "2024-01-01T00:00:00Z";
const NOW = "2024-01-02T00:00:00Z";
const ready = (status: Condition["status"], more: Partial<ConditionUpdate> = {}): ConditionUpdate => ({
  type: "Ready",
  status,
  reason: "Because",
  message: "",
  ...more,
});
const since = (update: ConditionUpdate, lastTransitionTime: string): Condition => ({ ...update, lastTransitionTime });

it("a new condition starts now", () => {
  expect(conditionsAfter(undefined, [ready("True")], NOW)).toEqual([since(ready("True"), NOW)]);
});

it("the time moves when the status changes", () => {
  expect(conditionsAfter([since(ready("False"), BEFORE)], [ready("True")], NOW)).toEqual([since(ready("True"), NOW)]);
});

it("the time stays when only reason, message or generation change", () => {
  const next = ready("False", { reason: "Other", message: "new", observedGeneration: 2 });
  expect(conditionsAfter([since(ready("False"), BEFORE)], [next], NOW)).toEqual([since(next, BEFORE)]);
});

it("a condition that is not named any more disappears", () => {
  const stalled = since(ready("True", { type: "Stalled" }), BEFORE);
  expect(conditionsAfter([stalled, since(ready("False"), BEFORE)], [ready("False")], NOW)).toEqual([
    since(ready("False"), BEFORE),
  ]);
});

it("what sync tells of an object stays, after the others, until sync says otherwise", () => {
  const applied = since(ready("False", { type: APPLIED }), BEFORE);
  const before = [applied, since(ready("False"), BEFORE)];
  expect(conditionsAfter(before, [ready("True")], NOW)).toEqual([since(ready("True"), NOW), applied]);
  const told = { status: "False", reason: "Other", message: "other" } as const;
  expect(conditionsWithApplied(before, told, NOW)).toEqual([before[1], since({ ...told, type: APPLIED }, BEFORE)]);
  expect(conditionsWithApplied([before[1]!], told, NOW)).toEqual([before[1], since({ ...told, type: APPLIED }, NOW)]);
  expect(conditionsWithApplied(before, undefined, NOW)).toEqual([before[1]]);
  expect(conditionsWithApplied(undefined, undefined, NOW)).toEqual([]);
});

it("conditions come in the order of the update", () => {
  const [a, b] = [ready("True", { type: "A" }), ready("True", { type: "B" })];
  const types = conditionsAfter([since(b, BEFORE), since(a, BEFORE)], [a, b], NOW).map(({ type }) => type);
  expect(types).toEqual(["A", "B"]);
});

it("the conditions before are left as they were", () => {
  const before = [since(ready("False"), BEFORE)];
  conditionsAfter(before, [ready("True")], NOW);
  expect(before).toEqual([since(ready("False"), BEFORE)]);
});

it("a condition is found by its type, and is true only when it says True", () => {
  const object = {
    status: { conditions: [since(ready("Unknown"), BEFORE), since(ready("True", { type: "Serving" }), BEFORE)] },
  };
  expect(findCondition(object.status.conditions, "Serving")?.status).toBe("True");
  expect(findCondition(undefined, "Serving")).toBeUndefined();
  expect(isTrue(object, "Serving")).toBe(true);
  expect(isTrue(object, "Ready")).toBe(false);
  expect(isTrue({}, "Ready")).toBe(false);
});
