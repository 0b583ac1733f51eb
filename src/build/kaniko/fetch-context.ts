import { createWriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { Agent, request } from "undici";
import type { TimerClock } from "../../controller/clock.ts";
import { messageOf, SlessError } from "../../errors/index.ts";

export interface FetchRequest {
  /** Presigned: who holds it may read, so it stands in no message. */
  readonly url: string;
  /** Path of the file; it is there when all of it is. */
  readonly to: string;
  readonly clock: TimerClock;
  /** Default 5. */
  readonly tries?: number;
}

const BACK_OFF_MS = 500;
const FINAL = ["ENOSPC", "EDQUOT", "EROFS", "EACCES", "ENOENT"];

/**
 * Fetches a build's context to a file.
 *
 * @throws SlessError `context_unavailable`
 */
export async function fetchContext({ url, to, clock, tries = 5 }: FetchRequest): Promise<void> {
  const dispatcher = new Agent({ connect: { timeout: 10_000 }, headersTimeout: 30_000, bodyTimeout: 30_000 });
  try {
    for (let tried = 1; ; tried += 1) {
      const fault = await fetchOnce(url, to, dispatcher);
      if (!fault) return;
      if (fault.isFinal || tried >= tries) throw new SlessError("context_unavailable", { cause: fault.cause });
      await new Promise<void>((resolve) => void clock.setTimer(BACK_OFF_MS * 2 ** (tried - 1), resolve));
    }
  } finally {
    await dispatcher.destroy();
  }
}

interface Fault {
  readonly cause: string;
  readonly isFinal: boolean;
}

async function fetchOnce(url: string, to: string, dispatcher: Agent): Promise<Fault | undefined> {
  const partial = `${to}.part`;
  try {
    const { statusCode, body } = await request(url, { dispatcher });
    if (statusCode !== 200) {
      return refused(statusCode, s3CodeIn(await body.text()));
    }
    await pipeline(body, createWriteStream(partial));
    await rename(partial, to);
    return undefined;
  } catch (error) {
    await rm(partial, { force: true });
    const isFinal = FINAL.includes((error as NodeJS.ErrnoException).code ?? "");
    return { cause: isFinal ? `it cannot be written to ${to}: ${messageOf(error)}` : notAnswered(url, error), isFinal };
  }
}

function notAnswered(url: string, error: unknown): string {
  const host = URL.canParse(url) ? new URL(url).host : "the object store";
  return `${host} did not answer: ${messageOf(error).replaceAll(url, "…")}`;
}

/** `<Code>NoSuchKey</Code>` of an S3 server's answer. */
function s3CodeIn(answer: string): string {
  return /<Code>(\w{1,60})<\/Code>/.exec(answer)?.[1] ?? "";
}

function refused(status: number, code: string): Fault {
  const said = code === "" ? String(status) : `${status} ${code}`;
  if (status === 404) return { cause: `it is in the object store no more (${said})`, isFinal: true };
  if (status === 401 || status === 403)
    return { cause: `the object store refuses the address, which may have expired (${said})`, isFinal: true };
  return { cause: `the object store answered ${said}`, isFinal: status < 500 && status !== 429 };
}
