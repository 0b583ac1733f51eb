import { expect, it } from "vitest";
import { type Kind, withDefaults } from "../../src/apis/index.ts";

it.each<[Kind, object, object]>([
  [
    "Function",
    { runtime: "python3.11" },
    { runtime: "python3.11", entrypoint: "handler.handle", memoryMB: 128, timeoutSec: 30, replicas: 1 },
  ],
  [
    "Service",
    { runtime: "python3.11" },
    { runtime: "python3.11", entrypoint: "handler.handle", memoryMB: 128, timeoutSec: 0, replicas: 1 },
  ],
  ["Trigger", { type: "http", functionRef: "a" }, { type: "http", functionRef: "a", enabled: true }],
  [
    "FunctionJob",
    { functionRef: "a" },
    { functionRef: "a", entrypoint: "handler.handle", memoryMB: 128, timeoutSec: 30, runID: 0 },
  ],
  [
    "Repository",
    { url: "u", deletionGuard: { maxDeletions: 3 } },
    {
      url: "u",
      interval: "1m",
      timeout: "1m",
      suspend: false,
      prune: true,
      deletionPolicy: "Orphan",
      deletionGuard: { maxDeletions: 3, maxPercent: 50 },
    },
  ],
])("a %s gets the defaults of its schema", (kind, spec, expected) => {
  expect(withDefaults(kind, spec)).toEqual(expected);
});

it("what is written stays, falsy or not", () => {
  const spec = { type: "http", functionRef: "a", enabled: false } as const;
  expect(withDefaults("Trigger", spec)).toEqual(spec);
  expect(withDefaults("Function", { runtime: "x", replicas: 0 })).toMatchObject({ replicas: 0 });
});

it("the input stays as it was", () => {
  const spec = { runtime: "x", env: { A: "1" } };
  const filled = withDefaults("Function", spec);
  expect(spec).toEqual({ runtime: "x", env: { A: "1" } });
  expect(filled.env).not.toBe(spec.env);
});
