import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Logger } from "pino";
import { isSlessError, messageOf, SlessError } from "../errors/index.ts";
import type { Gateway } from "./gateway.ts";
import { requestIdOf } from "./headers.ts";
import { sendGatewayError } from "./http-sink.ts";
import { INTERNAL_HEADERS, parseInternalPath } from "./internal-protocol.ts";

export interface InternalServerDeps {
  readonly gateway: Pick<Gateway, "forward">;
  /** Whose token it is. @throws SlessError `unauthenticated`, `cluster_unavailable` */
  readonly authenticate: (token: string) => Promise<{ readonly username: string }>;
  /** Usernames that may call whatever they like, `system:serviceaccount:sless:sless-controller`. */
  readonly callers: readonly string[];
  readonly log: Pick<Logger, "warn">;
}

/** The gateway's port for the other parts of sless. */
export interface InternalServer {
  /**
   * @param options.port 0 = any free one
   * @throws SlessError `port_taken`, `settings_invalid` (no such address, no right to it)
   */
  listen(options: { host: string; port: number }): Promise<{ url: string; port: number }>;
  /** Stops accepting and lets calls finish within `timeoutMs` (default 10,000), then breaks off the rest. */
  close(timeoutMs?: number): Promise<void>;
}

/** Longer than the idle time of the clients, so that they end idle connections. */
const KEEP_ALIVE_MS = 65_000;
const CLOSE_TIMEOUT_MS = 10_000;
const TRIGGER = /^[a-z]{1,20}$/;

/**
 * Calls from other processes of sless: of any workload, with no need for an http trigger, hence only for those that
 * `callers` names. It is a server of its own, so that no path and no header of the public port leads here.
 */
export function createInternalServer(deps: InternalServerDeps): InternalServer {
  const active = new Set<ServerResponse>();
  let draining = false;

  async function serve(req: IncomingMessage, res: ServerResponse, awaitsContinue: boolean): Promise<void> {
    active.add(res);
    res.once("close", () => active.delete(res));
    if (draining) res.shouldKeepAlive = false;
    try {
      await admit(req, deps);
      if (res.destroyed) return;
      const call = parseInternalPath(req.url ?? "");
      if (!call) throw new SlessError("not_found", { what: "An address that names no workload" });
      deps.gateway.forward(call.workload, req, res, {
        path: call.path,
        trigger: triggerOf(req),
        awaitsContinue,
        isInternal: true,
      });
    } catch (error) {
      const told = isSlessError(error) ? error : new SlessError("internal", { cause: "an unexpected error" });
      if (told.status !== 404) deps.log.warn({ code: told.code, err: messageOf(error) }, "internal call refused");
      sendGatewayError(req, res, told, requestIdOf(req.headers["x-request-id"]), true);
    }
  }
  const options = { requestTimeout: 0, keepAliveTimeout: KEEP_ALIVE_MS };
  const server = createServer(options, (req, res) => void serve(req, res, false));
  server.on("checkContinue", (req, res) => void serve(req, res, true));

  return {
    async listen({ host, port }) {
      await new Promise<void>((resolve, reject) => {
        server.once("error", (error) => reject(listenFault(error, host, port)));
        server.listen(port, host, resolve);
      });
      const bound = (server.address() as AddressInfo).port;
      return { url: `http://${host.includes(":") ? `[${host}]` : host}:${bound}`, port: bound };
    },
    async close(timeoutMs = CLOSE_TIMEOUT_MS) {
      draining = true;
      for (const res of active) if (!res.headersSent) res.shouldKeepAlive = false;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      const timer = setTimeout(() => server.closeAllConnections(), timeoutMs);
      await closed;
      clearTimeout(timer);
    },
  };
}

/** @throws SlessError `unauthenticated`, `forbidden`, `cluster_unavailable` */
async function admit(req: IncomingMessage, { authenticate, callers }: InternalServerDeps): Promise<void> {
  const token = req.headers[INTERNAL_HEADERS.token];
  if (typeof token !== "string" || token === "")
    throw new SlessError("unauthenticated", { cause: "it carries no token" });
  const { username } = await authenticate(token);
  if (!callers.includes(username)) throw new SlessError("forbidden", { what: "The internal port of the gateway" });
}

/** @throws SlessError `invalid_request` */
function triggerOf(req: IncomingMessage): string {
  const trigger = req.headers[INTERNAL_HEADERS.trigger];
  if (typeof trigger === "string" && TRIGGER.test(trigger)) return trigger;
  throw new SlessError("invalid_request", { cause: `${INTERNAL_HEADERS.trigger} does not say how the call came` });
}

function listenFault(error: Error, host: string, port: number): SlessError {
  const { code } = error as { code?: string };
  if (code === "EADDRINUSE") return new SlessError("port_taken", { port }, { cause: error });
  const cause = `cannot listen on ${host}:${port}: ${messageOf(error)}`;
  return new SlessError("settings_invalid", { cause }, { cause: error });
}
