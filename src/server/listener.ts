import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { SlessError } from "../errors/index.ts";
import { type Gateway, hasBody, lastResponse } from "../gateway/index.ts";
import { connectionBound } from "./connection-bound.ts";
import { slessAnswer } from "./error-answer.ts";
import type { RequestGuard } from "./request-guard.ts";
import { targetFault, toOriginForm } from "./request-target.ts";
import { type Exchange, refuseUnparsable } from "./unparsable.ts";

/** Longer than the idle time of usual proxies in front, so that they, not we, end idle connections. */
const KEEP_ALIVE_MS = 65_000;
/** From the first byte, or from the beginning of a connection, until a request's head is there. */
const HEAD_MS = 60_000;
/** How long the rest of a body is thrown away after its request was answered. */
const REST_MS = 30_000;
/** Whoever vanished without a word is found out, where no limit ends the call. */
const PROBE_AFTER_MS = 60_000;
/** Of one process: 50,000 that do nothing would take all the memory that the chart gives it. */
const CONNECTIONS_MAX = 5_000;
/** Whoever would end the process without an answer gets one, however many there are. */
const PROBE = /^\/(?:healthz|readyz)(?:\?|$)/;

export interface Listener {
  readonly server: Server;
  /** Ends a connection on which something came that is no HTTP; to be called once for each. */
  refuseUnparsable(error: Error, socket: Socket): void;
  /** Connections now. */
  connections(): number;
  /** From now on every answer ends its connection; resolves when all are sent, at the latest after `timeoutMs`. */
  drain(timeoutMs: number): Promise<void>;
}

export interface ListenerDeps {
  readonly gateway: Pick<Gateway, "isCall" | "handle" | "handleUpgrade">;
  readonly guard: RequestGuard;
  readonly api: RequestListener;
  /** How long a request's head may take; default 60,000. */
  readonly headMs?: number;
  /** How long a client that was answered may go on sending its body; default 30,000. */
  readonly restMs?: number;
  /** Connections at a time on which anything may be asked; default 5,000. */
  readonly maxConnections?: number;
  /** Hears of every connection that is closed or turned away for want of room. */
  readonly onShed?: () => void;
}

/**
 * The HTTP server in front of everything: refuses foreign requests, hands calls of functions to the gateway without
 * touching them, and all else to the REST API.
 */
export function createListener(deps: ListenerDeps): Listener {
  const { isCall } = deps.gateway;
  const { headMs = HEAD_MS, restMs = REST_MS, maxConnections = CONNECTIONS_MAX } = deps;
  const bound = connectionBound({ max: maxConnections, ...(deps.onShed ? { onShed: deps.onShed } : {}) });
  const active = new Set<ServerResponse>();
  const exchanges = new WeakMap<Socket, Exchange>();
  const refused = new WeakSet<Socket>();
  let draining = false;
  let onEmpty: () => void = () => undefined;

  /** @returns whether its connection has a place */
  function track({ socket }: IncomingMessage, res: ServerResponse): boolean {
    active.add(res);
    const hasPlace = bound.busy(socket);
    if (draining) res.shouldKeepAlive = false;
    res.once("close", () => {
      active.delete(res);
      if (hasPlace) bound.idle(socket);
      if (active.size === 0) onEmpty();
    });
    return hasPlace;
  }
  function noPlace(): SlessError {
    deps.onShed?.();
    return new SlessError("connections_busy");
  }
  function serve(req: IncomingMessage, res: ServerResponse, awaitsContinue: boolean): void {
    const hasPlace = track(req, res);
    throwAwayRest(req, res, restMs);
    exchanges.set(req.socket, { req, res });
    // Of what came in one piece with an upgrade that is not taken, nothing is left to be answered.
    if (req.headers.upgrade !== undefined) res.shouldKeepAlive = false;
    toOriginForm(req);
    const refusal = targetFault(req) ?? deps.guard.refusal(req.headers, isCall(req));
    if (refusal) refuse(res, refusal);
    else if (!hasPlace && (isCall(req) || !PROBE.test(req.url ?? ""))) refuse(res, noPlace());
    else if (isCall(req)) deps.gateway.handle(req, res, { awaitsContinue });
    else {
      if (awaitsContinue) res.writeContinue();
      deps.api(req, res);
    }
  }
  /** Behind a request without its answer an upgrade would take the connection away from that. */
  const isIdle = (socket: Socket) => !active.has(exchanges.get(socket)?.res as ServerResponse);
  // The gateway has the time limits of calls, and routes those of their bodies; only a request's head may not dawdle.
  const options = {
    requestTimeout: 0,
    headersTimeout: headMs,
    connectionsCheckingInterval: Math.min(headMs, 10_000),
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAlive: true,
    keepAliveInitialDelay: PROBE_AFTER_MS,
    shouldUpgradeCallback: (req: IncomingMessage) => isIdle(req.socket) && isWebSocketCall(req, isCall),
    requireHostHeader: false, // Node would refuse without a word
  };
  const server = createServer(options, (req, res) => serve(req, res, false));
  server.on("connection", bound.take);
  server.on("checkContinue", (req, res) => serve(req, res, true));
  server.on("upgrade", (req, socket, head) => {
    // Nobody else listens there any more; a reset must not end the process.
    socket.on("error", () => undefined);
    const refusal = targetFault(req) ?? deps.guard.refusal(req.headers, true);
    if (refusal) refuse(lastResponse({ req, socket }), refusal);
    // Not tracked: a socket that never ends by itself shall not hold up a stop.
    else if (bound.busy(req.socket)) deps.gateway.handleUpgrade(req, socket, head);
    else refuse(lastResponse({ req, socket }), noPlace());
  });
  return {
    server,
    connections: () => bound.open,
    refuseUnparsable(error, socket) {
      // What comes after is no HTTP either.
      if (refused.has(socket)) return;
      refused.add(socket);
      refuseUnparsable(error, socket, exchanges.get(socket));
    },
    async drain(timeoutMs) {
      draining = true;
      for (const res of active) if (!res.headersSent) res.shouldKeepAlive = false;
      if (active.size === 0) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, timeoutMs);
      onEmpty = resolve;
      await promise;
      clearTimeout(timer);
    },
  };
}

/** Any other upgrade (h2c), and one with a body, is answered as the plain request that it is, too. */
function isWebSocketCall(req: IncomingMessage, isCall: Gateway["isCall"]): boolean {
  toOriginForm(req);
  return req.method === "GET" && !hasBody(req) && isCall(req) && req.headers.upgrade?.toLowerCase() === "websocket";
}

/**
 * Who was answered before the end of his body may send on for a while, and not for ever. It is thrown away: whoever read
 * it may have stopped in the middle, and the next request on the connection comes behind it.
 */
function throwAwayRest(req: IncomingMessage, res: ServerResponse, withinMs: number): void {
  res.once("finish", () => {
    if (req.complete) return;
    // Once it is complete, the connection is another request's.
    const giveUp = () => {
      if (!req.complete) req.destroy();
    };
    const timer = setTimeout(giveUp, withinMs).unref();
    req.once("close", () => clearTimeout(timer)).resume();
  });
}

function refuse(res: ServerResponse, error: SlessError): void {
  const { status, body } = slessAnswer(error);
  const text = `${JSON.stringify(body)}\n`;
  const headers = { "content-type": "application/json; charset=utf-8", "content-length": Buffer.byteLength(text) };
  res.writeHead(status, { ...headers, connection: "close" }).end(text);
}
