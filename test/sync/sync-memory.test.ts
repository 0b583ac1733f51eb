import { expect, it } from "vitest";
import type { DesiredState } from "../../src/plan/index.ts";
import { createSyncMemory } from "../../src/sync/sync-memory.ts";

const NAMESPACE = "team";
const HELLO = { kind: "Function", namespace: NAMESPACE, name: "hello" } as const;
const one = { namespace: NAMESPACE, name: "one" };
const two = { namespace: NAMESPACE, name: "two" };

function desiring(file: string, line: number): DesiredState {
  const { kind, ...metadata } = HELLO;
  const object = { intent: { kind, metadata, spec: { runtime: "python3.11" } }, file, line, column: 1 };
  return { revision: "main@sha1:0", objects: [object], diagnostics: [], blocked: new Set(), blocksPruning: false };
}

it("tells where an object stands in the repository that is asked about, whatever others want of that name", () => {
  const memory = createSyncMemory();
  memory.of(one, "uid-1").desired = desiring("a.yaml", 3);
  memory.of(two, "uid-2").desired = desiring("b.yaml", 7);
  expect(memory.placeOf(HELLO, one)).toEqual({ file: "a.yaml", line: 3, column: 1 });
  expect(memory.placeOf(HELLO, two)).toEqual({ file: "b.yaml", line: 7, column: 1 });
});

it("tells nothing of what no run has read", () => {
  const memory = createSyncMemory();
  memory.of(one, "uid-1").desired = desiring("a.yaml", 3);
  memory.of(two, "uid-2");
  const elsewhere = { ...one, namespace: "another" };
  expect(memory.placeOf(HELLO, two)).toBeUndefined();
  expect(memory.placeOf(HELLO, elsewhere)).toBeUndefined();
  expect(memory.placeOf({ ...HELLO, name: "other" }, one)).toBeUndefined();
  // Another life of the repository has been read by nobody.
  memory.of(one, "uid-3");
  expect(memory.placeOf(HELLO, one)).toBeUndefined();
});
