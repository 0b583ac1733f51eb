import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { copyJson, fieldsOf, freezeDeep, overlaid, writableOf } from "../../../src/resources/embedded/fields.ts";

const KEYS = ["a", "b", "a/b", "~1", "__proto__", "constructor", ""];
const value = fc.letrec((tie) => ({
  map: fc.array(fc.tuple(fc.constantFrom(...KEYS), tie("any")), { maxLength: 4 }).map(Object.fromEntries),
  any: fc.oneof(fc.integer(), fc.string(), fc.boolean(), fc.constant(null), fc.array(fc.integer()), tie("map")),
}));

describe("fields", () => {
  it("an object taken apart and put together is the same", () => {
    const writable = fc.record(
      { spec: value.map, labels: fc.dictionary(fc.constantFrom("a", "example.com/b"), fc.string(), { minKeys: 1 }) },
      { requiredKeys: ["spec"] },
    );
    fc.assert(
      fc.property(writable, (object) => {
        expect(writableOf(fieldsOf(object))).toEqual(object);
      }),
    );
  });

  it("finalizers are a set, a list is one leaf, an empty map is a leaf", () => {
    const fields = fieldsOf({ finalizers: ["a/b", "c/d"], spec: { list: [1, 2], empty: {}, gone: undefined } });
    expect(Object.fromEntries(fields)).toEqual({
      "metadata/finalizers/a~1b": true,
      "metadata/finalizers/c~1d": true,
      "spec/list": [1, 2],
      "spec/empty": {},
    });
  });

  it.each([
    ["a leaf replaces a leaf", { a: 1 }, { a: 2 }, { a: 2 }],
    ["maps merge", { a: { b: 1 } }, { a: { c: 2 } }, { a: { b: 1, c: 2 } }],
    ["an empty map leaves what is there", { a: { b: 1 } }, { a: {} }, { a: { b: 1 } }],
    ["a map replaces a scalar", { a: 1 }, { a: { b: 1 } }, { a: { b: 1 } }],
    ["a scalar replaces a map", { a: { b: 1 } }, { a: 1 }, { a: 1 }],
    ["a list replaces a list", { a: [1, 2] }, { a: [3] }, { a: [3] }],
  ])("%s", (_name, base, wanted, merged) => {
    expect(writableOf(overlaid(fieldsOf({ spec: base }), fieldsOf({ spec: wanted }))).spec).toEqual(merged);
  });

  it("a copy is deep, keeps __proto__ a plain property and drops what is undefined", () => {
    const source = JSON.parse('{"__proto__": {"polluted": true}, "list": [{"a": 1}]}') as { list: object[] };
    const copy = copyJson({ ...source, gone: undefined });
    expect(JSON.stringify(copy)).toBe(JSON.stringify(source));
    expect(copy.list[0]).not.toBe(source.list[0]);
    expect(copy).not.toHaveProperty("polluted");
  });

  it.each<[string, unknown]>([
    ["a function", () => 1],
    ["a number that is none", Number.NaN],
    ["a nesting without end", JSON.parse("[".repeat(10_000) + "]".repeat(10_000))],
  ])("%s is refused", (_name, bad) => {
    expect(() => copyJson({ bad })).toThrow(expect.objectContaining({ code: "invalid_request" }));
  });

  it("freezing reaches every level", () => {
    const frozen = freezeDeep({ a: [{ b: 1 }] });
    expect(Object.isFrozen(frozen.a[0])).toBe(true);
  });
});
