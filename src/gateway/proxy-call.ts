import type { Dispatcher } from "undici";
import type { Clock } from "../controller/index.ts";
import { SlessError } from "../errors/index.ts";
import type { Lease, Platform } from "../platform/index.ts";
import { failureOf, INTERIM_MAX, tooManyInterim } from "./call-failure.ts";
import type { Endpoint } from "./endpoint-table.ts";
import { type RawHeaders, rawHeadersOf } from "./headers.ts";
import { type CallOfReplica, isLapsed, type Replica, type ReplicaTable } from "./replica-table.ts";
import type { RequestBody } from "./request-body.ts";

/** Attempts of one call; a second one only when the first cannot have reached the handler, or may be repeated. */
const ATTEMPTS_MAX = 2;
/** Without a body these may reach a handler twice (RFC 9110 §9.2.2). */
const IDEMPOTENT = new Set(["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"]);

/** A call as it goes to a replica: its headers are final. */
export interface OutgoingRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: readonly string[];
  readonly body: RequestBody | undefined;
}

/** Where the answer goes. `start` comes once, then data, then `end`; `fail` ends it at any point. */
export interface ResponseSink {
  start(status: number, headers: RawHeaders): void;
  /** False: wait for `onceDrained`. */
  write(chunk: Buffer): boolean;
  onceDrained(listener: () => void): void;
  end(): void;
  /** Before `start` the sink tells the error; after it, it breaks off so that nobody takes the part for the whole. */
  fail(error: SlessError): void;
}

/** How a call ended, for metrics and logs. */
export interface CallOutcome {
  /** Status that the client got; 499 when it went away before. */
  readonly status: number;
  /** Set when not the function answered, or its answer broke off. */
  readonly error?: SlessError;
}

export interface ProxyDeps {
  readonly platform: Pick<Platform, "acquire">;
  readonly replicas: ReplicaTable;
  readonly clock: Clock;
  /** The gateway waits this much longer than `timeoutSec`, for the runtime itself ends the call then. */
  readonly graceMs: number;
}

interface Call extends CallOfReplica {
  readonly deps: ProxyDeps;
  readonly endpoint: Endpoint;
  readonly request: OutgoingRequest;
  readonly sink: ResponseSink;
  readonly onEnd: (outcome: CallOutcome) => void;
  timer: NodeJS.Timeout | undefined;
  attempts: number;
  current: Attempt | undefined;
  status: number | undefined;
  ended: boolean;
}

interface Attempt {
  readonly lease: Lease;
  readonly replica: Replica;
  readonly body: ReturnType<RequestBody["open"]> | undefined;
  /** Set once the request may have reached the replica. */
  controller: Dispatcher.DispatchController | undefined;
}

/**
 * Calls a replica and passes its answer to the sink; holds a lease until the answer is complete. Every way out ends
 * in exactly one `onEnd`.
 *
 * @returns `cancel` for when whoever called went away: the replica's connection is closed, the sink hears no more
 */
export function startCall(
  deps: ProxyDeps,
  endpoint: Endpoint,
  request: OutgoingRequest,
  sink: ResponseSink,
  onEnd: (outcome: CallOutcome) => void,
): { cancel(): void } {
  const limitMs = endpoint.timeoutSec * 1_000;
  const deadline = limitMs === 0 ? Number.POSITIVE_INFINITY : deps.clock.monotonicMs() + limitMs;
  const state = { timer: undefined, attempts: 0, current: undefined, status: undefined, ended: false };
  const call: Call = { deps, endpoint, request, sink, onEnd, deadline, ...state };
  const onTimeout = () => giveUp(call, gatewayTimeout(endpoint, deps.graceMs));
  if (limitMs > 0) call.timer = setTimeout(onTimeout, limitMs + deps.graceMs);
  attempt(call, () => notServing(endpoint));
  return { cancel: () => settle(call, { status: 499 }, { answered: false }) };
}

/** The gateway's own limit ran out; the runtime's, which is shorter, did not end the call. */
export function gatewayTimeout({ workload, timeoutSec }: Endpoint, graceMs: number): SlessError {
  const { namespace, name } = workload;
  const seconds = timeoutSec + graceMs / 1_000;
  return new SlessError("function_timeout", { namespace, name, seconds, component: "the gateway" });
}

/** Why no replica could be leased. */
export function notServing({ workload, replicas }: Endpoint): SlessError {
  const code = replicas === 0 ? "scaled_to_zero" : "function_not_ready";
  const { kind, namespace, name } = workload;
  return new SlessError(code, { kind: kind.toLowerCase(), namespace, name });
}

/** @param otherwise what the caller is told when no replica serves */
function attempt(call: Call, otherwise: () => SlessError): void {
  const { deps, endpoint, request } = call;
  const failed = call.current;
  const lease = endpoint.replicas === 0 ? undefined : deps.platform.acquire(endpoint.workload);
  // Only now, so that the platform's least busy replica is another one where there is one.
  if (failed) leaveReplica(call, failed, false);
  if (!lease) {
    giveUp(call, otherwise());
    return;
  }
  const replica = deps.replicas.of(endpoint.workload, lease);
  const current: Attempt = { lease, replica, body: request.body?.open(), controller: undefined };
  call.attempts += 1;
  call.current = current;
  replica.enter(call);
  replica.pool.dispatch(
    { method: request.method, path: request.path, headers: request.headers as string[], body: current.body ?? null },
    handlerOf(call, current),
  );
}

function handlerOf(call: Call, current: Attempt): Dispatcher.DispatchHandler {
  const { sink } = call;
  let interim = 0;
  const isOver = () => call.ended || call.current !== current;
  return {
    onRequestStart(controller) {
      current.controller = controller;
      if (isOver()) controller.abort(new Error("the call ended"));
    },
    onResponseStart(controller, status) {
      if (isOver()) return;
      if (status < 200) {
        interim += 1;
        if (interim > INTERIM_MAX) controller.abort(tooManyInterim());
        return;
      }
      sink.start(status, rawHeadersOf(controller));
      call.status = status;
    },
    onResponseData(controller, chunk) {
      if (isOver() || sink.write(chunk)) return;
      controller.pause();
      sink.onceDrained(() => controller.resume());
    },
    onResponseEnd() {
      if (isOver()) return;
      settle(call, { status: call.status as number }, { answered: true });
      sink.end();
    },
    onResponseError(_controller, error) {
      if (!isOver()) afterError(call, current, error);
    },
  };
}

function afterError(call: Call, current: Attempt, cause: unknown): void {
  const now = call.deps.clock.monotonicMs();
  const lapsed = isLapsed(call, now);
  const failure = failureOf(call.endpoint, { lapsed, neighbourLapsed: current.replica.hasLapsedCall(now), cause });
  const sent = current.controller !== undefined;
  const repeatable = !sent || (call.request.body === undefined && IDEMPOTENT.has(call.request.method));
  const unanswered = failure.code === "connection_refused" || failure.code === "replica_replaced";
  const again = unanswered && call.status === undefined && repeatable && call.attempts < ATTEMPTS_MAX;
  if (again) attempt(call, () => failure);
  else giveUp(call, failure);
}

function giveUp(call: Call, error: SlessError): void {
  if (call.ended) return;
  settle(call, { status: call.status ?? error.status, error }, { answered: false });
  call.sink.fail(error);
}

function settle(call: Call, outcome: CallOutcome, { answered }: { answered: boolean }): void {
  if (call.ended) return;
  call.ended = true;
  clearTimeout(call.timer);
  if (call.current) leaveReplica(call, call.current, answered);
  call.onEnd(outcome);
}

function leaveReplica(call: Call, { controller, lease, replica, body }: Attempt, answered: boolean): void {
  if (!answered) controller?.abort(new Error("the call ended"));
  // An early answer leaves the rest of the body to the server that received it.
  if (body && "destroy" in body) body.destroy();
  replica.leave(call, { answered });
  lease.release();
}
