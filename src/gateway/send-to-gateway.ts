import type { Dispatcher, Pool } from "undici";
import type { WorkloadRef } from "../apis/index.ts";
import { type ErrorCode, messageOf, SlessError } from "../errors/index.ts";
import { isInvalidRequest } from "./call-failure.ts";
import { type RawHeaders, rawHeadersOf } from "./headers.ts";
import { errorOf, INTERNAL_HEADERS } from "./internal-protocol.ts";
import type { OutgoingRequest, ResponseSink } from "./proxy-call.ts";

/** A second one only when the first was never sent: the gateway may be in the middle of a rolling update. */
const ATTEMPTS_MAX = 2;

/** A call on its way through a gateway in another process. */
export interface RunningCall {
  /** Whoever called went away; the sink hears no more. */
  cancel(): void;
  /** Resolves when the call is over, however it ended. */
  readonly ended: Promise<void>;
}

/** What the gateway may have against us is no business of who called us. */
const OUR_FAULTS: readonly ErrorCode[] = ["unauthenticated", "forbidden", "cluster_unavailable"];

/** Sends a request to the internal port and passes the answer to the sink; errors of the gateway are what they were. */
export function sendToGateway(
  pool: Pool,
  workload: WorkloadRef,
  request: OutgoingRequest,
  sink: ResponseSink,
): RunningCall {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  let controller: Dispatcher.DispatchController | undefined;
  let body: ReturnType<NonNullable<OutgoingRequest["body"]>["open"]> | undefined;
  let isOver = false;
  let isAnswered = false;
  let attempts = 0;

  /** @returns false when it was over already */
  function finish(): boolean {
    if (isOver) return false;
    isOver = true;
    if (body && "destroy" in body) body.destroy();
    end();
    return true;
  }
  function fail(error: SlessError): void {
    if (finish()) sink.fail(error);
  }
  function onError(error: Error): void {
    const wasSent = controller !== undefined;
    if (!isOver && !wasSent && attempts < ATTEMPTS_MAX) attempt();
    else fail(isAnswered ? brokenOff(workload, error) : unsent(error));
  }
  function attempt(): void {
    attempts += 1;
    if (body && "destroy" in body) body.destroy();
    body = request.body?.open();
    const { method, path, headers } = request;
    pool.dispatch({ method, path, headers: headers as string[], body: body ?? null }, handler);
  }
  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(started) {
      controller = started;
      if (isOver) started.abort(new Error("the call ended"));
    },
    onResponseStart(answering, status) {
      if (isOver || status < 200) return;
      const headers = rawHeadersOf(answering);
      const error = gatewayError(headers);
      if (error) {
        fail(error);
        return;
      }
      isAnswered = true;
      sink.start(status, headers);
    },
    onResponseData(paused, chunk) {
      if (isOver || sink.write(chunk)) return;
      paused.pause();
      sink.onceDrained(() => paused.resume());
    },
    onResponseEnd() {
      if (finish()) sink.end();
    },
    onResponseError: (_controller, error) => onError(error),
  };
  attempt();
  return {
    cancel() {
      if (finish()) controller?.abort(new Error("the call ended"));
    },
    ended,
  };
}

/** The error of an answer that is the gateway's own. */
function gatewayError(headers: RawHeaders): SlessError | undefined {
  const at = headers.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === INTERNAL_HEADERS.error);
  if (at < 0) return undefined;
  const error = errorOf(headers[at + 1] as string);
  if (!error) return new SlessError("gateway_unreachable", { cause: "it told an error that is not known here" });
  return OUR_FAULTS.includes(error.code) ? new SlessError("gateway_unreachable", { cause: error.happened }) : error;
}

function unsent(error: Error): SlessError {
  if (isInvalidRequest(error)) return new SlessError("invalid_request", { cause: messageOf(error) }, { cause: error });
  const { code } = error as { code?: string };
  return new SlessError("gateway_unreachable", { cause: messageOf(error) || (code ?? "no answer") }, { cause: error });
}

function brokenOff({ namespace, name }: WorkloadRef, error: Error): SlessError {
  return new SlessError("connection_refused", { namespace, name }, { cause: error });
}
