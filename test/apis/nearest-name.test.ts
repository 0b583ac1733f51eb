import fc from "fast-check";
import { expect, it } from "vitest";
import { nearestName } from "../../src/apis/index.ts";

const FIELDS = ["runtime", "entrypoint", "memoryMB", "timeoutSec", "env", "secretEnv", "replicas", "sourceDir"];

it.each([
  ["memoryMb", "memoryMB"],
  ["MEMORYMB", "memoryMB"],
  ["memoryMBs", "memoryMB"],
  ["memroyMB", "memoryMB"],
  ["runtimes", "runtime"],
  ["entryPoint", "entrypoint"],
  ["timeout", "timeoutSec"],
  ["evn", "env"],
  ["secretenv", "secretEnv"],
  ["sourcedir", "sourceDir"],
])("%s is nearest to %s", (name, expected) => {
  expect(nearestName(name, FIELDS)).toBe(expected);
});

it.each(["", "x", "labels", "handler", "z".repeat(1_000)])("%j is near to none", (name) => {
  expect(nearestName(name, FIELDS)).toBeUndefined();
});

it("of equally near names the first wins, and of no names none", () => {
  expect(nearestName("ab", ["aa", "bb"])).toBe("aa");
  expect(nearestName("ab", [])).toBeUndefined();
});

it("a known name is nearest to itself", () => {
  fc.assert(fc.property(fc.constantFrom(...FIELDS), (name) => nearestName(name, FIELDS) === name));
});
