import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { SlessError } from "../errors/index.ts";
import type { Endpoint } from "./endpoint-table.ts";
import { type CallFacts, requestHeaders } from "./headers.ts";
import { hasBody } from "./http-sink.ts";
import type { InternalCall } from "./internal-call.ts";
import type { OutgoingRequest } from "./proxy-call.ts";
import { bytesBody, type RequestBody, streamBody } from "./request-body.ts";

/** How a request of an HTTP client goes on to a workload. */
export interface ForwardOptions {
  /** Path and query below the name. */
  readonly path: string;
  /** How the call came, for the handler's context. */
  readonly trigger: string;
  /** `/fn/{ns}/{name}`, where the call came in by it. */
  readonly prefix?: string;
  /** The client waits for `100 Continue` and nobody has sent it yet. */
  readonly awaitsContinue?: boolean;
  /** Names in lower case of headers that were meant for sless and end here. */
  readonly withoutHeaders?: readonly string[];
  /** It comes from another process of sless: its `X-Forwarded-*` are right, and errors are told so that it can read them. */
  readonly isInternal?: boolean;
}

/** As much of an endpoint as a request depends on. */
type Limited = Pick<Endpoint, "timeoutSec">;

/**
 * A client's request as the replica gets it: method, path and body as they came.
 *
 * @throws SlessError `invalid_request` when the body comes in a coding that the gateway would lose
 */
export function incomingRequest(
  endpoint: Limited,
  req: IncomingMessage,
  res: ServerResponse,
  options: ForwardOptions & { readonly requestId: string; readonly trustForwarded: boolean },
): OutgoingRequest {
  const coding = req.headers["transfer-encoding"];
  if (coding !== undefined && coding.trim().toLowerCase() !== "chunked")
    throw new SlessError("invalid_request", { cause: `Transfer-Encoding "${coding}" is not understood, only chunked` });
  const onFirstRead = () => {
    if (options.awaitsContinue) res.writeContinue();
  };
  return {
    method: req.method ?? "GET",
    path: options.path,
    headers: callHeaders(endpoint, req, options),
    body: hasBody(req) ? streamBody(req, onFirstRead) : undefined,
  };
}

type HeaderOptions = Pick<ForwardOptions, "prefix" | "trigger" | "withoutHeaders"> &
  Pick<CallFacts, "requestId" | "trustForwarded">;

/** A client's headers as the replica gets them. */
export function callHeaders(endpoint: Limited, req: IncomingMessage, options: HeaderOptions): string[] {
  return requestHeaders(req.rawHeaders, {
    clientAddress: req.socket.remoteAddress ?? "unknown",
    host: req.headers.host,
    protocol: "encrypted" in req.socket ? "https" : "http",
    prefix: options.prefix,
    ...common(endpoint, options),
    trustForwarded: options.trustForwarded,
    withoutHeaders: options.withoutHeaders,
  });
}

/** A call of sless itself as the replica gets it. */
export function internalRequest(endpoint: Limited, call: InternalCall, requestId: string): OutgoingRequest {
  const headers = requestHeaders(Object.entries(call.headers ?? {}).flat(), {
    clientAddress: "127.0.0.1",
    host: undefined,
    protocol: "http",
    prefix: undefined,
    ...common(endpoint, { trigger: call.trigger, requestId }),
    trustForwarded: false,
    withoutHeaders: undefined,
  });
  return { method: call.method ?? "POST", path: call.path ?? "/", headers, body: bodyOf(call.body) };
}

function common(
  { timeoutSec }: Limited,
  { trigger, requestId }: { trigger: string; requestId: string },
): Pick<CallFacts, "trigger" | "requestId" | "timeoutMs"> {
  return { trigger, requestId, timeoutMs: timeoutSec * 1_000 };
}

function bodyOf(body: InternalCall["body"]): RequestBody | undefined {
  if (body === undefined) return undefined;
  if (body instanceof Readable) return streamBody(body);
  return bytesBody(typeof body === "string" ? Buffer.from(body) : body);
}
