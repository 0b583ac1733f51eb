import fc from "fast-check";
import { expect, it } from "vitest";
import { carriedOver, NOTHING_MADE } from "../../src/desired/carried-over.ts";

const ITEMS = Array.from({ length: 12 }, (_, id) => ({ id }));
const items = fc.uniqueArray(fc.constantFrom(...ITEMS));

it("of any two lists, exactly the items that are in both have what was made of them", () => {
  fc.assert(
    fc.property(items, items, (before, after) => {
      const made = { items: before, values: before.map(({ id }) => `made of ${id}`) };
      const expected = after.map((item) => (before.includes(item) ? `made of ${item.id}` : undefined));
      expect(carriedOver(made, after)).toEqual(expected);
      expect(carriedOver(made, after, (item) => !before.includes(item))).toEqual(expected);
    }),
  );
});

it("of nothing there is nothing", () => {
  expect(carriedOver(NOTHING_MADE, ITEMS.slice(0, 2))).toEqual([undefined, undefined]);
});
