import { pause, type TimerClock } from "../../controller/clock.ts";
import { messageOf } from "../../errors/index.ts";
import { API_RESOURCES, apiPath, isApiError, type KubernetesClient } from "../../kubernetes/index.ts";
import { cutResultBytes, headOfCut, RESULT_MAX_BYTES, truncateResult } from "../truncate-message.ts";
import type { LivePod } from "./live-objects.ts";
import { CONTAINER } from "./pod-spec.ts";
import { RESULT_LINE_MAX, RESULT_LINES_MAX, resultLines } from "./result-lines.ts";

export interface ReadOptions {
  readonly client: KubernetesClient;
  readonly clock: TimerClock;
  /** Aborts at shutdown. */
  readonly signal: AbortSignal;
  /** Whoever reads waits for it, and lets others read while he waits for another try. Default: at once. */
  readonly turn?: <T>(work: () => Promise<T>) => Promise<T>;
}

interface Try {
  readonly waitMs: number;
  /** Lines from the end of the log, and how much they may hold: a node breaks lines off at 16 KiB. */
  readonly tailLines: number;
  readonly limitBytes: number;
}

const NODE_LINE_BYTES = 16 * 1024;
/** What other threads of a handler still print after the result. */
const FEW_LINES = 16;

/**
 * The end of a log cannot be asked for by bytes: the last lines are, first as many as a result has, then far more. The
 * later tries are also for a node that does not answer for a moment.
 */
const TRIES: readonly Try[] = [
  {
    waitMs: 0,
    tailLines: RESULT_LINES_MAX + FEW_LINES,
    limitBytes: (RESULT_LINES_MAX + FEW_LINES) * NODE_LINE_BYTES,
  },
  { waitMs: 500, tailLines: 5_000, limitBytes: 8 * 1024 * 1024 },
  { waitMs: 3_000, tailLines: 5_000, limitBytes: 8 * 1024 * 1024 },
];
/** A log that has not been read by then is not read. */
const READ_WITHIN_MS = 10_000;
const REASON_MAX = 300;

/**
 * The result of which the pod's status holds the beginning, `cut`, from the pod's log: whole, up to what a status is
 * given. Where the log cannot be read, `cut` and why. Never rejects, and takes half a minute at most.
 */
export async function readResult(pod: LivePod, cut: string, options: ReadOptions): Promise<string> {
  const { turn = (work) => work() } = options;
  let reason = "";
  for (const step of TRIES) {
    await pause(step.waitMs, options.clock, options.signal);
    if (options.signal.aborted) break;
    try {
      const bytes = await turn(() => readTail(pod, cut, step, options));
      if (bytes) return truncateResult(bytes, cutResultBytes(cut));
      reason = "it does not hold the result";
    } catch (error) {
      reason = reasonOf(error);
      if (isFinal(error)) break;
    }
  }
  return `${cut}\n(The rest could not be read from the log: ${reason}.)`;
}

/** @throws ApiError; SlessError `cluster_unavailable`, also when it takes too long */
async function readTail(
  { metadata }: LivePod,
  cut: string,
  { tailLines, limitBytes }: Try,
  { client, clock, signal }: ReadOptions,
): Promise<Buffer | undefined> {
  const late = new AbortController();
  const cancel = clock.setTimer(READ_WITHIN_MS, () => late.abort());
  const lines = resultLines(fitsCut(cut));
  try {
    const chunks = client.stream({
      method: "GET",
      path: apiPath(API_RESOURCES.Pod, { ...metadata, subresource: "log" }),
      query: { container: CONTAINER, tailLines, limitBytes },
      accept: "*/*",
      signal: AbortSignal.any([late.signal, signal]),
    });
    await eachLine(chunks, limitBytes, lines.take);
  } finally {
    cancel();
  }
  if (late.signal.aborted && !lines.read()) throw new Error("it took too long");
  return lines.read();
}

/** No longer line is kept than one that can count, and no more is read than was asked for. */
async function eachLine(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number,
  take: (line: string) => void,
): Promise<void> {
  let rest = "";
  let read = 0;
  for await (const chunk of chunks) {
    read += chunk.length;
    const lines = (rest + Buffer.from(chunk).toString("latin1")).split("\n");
    rest = (lines.pop() ?? "").slice(0, RESULT_LINE_MAX + 1);
    for (const line of lines) take(line);
    if (read > maxBytes) return;
  }
  take(rest);
}

function fitsCut(cut: string): (bytes: Buffer) => boolean {
  const total = cutResultBytes(cut) ?? 0;
  const head = headOfCut(cut);
  const headBytes = Buffer.from(head);
  return (bytes) => {
    if (bytes.length > total || bytes.length < Math.min(total, RESULT_MAX_BYTES)) return false;
    // What is no UTF-8 becomes other bytes in a status.
    return head.includes("\ufffd") || bytes.subarray(0, headBytes.length).equals(headBytes);
  };
}

/** The pod is gone, or nobody may read its log: that does not change within seconds. */
function isFinal(error: unknown): boolean {
  return isApiError(error) && error.status >= 400 && error.status < 500 && error.status !== 429;
}

function reasonOf(error: unknown): string {
  if (isApiError(error, 404)) return "its pod is gone";
  return messageOf(error).trim().replace(/\.$/, "").slice(0, REASON_MAX);
}
