import fc from "fast-check";
import { expect, it } from "vitest";
import { printable } from "../../src/cli/printable.ts";

const bytes = (text: string) => Buffer.from(text);

function through(...pieces: Uint8Array[]): string {
  const safe = printable();
  return pieces.map((piece) => safe.write(piece)).join("") + safe.end();
}

const cases: [string, string, string][] = [
  ["plain text, tabs and accents", "crème\tbrûlée 😀\n", "crème\tbrûlée 😀\n"],
  ["a colour, which ends with its line", "\u001b[31mred\nplain\n", "\u001b[31mred\u001b[0m\nplain\n"],
  ["a colour, which ends with the output", "\u001b[1mbold", "\u001b[1mbold\u001b[0m"],
  ["a cleared screen", "\u001b[2J\n", "\\x1b[2J\n"],
  ["a changed title", "\u001b]0;owned\u0007\n", "\\x1b]0;owned\\x07\n"],
  ["a line that overwrites itself", "failed\rok    \n", "failed\\x0dok    \n"],
  ["line ends of Windows", "a\r\nb\r\n", "a\nb\n"],
  ["C1 sequences", "\u009b2J\n", "\\x9b2J\n"],
  ["text that runs backwards", "\u202egnp.exe\n", "\\u202egnp.exe\n"],
  ["an escape at the very end", "x\u001b", "x\\x1b"],
];

it.each(cases)("%s", (_name, printed, shown) => {
  expect(through(bytes(printed))).toBe(shown);
});

it("bytes that are no UTF-8 do no harm", () => {
  expect(through(Buffer.from([0x61, 0xff, 0x9b, 0x0a]))).toBe("a\ufffd\ufffd\n");
});

it("wherever the output is cut, the same is shown, and no control character but of colours and lines", () => {
  const piece = fc.constantFrom("\u001b", "[", "31", "m", "2J", "\r", "\n", "é", "😀", "\u009b", "a", "\u202e");
  fc.assert(
    fc.property(fc.array(piece), fc.nat(), (parts, at) => {
      const whole = bytes(parts.join(""));
      const cut = at % (whole.length + 1);
      const shown = through(whole);
      expect(through(whole.subarray(0, cut), whole.subarray(cut))).toBe(shown);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
      expect(shown.replaceAll(/\u001b\[[0-9;:]*m|\n/g, "")).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e]/);
    }),
  );
});
