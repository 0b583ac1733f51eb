import { expect, it } from "vitest";
import { isKind, keyOf, refOf, refText } from "../../src/apis/index.ts";

const hello = { kind: "Function", metadata: { namespace: "default", name: "hello" } } as const;

it("an object is named by kind, namespace and name", () => {
  expect(refOf(hello)).toEqual({ kind: "Function", namespace: "default", name: "hello" });
  expect(refText(refOf(hello))).toBe("Function/default/hello");
  expect(keyOf(hello)).toBe("default/hello");
  expect(keyOf(refOf(hello))).toBe("default/hello");
});

it.each([
  ["Function", true],
  ["FunctionJob", true],
  ["function", false],
  ["toString", false],
  ["__proto__", false],
  [undefined, false],
  [1, false],
])("%j is a kind: %s", (name, expected) => {
  expect(isKind(name)).toBe(expected);
});
