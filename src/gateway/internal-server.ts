import type { IncomingMessage } from "node:http";
import { createInternalPort, type InternalPort, type InternalPortDeps } from "../auth/index.ts";
import { SlessError } from "../errors/index.ts";
import type { Gateway } from "./gateway.ts";
import { requestIdOf } from "./headers.ts";
import { sendGatewayError } from "./http-sink.ts";
import { INTERNAL_HEADERS, parseInternalPath } from "./internal-protocol.ts";

export interface InternalServerDeps extends Pick<InternalPortDeps, "authenticate" | "callers" | "log"> {
  readonly gateway: Pick<Gateway, "forward">;
}

const TRIGGER = /^[a-z]{1,20}$/;

/**
 * The gateway's port for the other parts of sless: calls of any workload, with no need for an http trigger, hence only
 * for those that `callers` names.
 */
export function createInternalServer({ gateway, ...deps }: InternalServerDeps): InternalPort {
  return createInternalPort({
    ...deps,
    name: "The internal port of the gateway",
    serve(req, res, awaitsContinue) {
      const call = parseInternalPath(req.url ?? "");
      if (!call) throw new SlessError("not_found", { what: "An address that names no workload" });
      gateway.forward(call.workload, req, res, {
        path: call.path,
        trigger: triggerOf(req),
        awaitsContinue,
        isInternal: true,
      });
    },
    refuse: (req, res, error) => sendGatewayError(req, res, error, requestIdOf(req.headers["x-request-id"]), true),
  });
}

/** @throws SlessError `invalid_request` */
function triggerOf(req: IncomingMessage): string {
  const trigger = req.headers[INTERNAL_HEADERS.trigger];
  if (typeof trigger === "string" && TRIGGER.test(trigger)) return trigger;
  throw new SlessError("invalid_request", { cause: `${INTERNAL_HEADERS.trigger} does not say how the call came` });
}
