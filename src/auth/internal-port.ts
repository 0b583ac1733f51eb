import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { isSlessError, messageOf, SlessError } from "../errors/index.ts";

/** Carries the caller's token: `Authorization` belongs to whom a request may be passed on to. */
export const CALLER_TOKEN_HEADER = "x-sless-token";

export interface InternalPortDeps {
  /** Whose token it is. @throws SlessError `unauthenticated`, `cluster_unavailable` */
  readonly authenticate: (token: string) => Promise<{ readonly username: string }>;
  /** Usernames that are let in, `system:serviceaccount:sless:sless-controller`. */
  readonly callers: readonly string[];
  /** For refusals: "The internal port of the gateway". */
  readonly name: string;
  /** Answers whoever was let in; what it throws is told by `refuse`. */
  readonly serve: (req: IncomingMessage, res: ServerResponse, awaitsContinue: boolean) => void | Promise<void>;
  readonly refuse: (req: IncomingMessage, res: ServerResponse, error: SlessError) => void;
  readonly log: { warn(fields: object, message: string): void };
}

/** A port of one part of sless for other parts. */
export interface InternalPort {
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
/** Until a request's head is there; its body takes the time that the call may take. */
const HEAD_MS = 60_000;
const CLOSE_TIMEOUT_MS = 10_000;

/** A server of its own for those that `callers` names: no path and no header of a public port leads here. */
export function createInternalPort(deps: InternalPortDeps): InternalPort {
  const active = new Set<ServerResponse>();
  let draining = false;

  async function serve(req: IncomingMessage, res: ServerResponse, awaitsContinue: boolean): Promise<void> {
    active.add(res);
    res.once("close", () => active.delete(res));
    // What nobody read of a body must not stand before the next request on the connection.
    res.once("finish", () => req.resume());
    if (draining) res.shouldKeepAlive = false;
    try {
      await admit(req, deps);
      if (!res.destroyed) await deps.serve(req, res, awaitsContinue);
    } catch (error) {
      const told = isSlessError(error) ? error : new SlessError("internal", { cause: "an unexpected error" });
      if (told.status !== 404)
        deps.log.warn({ port: deps.name, code: told.code, err: messageOf(error) }, "internal call refused");
      deps.refuse(req, res, told);
    }
  }
  const options = { requestTimeout: 0, headersTimeout: HEAD_MS, keepAliveTimeout: KEEP_ALIVE_MS };
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
async function admit(req: IncomingMessage, { authenticate, callers, name }: InternalPortDeps): Promise<void> {
  const token = req.headers[CALLER_TOKEN_HEADER];
  if (typeof token !== "string" || token === "")
    throw new SlessError("unauthenticated", { cause: "it carries no token" });
  const { username } = await authenticate(token);
  if (!callers.includes(username)) throw new SlessError("forbidden", { what: name });
}

function listenFault(error: Error, host: string, port: number): SlessError {
  const { code } = error as { code?: string };
  if (code === "EADDRINUSE") return new SlessError("port_taken", { port }, { cause: error });
  const cause = `cannot listen on ${host}:${port}: ${messageOf(error)}`;
  return new SlessError("settings_invalid", { cause }, { cause: error });
}
