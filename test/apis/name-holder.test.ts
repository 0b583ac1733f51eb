import { expect, it } from "vitest";
import { nameHolder, type ObjectOf } from "../../src/apis/index.ts";

const at = (second: number, isLeaving = false) => ({
  metadata: {
    creationTimestamp: `2026-01-01T00:00:0${second}Z`,
    ...(isLeaving && { deletionTimestamp: "2026-01-01T01:00:00Z" }),
  },
});
const fn = (...from: Parameters<typeof at>) => ({ kind: "Function", ...at(...from) }) as ObjectOf<"Function">;
const service = (...from: Parameters<typeof at>) => ({ kind: "Service", ...at(...from) }) as ObjectOf<"Service">;

it.each([
  ["nobody", undefined, undefined, undefined],
  ["a function alone", fn(1), undefined, "Function"],
  ["a service alone", undefined, service(1), "Service"],
  ["the function that was there first", fn(1), service(2), "Function"],
  ["the service that was there first", fn(2), service(1), "Service"],
  ["the service, of the same second", fn(1), service(1), "Service"],
  ["the service, once the function leaves", fn(1, true), service(2), "Service"],
  ["the function, once the service leaves", fn(2), service(1, true), "Function"],
  ["nobody, when both leave", fn(1, true), service(1, true), undefined],
])("a name belongs to %s", (_who, one, other, expected) => {
  expect(nameHolder(one, other)?.kind).toBe(expected);
});
