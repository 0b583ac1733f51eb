import { expect, it } from "vitest";
import { firstLine } from "../../src/cli/table.ts";

it.each<[string, string | undefined, string]>([
  ["no text", undefined, ""],
  ["a short one", "It crashed.", "It crashed."],
  ["one with its output behind", "It does not start.\nTraceback:\n  line 1", "It does not start."],
  ["one that begins with an empty line", "\n\r\n  late\nmore", "late"],
  ["one as long as may be", "x".repeat(20), "x".repeat(20)],
  ["a longer one", "x".repeat(4_000), `${"x".repeat(19)}…`],
  ["one of wide characters", "😀".repeat(21), `${"😀".repeat(19)}…`],
  ["one that would run backwards", "a\u202eb", "a b"],
  ["one that would move the cursor", "a\u001b[2Kb\rc", "a [2Kb c"],
])("of %s the first line is shown, cut where it is too long", (_name, text, shown) => {
  expect(firstLine(text, 20)).toBe(shown);
});
