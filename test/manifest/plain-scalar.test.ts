import { expect, it } from "vitest";
import { ambiguityOf, plainValue, writtenAs } from "../../src/manifest/plain-scalar.ts";

it.each<[string, unknown]>([
  ["", null],
  ["~", null],
  ["null", null],
  ["NULL", null],
  ["nULL", "nULL"],
  ["true", true],
  ["False", false],
  ["tRUE", "tRUE"],
  ["yes", "yes"],
  ["128", 128],
  ["-1", -1],
  ["+1", 1],
  ["017", 17],
  ["0o17", 15],
  ["0x1F", 31],
  ["1.5", 1.5],
  ["1e3", 1000],
  [".5", 0.5],
  [".inf", Number.POSITIVE_INFINITY],
  ["-.INF", Number.NEGATIVE_INFINITY],
  [".nan", Number.NaN],
  ["1_000", "1_000"],
  ["3.11.4", "3.11.4"],
  ["python3.11", "python3.11"],
  [".", "."],
  ["-", "-"],
  ["0b1", "0b1"],
  ["8080:80", "8080:80"],
])("%j is read as YAML 1.2 reads it", (text, expected) => {
  expect(plainValue(text)).toEqual(expected);
});

it.each([
  ..."y Y n N yes Yes YES no No NO on On ON off Off OFF".split(" "),
  ..."017 0o17 0x1F +5 1e3 .5 1. .inf -.inf .nan 1_000 0b11 12:30 12:30:00 190:20:30.15 1_0.5 0x_F".split(" "),
  ..."2024-01-01 2024-1-1 2024-01-01T10:00:00Z".split(" "),
  "2024-01-01 10:00:00 +01:00",
])("%j means different things to different tools", (text) => {
  expect(ambiguityOf(text)).toBeDefined();
});

it.each([
  ..."a yesterday nothing online true False null ~ 0 1 -1 128 1.5 3.11 1.2.3 1.2.3.4 . .. ./src - -x --flag".split(" "),
  ..."python3.11 Hello 8080:80 10.0.0.1:80 1h30m 12:99 2024 2024-01 1-2 +49-89-1234 0x 0o8 handler.handle".split(" "),
  "",
])("%j means the same to all tools", (text) => {
  expect(ambiguityOf(text)).toBeUndefined();
});

it.each<[string, string | undefined, string | undefined]>([
  ["yes", "string", '"yes"'],
  ["yes", undefined, '"yes"'],
  ["yes", "boolean", "true"],
  ["OFF", "boolean", "false"],
  ["yes", "integer", undefined],
  ["1_000", "integer", "1000"],
  ["017", "integer", "17 or 15"],
  ["0x80", "integer", "128"],
  ["1e3", "integer", "1000"],
  [".nan", "integer", undefined],
  ["yes", "object", undefined],
])("%j where %s is wanted is written %s", (text, wanted, expected) => {
  expect(writtenAs(text, wanted)).toBe(expected);
});
