import fc from "fast-check";
import { expect, it } from "vitest";
import { MESSAGE_MAX_BYTES, truncateMessage } from "../../src/platform/truncate-message.ts";

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
