import type { Dispatcher } from "undici";
import { messageOf, SlessError } from "../errors/index.ts";
import { ApiError, type StatusBody } from "./api-error.ts";

/** An answer must not fill the memory: an object has 1.5 MiB at most, and a list of many is read in smaller pages. */
const ANSWER_MAX_BYTES = 32 * 1024 * 1024;
const ERROR_MAX_BYTES = 1024 * 1024;
const PLAIN_TEXT_MAX = 1_000;

class AnswerTooLarge extends Error {}

/** Less may be asked for. */
export function isTooLargeAnswer(error: unknown): boolean {
  return error instanceof SlessError && error.cause instanceof AnswerTooLarge;
}

/** @throws SlessError `cluster_unavailable` when it is no JSON or does not end */
export async function readJson<T>({ body }: Dispatcher.ResponseData): Promise<T> {
  const text = await textOf(body, ANSWER_MAX_BYTES);
  try {
    return JSON.parse(text) as T;
  } catch {
    // The parser's own words show a part of what may be a secret.
    throw new SlessError("cluster_unavailable", { cause: "its answer is no JSON" });
  }
}

/** What an answer of 400 and above says. */
export async function apiErrorOf({ statusCode, headers, body }: Dispatcher.ResponseData): Promise<ApiError> {
  const text = await textOf(body, ERROR_MAX_BYTES).catch(() => "");
  const retryAfter = Number(headers["retry-after"] ?? "none");
  return new ApiError(statusCode, statusBody(text), Number.isFinite(retryAfter) ? retryAfter : undefined);
}

async function textOf(body: Dispatcher.ResponseData["body"], maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      chunks.push(chunk);
      bytes += chunk.byteLength;
      if (bytes > maxBytes) throw new AnswerTooLarge(`its answer is larger than ${maxBytes} bytes`);
    }
  } catch (error) {
    throw unavailable(error);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function statusBody(text: string): StatusBody {
  try {
    const parsed: unknown = JSON.parse(text);
    if (parsed !== null && typeof parsed === "object") return parsed;
  } catch {
    // Some answers are plain text.
  }
  return text.trim() === "" ? {} : { message: text.trim().slice(0, PLAIN_TEXT_MAX) };
}

/** `cluster_unavailable` with what happened to the connection. */
export function unavailable(error: unknown): SlessError {
  return error instanceof SlessError
    ? error
    : new SlessError("cluster_unavailable", { cause: messageOf(error) }, { cause: error });
}

/** The server closed it, as opposed to not answering in time. */
export function isBrokenConnection(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown };
  return code === "UND_ERR_SOCKET" || code === "ECONNRESET" || code === "EPIPE";
}
