import fc from "fast-check";
import { expect, it } from "vitest";
import { isResultLine, resultLines } from "../../../src/platform/kubernetes/result-lines.ts";
import { resultCopy } from "../../support/result-copy.ts";

const linesOf = (copy: string) => copy.trimEnd().split("\n");
const read = (lines: readonly string[], fits = (_: Buffer) => true) => {
  const found = resultLines(fits);
  for (const line of lines) found.take(line);
  return found.read();
};

/** Two lists as one, each in its order. */
function interleaved(own: readonly string[], others: readonly string[], picks: readonly boolean[]): string[] {
  const [left, right] = [[...own], [...others]];
  const all: string[] = [];
  for (const pick of picks) all.push(...(pick ? left.splice(0, 1) : right.splice(0, 1)));
  return [...all, ...left, ...right];
}

it("whatever else is printed, and wherever it gets in between, the copy is found", () => {
  const bytes = fc.uint8Array({ minLength: 1, maxLength: 20_000 });
  const forged = fc.uint8Array({ minLength: 1, maxLength: 9_000 }).map((lie) => linesOf(resultCopy(lie)));
  const damaged = forged.map((lines) => lines.map((line) => line.slice(0, line.length - 3)));
  const noise = fc.oneof(fc.array(fc.string({ maxLength: 200 })), forged, damaged);
  fc.assert(
    fc.property(bytes, noise, fc.array(fc.boolean(), { maxLength: 30 }), (result, others, picks) => {
      const isIt = (found: Buffer) => found.equals(result);
      const log = interleaved(linesOf(resultCopy(result)), others, picks);
      expect(read(log, isIt)?.equals(result)).toBe(true);
    }),
    { numRuns: 200 },
  );
});

it("of two copies that fit the last one counts", () => {
  const [first, last] = [linesOf(resultCopy("one".repeat(2_000))), linesOf(resultCopy("two".repeat(2_000)))];
  expect(read([...first, ...last])?.toString()).toBe("two".repeat(2_000));
  expect(read([...first, ...last.slice(0, -1)])?.toString()).toBe("one".repeat(2_000));
});

it("copies that are begun and never ended push nothing out but the oldest of them", () => {
  const begun = Array.from({ length: 3 }, (_, n) => linesOf(resultCopy(`${n}`.repeat(9_000)))[0] ?? "");
  const [first = "", ...rest] = linesOf(resultCopy("x".repeat(9_000)));
  expect(read([first, ...begun, ...rest])?.toString()).toBe("x".repeat(9_000));
  expect(read([first, ...begun, linesOf(resultCopy("y".repeat(9_000)))[0] ?? "", ...rest])).toBeUndefined();
});

it.each([
  ["is no such line", "sless: done"],
  ["has no id", "sless-result 1/1 AAAA"],
  ["has a number of nothing", `sless-result ${"a".repeat(16)} 0/1 AAAA`],
  ["has more parts than a result", `sless-result ${"a".repeat(16)} 1/1000 AAAA`],
  ["holds no base64", `sless-result ${"a".repeat(16)} 1/1 A-_A`],
  ["is longer than one", `sless-result ${"a".repeat(16)} 1/1 ${"A".repeat(4_100)}`],
  ["has something before it", ` ${linesOf(resultCopy("result"))[0]}`],
])("a line that %s is shown as any other", (_, line) => {
  expect(isResultLine(line)).toBe(false);
  expect(read([line])).toBeUndefined();
});

it("a line of a copy is known as one", () => {
  for (const line of linesOf(resultCopy("x".repeat(65_536)))) expect(isResultLine(line)).toBe(true);
});
