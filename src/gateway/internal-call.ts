import { Readable } from "node:stream";
import type { SlessError } from "../errors/index.ts";
import { type RawHeaders, responseHeaders } from "./headers.ts";
import type { ResponseSink } from "./proxy-call.ts";

/** A call that comes from sless itself; it needs no http trigger. */
export interface InternalCall {
  /** How it came, for the handler's context: `invoke`, `cron`, `event`. */
  readonly trigger: string;
  /** Default POST. */
  readonly method?: string;
  /** Path and query below the name, default `/`. */
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | Readable;
  /** Stable over repetitions of the same event; default a new one. */
  readonly requestId?: string;
  /** Cancels the call. */
  readonly signal?: AbortSignal;
}

/** An answer of the function itself, whatever its status. */
export interface InternalAnswer {
  readonly status: number;
  /** Names in lower case; several values of one name joined by ", ". */
  readonly headers: Readonly<Record<string, string>>;
  /** Must be read or destroyed; it fails with a SlessError when the answer breaks off. */
  readonly body: Readable;
  readonly requestId: string;
}

export interface AnswerSink extends ResponseSink {
  readonly answer: Promise<InternalAnswer>;
  /** The caller wants no (further) answer: cancels the call, and whoever waits for the answer gets `reason`. */
  abort(reason: Error): void;
}

/** Collects an answer for a caller in this process. `onCancel` is called when the caller drops the body before its end. */
export function answerSink(requestId: string, onCancel: () => void): AnswerSink {
  const { promise, resolve, reject } = Promise.withResolvers<InternalAnswer>();
  let drained: (() => void) | undefined;
  let started = false;
  const body = new Readable({
    read() {
      const listener = drained;
      drained = undefined;
      listener?.();
    },
    destroy(error, done) {
      onCancel();
      done(error);
    },
  });
  return {
    answer: promise,
    start(status, headers) {
      started = true;
      resolve({ status, headers: joined(responseHeaders(headers, requestId, status)), body, requestId });
    },
    write: (chunk) => body.push(chunk),
    onceDrained(listener) {
      drained = listener;
    },
    end: () => void body.push(null),
    fail(error: SlessError) {
      if (started) body.destroy(error);
      else reject(error);
    },
    abort(reason) {
      if (started) {
        body.destroy(reason);
        return;
      }
      onCancel();
      reject(reason);
    },
  };
}

function joined(raw: RawHeaders): Record<string, string> {
  const headers: Record<string, string> = {};
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = (raw[at] as string).toLowerCase();
    const value = raw[at + 1] as string;
    headers[name] = Object.hasOwn(headers, name) ? `${headers[name]}, ${value}` : value;
  }
  return headers;
}
