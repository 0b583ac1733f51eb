import type { IncomingMessage, ServerResponse } from "node:http";
import type { SlessError } from "../errors/index.ts";
import { responseHeaders } from "./headers.ts";
import { errorText, INTERNAL_HEADERS } from "./internal-protocol.ts";
import type { ResponseSink } from "./proxy-call.ts";

/** A rest of a refused request's body up to this size is read and forgotten, so that the connection can go on. */
const DISCARD_MAX_BYTES = 1024 * 1024;

/** Sends an answer of a replica to the client of an HTTP server; with `isInternal` that is another process of sless. */
export function httpSink(
  req: IncomingMessage,
  res: ServerResponse,
  requestId: string,
  isInternal = false,
): ResponseSink {
  let started = false;
  let wrote = false;
  return {
    start(status, headers) {
      res.writeHead(status, responseHeaders(headers, requestId, status));
      started = true;
      // With the first bytes where they come at once; alone where the body takes its time (server-sent events).
      setImmediate(() => {
        if (!wrote && !res.writableEnded && !res.destroyed) res.flushHeaders();
      });
    },
    write(chunk) {
      wrote = true;
      return res.write(chunk);
    },
    onceDrained: (listener) => void res.once("drain", listener),
    end: () => void res.end(),
    fail(error) {
      if (started) breakOff(req, res);
      else sendGatewayError(req, res, error, requestId, isInternal);
    },
  };
}

/** Without a length or chunks only a reset tells the client that the answer is not complete. */
function breakOff(req: IncomingMessage, res: ServerResponse): void {
  if (req.httpVersionMinor === 0) req.socket.resetAndDestroy();
  else res.destroy();
}

/** Body of an error of the gateway itself, told apart from a function's own answers by `component`. */
function gatewayErrorBody(error: SlessError, requestId: string): string {
  const { message, code } = error;
  return `${JSON.stringify({ error: message, code, component: "gateway", reason: code, requestId })}\n`;
}

/** Answers with the error's status and JSON; 503 invites to come again soon. */
export function sendGatewayError(
  req: IncomingMessage,
  res: ServerResponse,
  error: SlessError,
  requestId: string,
  isInternal = false,
): void {
  if (res.headersSent || res.destroyed) return;
  const body = gatewayErrorBody(error, requestId);
  res.writeHead(error.status, {
    "content-type": "application/json; charset=utf-8",
    "content-length": Buffer.byteLength(body),
    "x-request-id": requestId,
    ...(isInternal ? { [INTERNAL_HEADERS.error]: errorText(error) } : {}),
    ...(error.status === 503 ? { "retry-after": "1" } : {}),
    ...(mayDiscard(req) ? {} : { connection: "close" }),
  });
  res.end(body);
}

function mayDiscard(req: IncomingMessage): boolean {
  if (req.complete || !hasBody(req)) return true;
  const length = Number(req.headers["content-length"]);
  return length <= DISCARD_MAX_BYTES;
}

/** Whether a body comes with a request, by its head. */
export function hasBody(req: IncomingMessage): boolean {
  return req.headers["transfer-encoding"] !== undefined || Number(req.headers["content-length"] ?? 0) > 0;
}
