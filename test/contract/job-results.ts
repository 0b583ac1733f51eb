import { expect, it } from "vitest";
import type { ImageBehaviour } from "../support/fake-images.ts";
import { resultCopy } from "../support/result-copy.ts";
import { jobOf, type PlatformUnderTest, untilDone } from "./platform.ts";

const MAX_BYTES = 65_536;
const cutAt = (result: string, total: number) => {
  const mark = `… (truncated, ${total} bytes in all; see the log)`;
  const kept = Buffer.from(result).subarray(0, MAX_BYTES - Buffer.byteLength(mark));
  return kept.toString("utf8").replace(/\ufffd+$/, "") + mark;
};
const long = (seed: string) => seed.repeat(Math.ceil(5_000 / seed.length));
const lines = Array.from({ length: 2_000 }, (_, n) => `line ${n}`).join("\n");

const CASES: readonly [string, string, Partial<ImageBehaviour>?][] = [
  ["4,096 bytes", "e".repeat(4_096)],
  ["4,097 bytes", "e".repeat(4_097)],
  ["4,097 bytes with a character over the border", `${"e".repeat(4_045)}${"é".repeat(26)}`],
  ["64 KiB", "e".repeat(MAX_BYTES)],
  ["64 KiB and a byte", "e".repeat(MAX_BYTES + 1)],
  ["100 kB", "0123456789".repeat(10_000)],
  ["80 kB with a character over the border", `e${"é".repeat(40_000)}`],
  ["thousands of lines", lines],
  ["5,941 bytes, the last of which has a line for itself", "x".repeat(5_941)],
  ["lines as results are told in", `${resultCopy(long("false "))}${long("x")}`],
  ["5 kB that the handler's output pretends to be others", long("true "), { print: resultCopy(long("lies ")) }],
];

/** A part of what every Platform keeps: results of runs. Where nothing runs, what runs leave must be put there. */
export function jobResultCases(open: () => Promise<PlatformUnderTest>): void {
  it.each(CASES)("a job's message is its result, also of %s", async (_, result, behaviour = {}) => {
    const { platform, makeImage } = await open();
    const run = { spec: jobOf(await makeImage({ result, ...behaviour })), runID: 1, eventJSON: "{}" };
    await platform.runJob(run);
    const done = await untilDone(platform, run);
    const size = Buffer.byteLength(result);
    expect(done).toMatchObject({ phase: "succeeded", message: size > MAX_BYTES ? cutAt(result, size) : result });
    expect(await platform.runJob(run)).toEqual(done);
  });
}
