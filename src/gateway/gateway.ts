import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { Logger } from "pino";
import type { WorkloadRef } from "../apis/index.ts";
import type { Clock } from "../controller/index.ts";
import { isSlessError, SlessError } from "../errors/index.ts";
import type { Platform } from "../platform/index.ts";
import { createCallLedger, type FinishedCall } from "./call-ledger.ts";
import { CALL_PREFIX, type CallPath, isCallHost, parseCallHost, parseCallPath } from "./call-path.ts";
import type { Endpoint, EndpointTable } from "./endpoint-table.ts";
import { requestIdOf } from "./headers.ts";
import { httpSink, sendGatewayError } from "./http-sink.ts";
import { answerSink, type InternalAnswer, type InternalCall } from "./internal-call.ts";
import { callHeaders, type ForwardOptions, incomingRequest, internalRequest } from "./outgoing-request.ts";
import { type ProxyDeps, startCall } from "./proxy-call.ts";
import { createReplicaTable } from "./replica-table.ts";
import { lastResponse, startUpgrade, type UpgradeRequest } from "./upgrade-call.ts";

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
  /** Hosts `{name}.{namespace}.<this>` are functions, whatever the path. Default: only paths below `/fn/` are. */
  readonly ingressHost?: string | undefined;
  /** A proxy in front sets `X-Forwarded-*`; default false: a client's own are dropped. */
  readonly trustForwarded?: boolean;
}

/** Every call of a function passes here. Handlers answer by themselves and never throw. */
export interface Gateway {
  /** Whether it is a call of a function, by its path or host, rather than a request to sless itself. */
  isCall(req: Pick<IncomingMessage, "url" | "headers">): boolean;
  /** A call, its body unread. */
  handle(req: IncomingMessage, res: ServerResponse, options?: Pick<ForwardOptions, "awaitsContinue">): void;
  /** A call whose client wants to go on with WebSocket; the connection is the gateway's from here on. */
  handleUpgrade(req: IncomingMessage, socket: Duplex, head: Buffer): void;
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

/** @returns a gateway over kept-alive connections to the replicas that `platform` leases */
export function createGateway(deps: GatewayDeps): Gateway {
  const { platform, clock, ingressHost, trustForwarded = false } = deps;
  const replicas = createReplicaTable();
  const ledger = createCallLedger({ ...deps, onCall: deps.onCall, callsMax: deps.callsMax ?? CALLS_MAX });
  const stopListening = platform.onChange((workload) => replicas.retire(workload));
  const proxy: ProxyDeps = { platform, clock, replicas, graceMs: deps.graceMs ?? GRACE_MS };
  const upgrades = new Set<{ cancel(): void }>();

  function serve(endpoint: Endpoint, req: IncomingMessage, res: ServerResponse, options: ForwardOptions): void {
    const requestId = requestIdOf(req.headers["x-request-id"]);
    const { isInternal = false } = options;
    const trusted = { trustForwarded: trustForwarded || isInternal };
    const request = incomingRequest(endpoint, req, res, { ...options, requestId, ...trusted });
    const sink = httpSink(req, res, requestId, isInternal);
    const call = startCall(proxy, endpoint, request, sink, ledger.open(endpoint, requestId));
    res.once("close", () => {
      if (!res.writableFinished) call.cancel();
    });
  }

  function upgrade(endpoint: Endpoint, client: UpgradeRequest, target: CallPath): void {
    const { requestId } = client;
    const headers = callHeaders(endpoint, client.req, { ...target, trigger: "http", requestId, trustForwarded });
    const end = ledger.open(endpoint, requestId);
    const call = startUpgrade(proxy, endpoint, { path: target.path, headers }, client, (outcome) => {
      upgrades.delete(call);
      end(outcome);
    });
    upgrades.add(call);
  }

  return {
    isCall: ({ url, headers }) =>
      url?.startsWith(CALL_PREFIX) || (ingressHost !== undefined && isCallHost(headers.host, ingressHost)),
    handle: (req, res, options) =>
      answering(deps, req, res, () => {
        const { path, prefix, ...key } = targetOf(req, ingressHost);
        const endpoint = ledger.admit(key, (found) => found.public);
        serve(endpoint, req, res, { ...options, path, ...(prefix ? { prefix } : {}), trigger: "http" });
      }),
    handleUpgrade(req, socket, head) {
      // Nobody else listens there any more; a reset must not end the process.
      socket.on("error", () => undefined);
      const client = { req, socket, head, requestId: requestIdOf(req.headers["x-request-id"]) };
      try {
        const target = targetOf(req, ingressHost);
        upgrade(
          ledger.admit(target, (found) => found.public),
          client,
          target,
        );
      } catch (error) {
        answering(deps, req, lastResponse(client), () => {
          throw error;
        });
      }
    },
    forward: (workload, req, res, options) =>
      answering(
        deps,
        req,
        res,
        () => serve(ledger.admit(workload, isSameKind(workload)), req, res, options),
        options.isInternal,
      ),
    async invoke(workload, call) {
      const endpoint = ledger.admit(workload, isSameKind(workload));
      call.signal?.throwIfAborted();
      const requestId = requestIdOf(call.requestId);
      const request = internalRequest(endpoint, call, requestId);
      const sink = answerSink(requestId, () => running.cancel());
      const onAbort = () => sink.abort(call.signal?.reason);
      const end = ledger.open(endpoint, requestId);
      call.signal?.addEventListener("abort", onAbort);
      const running = startCall(proxy, endpoint, request, sink, (outcome) => {
        call.signal?.removeEventListener("abort", onAbort);
        end(outcome);
      });
      return sink.answer;
    },
    inFlight: ledger.inFlight,
    idle: ledger.idle,
    async close() {
      stopListening();
      for (const call of upgrades) call.cancel();
      await replicas.close();
    },
  };
}

/** @throws SlessError `not_found` */
function targetOf({ url = "", headers }: IncomingMessage, ingressHost: string | undefined): CallPath {
  const byHost = ingressHost !== undefined && isCallHost(headers.host, ingressHost);
  const target = byHost ? parseCallHost(headers.host, url, ingressHost) : parseCallPath(url);
  if (target) return target;
  const form = byHost ? `{name}.{namespace}.${ingressHost}` : "/fn/{namespace}/{name}";
  throw new SlessError("not_found", { what: `An address that is no ${form}` });
}

const isSameKind = (workload: WorkloadRef) => (found: Endpoint) => found.workload.kind === workload.kind;

/** Whatever is thrown is an answer: in a listener of events it would end the process and everybody's calls. */
function answering(
  { log }: Pick<GatewayDeps, "log">,
  req: IncomingMessage,
  res: ServerResponse,
  respond: () => void,
  isInternal = false,
): void {
  const requestId = requestIdOf(req.headers["x-request-id"]);
  try {
    respond();
  } catch (error) {
    if (!isSlessError(error)) log.warn({ requestId, err: error }, "call failed unexpectedly");
    const told = isSlessError(error) ? error : new SlessError("internal", { cause: "a call failed unexpectedly" });
    sendGatewayError(req, res, told, requestId, isInternal);
  }
}
