import { request as httpRequest, type IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { pipeline } from "node:stream/promises";
import { failureOf } from "./call-failure.ts";
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

/** An answer on a connection that left the HTTP server: it is the last thing there. */
export function lastResponse({ req, socket }: Pick<UpgradeRequest, "req" | "socket">): ServerResponse {
  const res = new ServerResponse(req);
  res.shouldKeepAlive = false;
  res.assignSocket(socket as Socket);
  res.once("finish", () => {
    res.detachSocket(socket as Socket);
    socket.end();
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
  let outcome: CallOutcome | undefined;
  const cancel = () => void socket.destroy();
  const fail = (error: NonNullable<CallOutcome["error"]>) => {
    outcome = { status: error.status, error };
    sendGatewayError(req, lastResponse(client), error, requestId);
  };
  const onTimeout = () => (outcome ? cancel() : fail(gatewayTimeout(endpoint, deps.graceMs)));
  const timer = limitMs > 0 ? setTimeout(onTimeout, limitMs + deps.graceMs) : undefined;
  const lease = endpoint.replicas === 0 ? undefined : deps.platform.acquire(endpoint.workload);
  const upstream = lease && openUpgrade(lease.origin, outgoing, req);
  socket.once("close", () => {
    clearTimeout(timer);
    upstream?.destroy();
    lease?.release();
    onEnd(outcome ?? { status: 499 });
  });
  if (!upstream) {
    fail(notServing(endpoint));
    return { cancel };
  }
  upstream.once("upgrade", (answer, replica, replicaHead) => {
    outcome = { status: 101 };
    acceptUpgrade(client, answer, replica, replicaHead);
  });
  upstream.once("response", (answer) => {
    const status = answer.statusCode ?? 502;
    outcome = { status };
    const res = lastResponse(client);
    res.writeHead(status, responseHeaders(answer.rawHeaders, requestId));
    pipeline(answer, res).catch(cancel);
  });
  upstream.on("error", (cause) => {
    if (socket.destroyed || outcome) return;
    const lapsed = deps.clock.monotonicMs() >= deadline;
    fail(failureOf(endpoint, { lapsed, neighbourLapsed: false, cause }));
  });
  return { cancel };
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
  const headers = responseHeaders(answer.rawHeaders, requestId);
  headers.push("connection", "Upgrade", "upgrade", answer.headers.upgrade ?? "");
  let text = "HTTP/1.1 101 Switching Protocols\r\n";
  for (let at = 0; at + 1 < headers.length; at += 2) text += `${headers[at]}: ${headers[at + 1]}\r\n`;
  socket.write(`${text}\r\n`, "latin1");
  socket.write(replicaHead);
  replica.write(head);
  replica.on("error", () => undefined).once("close", () => (socket as Socket).destroySoon());
  socket.once("close", () => void replica.destroy());
  socket.pipe(replica);
  replica.pipe(socket);
}
