import type { Readable } from "node:stream";
import { lineSplitter } from "./line-splitter.ts";
import type { SupervisedProcess } from "./process-supervisor.ts";

/**
 * Reads both outputs of a child to their ends, as lines. The child waits while `take` does, so a flood of output
 * stays in the child. Never rejects; resolves after the last line was taken.
 */
export async function readOutput(
  child: Pick<SupervisedProcess, "stdout" | "stderr">,
  take: (lines: Buffer[]) => Promise<void>,
): Promise<void> {
  await Promise.all([readStream(child.stdout, take), readStream(child.stderr, take)]);
}

async function readStream(stream: Readable, take: (lines: Buffer[]) => Promise<void>): Promise<void> {
  const splitter = lineSplitter();
  try {
    for await (const chunk of stream) await take(splitter.push(chunk as Buffer));
  } catch {
    // Closed before its end, because a descendant kept it open: what was read counts.
  }
  await take(splitter.end());
}
