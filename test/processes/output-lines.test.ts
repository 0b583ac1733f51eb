import { Readable } from "node:stream";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { lastLines, lineSplitter, readOutput } from "../../src/processes/index.ts";

describe("cutting output into lines", () => {
  it("does not depend on how the output is cut into chunks", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "é", "\n", "\r"), maxLength: 60 });
    fc.assert(
      fc.property(text, fc.array(fc.nat(60), { maxLength: 6 }), (output, cuts) => {
        const bytes = Buffer.from(output);
        const places = [0, ...cuts.filter((cut) => cut <= bytes.length).sort((a, b) => a - b), bytes.length];
        const splitter = lineSplitter();
        const lines = places.slice(1).flatMap((end, i) => splitter.push(bytes.subarray(places[i], end)));
        const expected = output.endsWith("\n") || output === "" ? output.split("\n").slice(0, -1) : output.split("\n");
        expect([...lines, ...splitter.end()].map(String)).toEqual(expected);
      }),
    );
  });

  it("cuts a line without end, so that nothing grows", () => {
    const splitter = lineSplitter(10);
    expect(splitter.push(Buffer.alloc(25, "x")).map((line) => line.length)).toEqual([10, 10]);
    expect(splitter.push(Buffer.from("yy\n")).map(String)).toEqual(["xxxxxyy"]);
  });

  it("a child waits while its lines are taken", async () => {
    let produced = 0;
    const flood = new Readable({
      highWaterMark: 1024,
      read() {
        produced++;
        this.push(produced > 10_000 ? null : Buffer.alloc(1024, "x\n"));
      },
    });
    let most = 0;
    let taken = 0;
    await readOutput({ stdout: flood, stderr: Readable.from([]) }, async (lines) => {
      taken += lines.length;
      most = Math.max(most, produced * 512 - taken);
    });
    expect(taken).toBe(10_000 * 512);
    expect(most).toBeLessThan(20 * 512);
  });
});

describe("the last lines", () => {
  it.each([
    ["all of a short output", ["one", "two"], "one\ntwo"],
    ["no empty lines", ["one", "", "   ", "two"], "one\ntwo"],
    ["no colours and control characters", ["\u001b[31mred\u001b[0m\r", "a\u0007b"], "red\nab"],
    [
      "twenty lines",
      Array.from({ length: 30 }, (_, n) => `${n}`),
      Array.from({ length: 20 }, (_, n) => `${n + 10}`).join("\n"),
    ],
    ["the beginning of a long line", ["x".repeat(5000)], "x".repeat(400)],
  ])("hold %s", (_, lines, expected) => {
    const last = lastLines();
    for (const line of lines) last.push(Buffer.from(line));
    expect(last.text()).toBe(expected);
  });

  it("hold at most 2,000 bytes", () => {
    const last = lastLines();
    for (let n = 0; n < 30; n++) last.push(Buffer.from(`${n} ${"é".repeat(190)}`));
    expect(Buffer.byteLength(last.text())).toBeLessThanOrEqual(2_000);
    expect(last.text()).toContain("29 é");
  });
});
