import fc from "fast-check";
import { expect, it } from "vitest";
import { type PktLine, pktLine, readPktLines } from "../../../src/source/remote/pkt-line.ts";

async function* chunked(bytes: Buffer, sizes: readonly number[]): AsyncGenerator<Buffer> {
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length]!;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

async function read(bytes: Buffer, sizes: readonly number[] = [bytes.length || 1]): Promise<string[]> {
  const lines: PktLine[] = [];
  for await (const line of readPktLines(chunked(bytes, sizes))) lines.push(line);
  return lines.map((line) => (typeof line === "string" ? `<${line}>` : line.toString()));
}

it("lines are read however they are cut into chunks", async () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.string({ unit: "grapheme" })), sizes, async (texts, cuts) => {
      const bytes = Buffer.from(`${texts.map(pktLine).join("")}00010000`);
      expect(await read(bytes, cuts)).toEqual([...texts, "<delimiter>", "<flush>"]);
    }),
  );
});

it.each([
  ["that breaks off", "000ahello"],
  ["of HTML", "<html><body>sign in</body></html>"],
  ["with a length that is none", "0003"],
])("a body %s is refused", async (_, text) => {
  await expect(read(Buffer.from(text))).rejects.toThrow();
});
