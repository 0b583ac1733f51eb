import { type ClientRequest, request as httpRequest, type IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { pipeline } from "node:stream/promises";
import { failureOf, INTERIM_MAX, tooManyInterim } from "./call-failure.ts";
import type { Endpoint } from "./endpoint-table.ts";
import { type RawHeaders, responseHeaders } from "./headers.ts";
import { sendGatewayError } from "./http-sink.ts";
import { type CallOutcome, gatewayTimeout, notServing, type ProxyDeps } from "./proxy-call.ts";

/** A client that wants to go on with another protocol on its connection; `head` is what it sent of that already. */
export interface UpgradeRequest {
  readonly req: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
  readonly requestId: string;
}

/** A client that was answered has so long to close its side; nobody reads what it sends until then. */
const LINGER_MS = 500;

/** An answer on a connection that left the HTTP server: it is the last thing there. To be made once for each. */
export function lastResponse({ req, socket }: Pick<UpgradeRequest, "req" | "socket">): ServerResponse {
  const res = new ServerResponse(req);
  res.shouldKeepAlive = false;
  res.assignSocket(socket as Socket);
  res.once("finish", () => {
    res.detachSocket(socket as Socket);
    socket.resume().end();
    const timer = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.once("close", () => clearTimeout(timer));
  });
  return res;
}

/**
 * Passes an upgrade (WebSocket) to a replica and then bytes both ways, under a lease and the same time budget as any
 * call. An answer that is no upgrade goes back as it is. `onEnd` comes once, when the client's connection is over.
 *
 * @returns `cancel` breaks it off
 */
export function startUpgrade(
  deps: Omit<ProxyDeps, "replicas">,
  endpoint: Endpoint,
  outgoing: { readonly path: string; readonly headers: RawHeaders },
  client: UpgradeRequest,
  onEnd: (outcome: CallOutcome) => void,
): { cancel(): void } {
  const { socket, requestId, req } = client;
  const limitMs = endpoint.timeoutSec * 1_000;
  const deadline = limitMs > 0 ? deps.clock.monotonicMs() + limitMs : Number.POSITIVE_INFINITY;
  /** Set with the first word to the client: it is never answered twice. */
  let outcome: CallOutcome | undefined;
  const cancel = () => void socket.destroy();
  const fail = (error: NonNullable<CallOutcome["error"]>) => {
    outcome = { status: error.status, error };
    sendGatewayError(req, lastResponse(client), error, requestId);
  };
  const onTimeout = () => (outcome ? cancel() : fail(gatewayTimeout(endpoint, deps.graceMs)));
  const timer = limitMs > 0 ? setTimeout(onTimeout, limitMs + deps.graceMs) : undefined;
  const lease = endpoint.replicas === 0 ? undefined : deps.platform.acquire(endpoint.workload);
  let upstream: ClientRequest | undefined;
  socket.once("close", () => {
    clearTimeout(timer);
    upstream?.destroy();
    lease?.release();
    onEnd(outcome ?? { status: 499 });
  });
  if (!lease) {
    fail(notServing(endpoint));
    return { cancel };
  }
  const onError = (cause: unknown) => {
    upstream?.destroy();
    if (socket.destroyed || outcome) return;
    const lapsed = deps.clock.monotonicMs() >= deadline;
    fail(failureOf(endpoint, { lapsed, neighbourLapsed: false, cause }));
  };
  try {
    upstream = openUpgrade(lease.origin, outgoing, req);
  } catch (error) {
    onError(error);
    return { cancel };
  }
  upstream.on("error", onError);
  boundInterim(upstream);
  upstream.once("upgrade", (answer, replica, replicaHead) => {
    replica.on("error", () => undefined);
    if (outcome) {
      replica.destroy();
      return;
    }
    outcome = { status: 101 };
    acceptUpgrade(client, answer, replica, replicaHead);
  });
  upstream.once("response", (answer) => {
    if (outcome) return;
    const status = answer.statusCode ?? 0;
    if (!isFinalStatus(status)) {
      onError(new Error(`bad response: its status is ${status}`));
      return;
    }
    outcome = { status };
    const res = lastResponse(client);
    res.writeHead(status, responseHeaders(answer.rawHeaders, requestId, status));
    pipeline(answer, res).catch(cancel);
  });
  return { cancel };
}

/** The function decides about it, and a server of HTTP sends no other. */
function isFinalStatus(status: number): boolean {
  return status >= 200 && status <= 999;
}

/** Nobody passes them on, and nothing else bounds how many come. */
function boundInterim(upstream: ClientRequest): void {
  let count = 0;
  upstream.on("information", () => {
    count += 1;
    if (count > INTERIM_MAX) upstream.destroy(tooManyInterim());
  });
}

function openUpgrade(origin: string, { path, headers }: { path: string; headers: RawHeaders }, req: IncomingMessage) {
  const upgrade = ["connection", "Upgrade", "upgrade", req.headers.upgrade ?? ""];
  const request = httpRequest(origin, {
    method: req.method ?? "GET",
    path,
    agent: false,
    headers: ["host", new URL(origin).host, ...headers, ...upgrade],
  });
  return request.end();
}

function acceptUpgrade(client: UpgradeRequest, answer: IncomingMessage, replica: Duplex, replicaHead: Buffer): void {
  const { socket, head, requestId } = client;
  const headers = responseHeaders(answer.rawHeaders, requestId, 101);
  headers.push("connection", "Upgrade", "upgrade", answer.headers.upgrade ?? "");
  let text = "HTTP/1.1 101 Switching Protocols\r\n";
  for (let at = 0; at + 1 < headers.length; at += 2) text += `${headers[at]}: ${headers[at + 1]}\r\n`;
  socket.write(`${text}\r\n`, "latin1");
  socket.write(replicaHead);
  replica.write(head);
  replica.once("close", () => (socket as Socket).destroySoon());
  socket.once("close", () => void replica.destroy());
  socket.pipe(replica);
  replica.pipe(socket);
}
