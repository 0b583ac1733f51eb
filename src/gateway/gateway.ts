import type { IncomingMessage, ServerResponse } from "node:http";
import type { Logger } from "pino";
import type { ObjectKey, WorkloadRef } from "../apis/index.ts";
import type { Clock } from "../controller/index.ts";
import { SlessError } from "../errors/index.ts";
import type { Platform } from "../platform/index.ts";
import { createCallCounts } from "./call-counts.ts";
import { parseCallPath } from "./call-path.ts";
import type { Endpoint, EndpointTable } from "./endpoint-table.ts";
import { requestIdOf } from "./headers.ts";
import { httpSink, sendGatewayError } from "./http-sink.ts";
import { answerSink, type InternalAnswer, type InternalCall } from "./internal-call.ts";
import { type ForwardOptions, incomingRequest, internalRequest } from "./outgoing-request.ts";
import { type CallOutcome, type OutgoingRequest, type ProxyDeps, type ResponseSink, startCall } from "./proxy-call.ts";
import { createReplicaTable } from "./replica-table.ts";

export interface FinishedCall {
  readonly namespace: string;
  readonly name: string;
  /** 499 when the client went away before the answer was complete. */
  readonly status: number;
  readonly durationMs: number;
}

export interface GatewayDeps {
  readonly endpoints: EndpointTable;
  readonly platform: Pick<Platform, "acquire" | "onChange">;
  readonly clock: Clock;
  readonly log: Pick<Logger, "warn" | "debug">;
  /** Hears of every call to an endpoint that exists. */
  readonly onCall?: (call: FinishedCall) => void;
  /** Milliseconds that the gateway waits longer than `timeoutSec`; default 5,000. */
  readonly graceMs?: number;
  /** Calls in flight per function; more are answered 503 `capacity_exceeded`. Default 1,000. */
  readonly callsMax?: number;
  /** A proxy in front sets `X-Forwarded-*`; default false: a client's own are dropped. */
  readonly trustForwarded?: boolean;
}

/** Every call of a function passes here. Handlers answer by themselves and never throw. */
export interface Gateway {
  /** A request below `/fn/`, its body unread. */
  handle(req: IncomingMessage, res: ServerResponse, options?: Pick<ForwardOptions, "awaitsContinue">): void;
  /** Passes a request to a workload that the caller has chosen and authorised; it needs no http trigger. */
  forward(workload: WorkloadRef, req: IncomingMessage, res: ServerResponse, options: ForwardOptions): void;
  /**
   * Calls from within sless; needs no http trigger.
   *
   * @throws SlessError when not the function answers: `no_such_function`, `scaled_to_zero`, `function_not_ready`,
   *   `function_timeout`, `replica_replaced`, `connection_refused`, `response_invalid`, `capacity_exceeded`
   */
  invoke(workload: WorkloadRef, call: InternalCall): Promise<InternalAnswer>;
  inFlight(): number;
  /** Resolves when no call is in flight. */
  idle(): Promise<void>;
  /** Breaks off what is still in flight. */
  close(): Promise<void>;
}

const GRACE_MS = 5_000;
const CALLS_MAX = 1_000;

interface CallFrom {
  readonly requestId: string;
  readonly request: OutgoingRequest;
  readonly sink: ResponseSink;
  readonly onEnd?: () => void;
}

/** @returns a gateway over kept-alive connections to the replicas that `platform` leases */
export function createGateway(deps: GatewayDeps): Gateway {
  const replicas = createReplicaTable();
  const counts = createCallCounts();
  const stopListening = deps.platform.onChange((workload) => replicas.retire(workload));
  const proxy: ProxyDeps = { ...deps, replicas, graceMs: deps.graceMs ?? GRACE_MS };

  /** @throws SlessError `no_such_function`, `capacity_exceeded` */
  function admit(key: ObjectKey, allows: (endpoint: Endpoint) => boolean): Endpoint {
    const details = { namespace: key.namespace, name: key.name };
    const endpoint = deps.endpoints.find(key);
    if (!endpoint || !allows(endpoint)) throw new SlessError("no_such_function", details);
    if (counts.of(endpoint.workload) >= (deps.callsMax ?? CALLS_MAX))
      throw new SlessError("capacity_exceeded", details);
    return endpoint;
  }

  function start(endpoint: Endpoint, { request, sink, requestId, onEnd }: CallFrom): { cancel(): void } {
    const began = deps.clock.monotonicMs();
    const leave = counts.enter(endpoint.workload);
    return startCall(proxy, endpoint, request, sink, (outcome) => {
      leave();
      onEnd?.();
      const { namespace, name } = endpoint.workload;
      deps.onCall?.({ namespace, name, status: outcome.status, durationMs: deps.clock.monotonicMs() - began });
      logOutcome(deps.log, { namespace, name, requestId }, outcome);
    });
  }

  function serve(endpoint: Endpoint, req: IncomingMessage, res: ServerResponse, options: ForwardOptions): void {
    const requestId = requestIdOf(req.headers["x-request-id"]);
    const trustForwarded = deps.trustForwarded ?? false;
    const request = incomingRequest(endpoint, req, res, { ...options, requestId, trustForwarded });
    const call = start(endpoint, { requestId, request, sink: httpSink(req, res, requestId) });
    res.once("close", () => {
      if (!res.writableFinished) call.cancel();
    });
  }

  function answering(req: IncomingMessage, res: ServerResponse, respond: () => void): void {
    try {
      respond();
    } catch (error) {
      if (!(error instanceof SlessError)) throw error;
      sendGatewayError(req, res, error, requestIdOf(req.headers["x-request-id"]));
    }
  }

  return {
    handle: (req, res, options) =>
      answering(req, res, () => {
        const target = parseCallPath(req.url ?? "");
        if (!target) throw new SlessError("not_found", { what: "An address that is no /fn/{namespace}/{name}" });
        const endpoint = admit(target, (found) => found.public);
        serve(endpoint, req, res, { ...options, path: target.path, prefix: target.prefix, trigger: "http" });
      }),
    forward: (workload, req, res, options) =>
      answering(req, res, () => {
        serve(
          admit(workload, (found) => found.workload.kind === workload.kind),
          req,
          res,
          options,
        );
      }),
    async invoke(workload, call) {
      const endpoint = admit(workload, (found) => found.workload.kind === workload.kind);
      call.signal?.throwIfAborted();
      const requestId = requestIdOf(call.requestId);
      const sink = answerSink(requestId, () => running.cancel());
      const onAbort = () => sink.abort(call.signal?.reason);
      call.signal?.addEventListener("abort", onAbort);
      const onEnd = () => call.signal?.removeEventListener("abort", onAbort);
      const running = start(endpoint, { requestId, request: internalRequest(endpoint, call, requestId), sink, onEnd });
      return sink.answer;
    },
    inFlight: counts.total,
    idle: counts.idle,
    async close() {
      stopListening();
      await replicas.close();
    },
  };
}

function logOutcome(log: GatewayDeps["log"], fields: object, { status, error }: CallOutcome): void {
  if (!error) return;
  // A function that is scaled to zero or starts is no event worth a line per call.
  const level = error.status === 503 && error.code !== "replica_replaced" ? "debug" : "warn";
  log[level]({ ...fields, status, code: error.code, err: error.cause ?? error }, "call failed");
}
