import fc from "fast-check";
import { expect, it } from "vitest";
import {
  cutResultBytes,
  headOfCut,
  MESSAGE_MAX_BYTES,
  RESULT_MAX_BYTES,
  truncateMessage,
  truncateResult,
} from "../../src/platform/truncate-message.ts";

it("a message is whole, or says how much there was, and cuts no character in two", () => {
  const text = fc
    .tuple(fc.string({ unit: "grapheme", maxLength: 20 }), fc.nat(1_000))
    // A text may hold the replacement character itself; without it, one that is there was made by a cut.
    .map(([part, n]) => part.replaceAll("\ufffd", "").repeat(n));
  fc.assert(
    fc.property(text, (message) => {
      const shown = truncateMessage(message);
      const size = Buffer.byteLength(message);
      expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(MESSAGE_MAX_BYTES);
      expect(shown).not.toContain("\ufffd");
      if (size <= MESSAGE_MAX_BYTES) expect(shown).toBe(message);
      else expect(message.startsWith(shown.slice(0, shown.lastIndexOf("… (truncated, ")))).toBe(true);
      if (size > MESSAGE_MAX_BYTES) expect(shown.endsWith(`… (truncated, ${size} bytes in all)`)).toBe(true);
    }),
  );
});

it.each([
  ["whole at the limit", "e".repeat(RESULT_MAX_BYTES), undefined, /^e+$/],
  [
    "cut beyond it",
    "e".repeat(RESULT_MAX_BYTES + 1),
    undefined,
    /^e+… \(truncated, 65537 bytes in all; see the log\)$/,
  ],
  [
    "cut where more is known of",
    "e".repeat(RESULT_MAX_BYTES),
    1e9,
    /^e+… \(truncated, 1000000000 bytes in all; see the log\)$/,
  ],
  ["cut between characters", "é".repeat(40_000), undefined, /^é+… \(truncated, 80000 bytes in all; see the log\)$/],
  ["no longer where it is no text", Buffer.alloc(RESULT_MAX_BYTES, 0xff), undefined, /^\ufffd+… \(truncated, 65536 /],
])("a result is %s", (_, result, total, expected) => {
  const shown = truncateResult(result, total);
  expect(shown).toMatch(expected);
  expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(RESULT_MAX_BYTES);
});

it("a message says that it was cut where it fills what it may be and its end says so", () => {
  const mark = "… (truncated, 5000 bytes in all; see the log)";
  const fill = (bytes: number) => "e".repeat(bytes - Buffer.byteLength(mark)) + mark;
  for (const bytes of [4_093, 4_094, 4_095, 4_096]) expect(cutResultBytes(fill(bytes))).toBe(5_000);
  for (const bytes of [100, 4_092, 4_097]) expect(cutResultBytes(fill(bytes))).toBeUndefined();
  expect(cutResultBytes(fill(4_096).replace("5000", "4096"))).toBeUndefined();
  expect(cutResultBytes(`${fill(4_095)}.`)).toBeUndefined();
  expect(headOfCut(fill(4_096))).toMatch(/^e+$/);
});
