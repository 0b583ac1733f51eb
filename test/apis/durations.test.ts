import { expect, it } from "vitest";
import { DURATION_PATTERN, durationMs } from "../../src/apis/index.ts";

it.each([
  ["30s", 30_000],
  ["5m", 300_000],
  ["1h", 3_600_000],
  ["1h30m", 5_400_000],
  ["1h1m1s", 3_661_000],
  ["0s", 0],
])("%s is %d ms", (text, expected) => {
  expect(text).toMatch(new RegExp(DURATION_PATTERN));
  expect(durationMs(text)).toBe(expected);
});

it.each(["", "1", "30", "s", "1d", "1s1m", "-1s", "1.5s", " 1s", "1h 1m"])("%j is no duration", (text) => {
  expect(text).not.toMatch(new RegExp(DURATION_PATTERN));
});
