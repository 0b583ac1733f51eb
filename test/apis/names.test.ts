import { expect, it } from "vitest";
import { isNamespaceName, isObjectName } from "../../src/apis/index.ts";

it.each([
  ["hello-2", true, true],
  ["h", true, true],
  ["2nd", false, true],
  ["x".repeat(52), true, true],
  ["x".repeat(53), false, true],
  ["x".repeat(54), false, true],
  ["x".repeat(55), false, false],
  ["", false, false],
  ["Hello", false, false],
  ["-hello", false, false],
  ["hello-", false, false],
  ["hello.world", false, false],
  ["../hello", false, false],
  ["hello\n", false, false],
])("%j names an object: %s, and a namespace: %s", (text, isObject, isNamespace) => {
  expect(isObjectName(text)).toBe(isObject);
  expect(isNamespaceName(text)).toBe(isNamespace);
});
