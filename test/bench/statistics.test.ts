import { expect, it } from "vitest";
import { median, percentile } from "../../bench/statistics.ts";

it.each([
  [[3, 1, 2], 50, 2],
  [[4, 1, 2, 3], 50, 2.5],
  [[5], 99, 5],
  [[0, 10], 90, 9],
  [[1, 2, 3, 4, 5], 0, 1],
  [[1, 2, 3, 4, 5], 100, 5],
])("of %j the %i-th percentile is %d", (values, percent, expected) => {
  expect(percentile(values, percent)).toBeCloseTo(expected, 10);
});

it("nothing measured is an error, not a zero", () => {
  expect(() => median([])).toThrow("no values");
});
