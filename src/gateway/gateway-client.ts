import type { IncomingMessage, ServerResponse } from "node:http";
import type { WorkloadRef } from "../apis/index.ts";
import { tokenFile } from "../auth/index.ts";
import type { Clock } from "../controller/index.ts";
import { isSlessError, messageOf, SlessError } from "../errors/index.ts";
import { callCount } from "./call-count.ts";
import { callPool } from "./call-pool.ts";
import type { Gateway } from "./gateway.ts";
import { requestIdOf } from "./headers.ts";
import { httpSink, sendGatewayError } from "./http-sink.ts";
import { answerSink } from "./internal-call.ts";
import { INTERNAL_HEADERS, internalPath } from "./internal-protocol.ts";
import { incomingRequest, internalRequest } from "./outgoing-request.ts";
import type { OutgoingRequest, ResponseSink } from "./proxy-call.ts";
import { type RunningCall, sendToGateway } from "./send-to-gateway.ts";

export interface GatewayClientOptions {
  /** Of the gateway's internal port, `http://sless-gateway.sless.svc:9091`. */
  readonly url: string;
  /** Path of a file with a service account's token that is meant for the gateway; it is read anew when it changes. */
  readonly tokenFile: string;
  readonly clock: Clock;
}

/**
 * The same as a gateway in this process for calls of sless itself, with `gateway_unreachable` as one more way to fail.
 * Calls from outside are not taken here: the gateway has a port of its own for them.
 */
export type GatewayClient = Gateway;

/** The gateway knows how long a call may take. */
const NO_LIMIT = { timeoutSec: 0 };
/** Shorter than the idle time of the gateway's server. */
const KEEP_ALIVE_MS = 30_000;
const RESPONSE_HEADER_MAX_BYTES = 128 * 1024;

/** Calls workloads through the internal port of a gateway in another process, over kept-alive connections. */
export function gatewayClient({ url, tokenFile: path, clock }: GatewayClientOptions): GatewayClient {
  const token = tokenFile(path, clock, (cause) => new SlessError("gateway_unreachable", { cause }));
  const inFlight = callCount();
  const pool = callPool(url, { keepAliveTimeout: KEEP_ALIVE_MS, maxHeaderSize: RESPONSE_HEADER_MAX_BYTES });

  async function send(workload: WorkloadRef, request: OutgoingRequest, sink: ResponseSink): Promise<RunningCall> {
    const headers = [...request.headers, INTERNAL_HEADERS.token, await token()];
    const path = internalPath(workload, request.path);
    const call = sendToGateway(pool, workload, { ...request, path, headers }, sink);
    void call.ended.then(inFlight.begin());
    return call;
  }

  async function forward(...[workload, req, res, options]: Parameters<Gateway["forward"]>): Promise<void> {
    const requestId = requestIdOf(req.headers["x-request-id"]);
    try {
      const request = incomingRequest(NO_LIMIT, req, res, { ...options, requestId, trustForwarded: false });
      const call = await send(workload, request, httpSink(req, res, requestId));
      if (res.destroyed) call.cancel();
      else res.once("close", () => cancelUnfinished(res, call));
    } catch (error) {
      answerFailure(req, res, error, requestId);
    }
  }
  return {
    isCall: () => false,
    handle: (req, res) => answerFailure(req, res, notHere(), requestIdOf(req.headers["x-request-id"])),
    handleUpgrade: (_req, socket) => void socket.on("error", () => undefined).end(NOT_HERE),
    forward: (...args) => void forward(...args),
    async invoke(workload, call) {
      call.signal?.throwIfAborted();
      const requestId = requestIdOf(call.requestId);
      let running: RunningCall | undefined;
      const sink = answerSink(requestId, () => running?.cancel());
      const onAbort = () => sink.abort(call.signal?.reason);
      const request = internalRequest(NO_LIMIT, call, requestId);
      running = await send(workload, request, sink);
      call.signal?.addEventListener("abort", onAbort);
      if (call.signal?.aborted) onAbort();
      void running.ended.then(() => call.signal?.removeEventListener("abort", onAbort));
      return sink.answer;
    },
    inFlight: inFlight.count,
    idle: inFlight.idle,
    close: () => pool.destroy(),
  };
}

const NOT_HERE = "HTTP/1.1 404 Not Found\r\nconnection: close\r\n\r\n";

function notHere(): SlessError {
  return new SlessError("not_found", { what: "An address of functions on this port" });
}

function cancelUnfinished(res: ServerResponse, call: RunningCall): void {
  if (!res.writableFinished) call.cancel();
}

function answerFailure(req: IncomingMessage, res: ServerResponse, error: unknown, requestId: string): void {
  const told = isSlessError(error)
    ? error
    : new SlessError("internal", { cause: `a call failed: ${messageOf(error)}` });
  sendGatewayError(req, res, told, requestId);
}
