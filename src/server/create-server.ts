import type { AddressInfo, Socket } from "node:net";
import fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { messageOf, SlessError } from "../errors/index.ts";
import { type ErrorBody, errorAnswer } from "./error-answer.ts";
import { acceptJson } from "./json-body.ts";
import { createListener, type Listener } from "./listener.ts";
import { refuseNoNames } from "./path-names.ts";
import { type RouteParams, routeAccess, ruleOf } from "./route-access.ts";
import { functionListRoutes } from "./routes/function-list.ts";
import { garbageRoutes } from "./routes/garbage.ts";
import { healthRoutes } from "./routes/health.ts";
import { historyRoutes } from "./routes/history.ts";
import { hookRoutes } from "./routes/hooks.ts";
import { invokeRoutes } from "./routes/invoke.ts";
import { logRoutes } from "./routes/logs.ts";
import { namespaceRoutes } from "./routes/namespaces.ts";
import { objectRoutes } from "./routes/objects.ts";
import { repositoryRoutes } from "./routes/repositories.ts";
import { secretRoutes } from "./routes/secrets.ts";
import { sourceRoutes } from "./routes/sources.ts";
import type { HealthDeps, ServerDeps } from "./server-deps.ts";

export interface SlessServer {
  /**
   * @param options.port 0 = any free one
   * @returns the port and `http://<host>:<port>`
   * @throws SlessError `port_taken`, `settings_invalid` (no such address, no right to it)
   */
  listen(options: { host: string; port: number }): Promise<{ url: string; port: number }>;
  /** Stops accepting, ends followed logs, lets calls finish within `closeTimeoutMs`, then breaks off the rest. Calling it again waits for the same end. */
  close(): Promise<void>;
}

const CLOSE_TIMEOUT_MS = 10_000;

const ROUTES = [
  healthRoutes,
  objectRoutes,
  repositoryRoutes,
  sourceRoutes,
  logRoutes,
  invokeRoutes,
  historyRoutes,
  namespaceRoutes,
  secretRoutes,
  hookRoutes,
  functionListRoutes,
  garbageRoutes,
];

/** The server of one process: the REST API, health and metrics, and calls of functions, which go to the gateway. */
export function createServer(deps: ServerDeps): SlessServer {
  return openServer(deps, (app, closing) => {
    guardRoutes(app, deps);
    acceptJson(app);
    for (const add of ROUTES) add(app, { ...deps, closing });
  });
}

/** The server of a process without a REST API: health and metrics, and calls of functions, which go to the gateway. */
export function createHealthServer(deps: HealthDeps): SlessServer {
  return openServer(deps, (app) => {
    guardRoutes(app, deps);
    healthRoutes(app, deps);
  });
}

function openServer(deps: HealthDeps, addRoutes: (app: FastifyInstance, closing: AbortSignal) => void): SlessServer {
  const closing = new AbortController();
  const { app, listener } = openApp(deps);
  answerErrors(app, deps);
  addRoutes(app, closing.signal);
  async function closeAll(): Promise<void> {
    closing.abort();
    const closed = app.close();
    await listener.drain(deps.closeTimeoutMs ?? CLOSE_TIMEOUT_MS);
    await deps.gateway.close();
    listener.server.closeAllConnections();
    await closed;
  }
  let closed: Promise<void> | undefined;
  return {
    listen: (options) => listen(app, options),
    close() {
      closed ??= closeAll();
      return closed;
    },
  };
}

function openApp(deps: HealthDeps): { app: FastifyInstance; listener: Listener } {
  let listener: Listener | undefined;
  const app: FastifyInstance = fastify({
    logger: false,
    trustProxy: false,
    routerOptions: { maxParamLength: 300 },
    ajv: { customOptions: { allErrors: true, removeAdditional: false, allowUnionTypes: true } },
    serverFactory(api) {
      const { gateway, guard, maxConnections } = deps;
      const bound = maxConnections === undefined ? {} : { maxConnections };
      listener = createListener({ gateway, guard, api, ...bound, onShed: shedLog(deps) });
      return listener.server;
    },
    clientErrorHandler: (error, socket) => listener?.refuseUnparsable(error, socket as Socket),
    frameworkErrors: (error, request, reply) => void answerError(error, request, reply, deps),
  });
  const opened = listener as unknown as Listener;
  deps.metrics.watch("sless_http_connections", "Connections of clients", opened.connections);
  return { app, listener: opened };
}

/** One line a minute, however many connections are closed. */
const SHED_PAUSE_MS = 60_000;

function shedLog({ log, metrics }: Pick<HealthDeps, "log" | "metrics">): () => void {
  let shed = 0;
  let isQuiet = false;
  return () => {
    shed += 1;
    metrics.onShed();
    if (isQuiet) return;
    isQuiet = true;
    setTimeout(() => {
      isQuiet = false;
    }, SHED_PAUSE_MS).unref();
    log.warn({ shed }, "too many connections: those that are idle for longest are closed");
  };
}

function answerErrors(app: FastifyInstance, deps: Pick<HealthDeps, "log">): void {
  app.setErrorHandler((error: FastifyError, request, reply) => answerError(error, request, reply, deps));
  app.setNotFoundHandler((request, reply) => {
    const what = `${request.method} ${request.url.split("?", 1)[0]?.slice(0, 200)}`;
    return answerError(new SlessError("not_found", { what }), request, reply, deps);
  });
}

/** No route can be added that no rule covers; and what a rule covers is asked for before anything else is looked at. */
function guardRoutes(app: FastifyInstance, { authorize }: Pick<ServerDeps, "authorize">): void {
  app.addHook("onRoute", ({ method, url, config }) => {
    if (!config?.refused) for (const each of [method].flat()) ruleOf(each, url);
  });
  app.addHook("onRequest", async ({ method, headers, params, routeOptions, is404 }) => {
    if (is404) return;
    const refused = routeOptions.config.refused === true;
    const access = refused ? [] : routeAccess(method, routeOptions.url ?? "", params as RouteParams);
    if (access) await authorize?.({ method, headers, access });
    refuseNoNames(params as RouteParams);
  });
}

function answerError(
  error: FastifyError | SlessError | Error,
  request: FastifyRequest,
  reply: FastifyReply,
  { log }: Pick<ServerDeps, "log">,
) {
  const { status, body, unexpected } = errorAnswer(error, request.id);
  if (unexpected)
    log.error({ requestId: request.id, method: request.method, url: request.url, err: error }, "request failed");
  if (status === 401) void reply.header("www-authenticate", `${challengeOf(body.code)} realm="sless"`);
  return reply
    .code(status)
    .type("application/json; charset=utf-8")
    .send(`${JSON.stringify(body)}\n`);
}

/** What would be let in: no token opens a webhook. */
function challengeOf(code: ErrorBody["code"]): string {
  return code === "hook_refused" ? "Webhook-Signature" : "Bearer";
}

async function listen(app: FastifyInstance, { host, port }: { host: string; port: number }) {
  try {
    await app.listen({ host, port });
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === "EADDRINUSE") throw new SlessError("port_taken", { port }, { cause: error });
    throw new SlessError("settings_invalid", { cause: `cannot listen on ${host}:${port}: ${messageOf(error)}` });
  }
  const bound = (app.server.address() as AddressInfo).port;
  return { url: `http://${host.includes(":") ? `[${host}]` : host}:${bound}`, port: bound };
}
