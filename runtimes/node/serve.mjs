/** The server of a replica: health, calls, drain. */

import { randomUUID } from "node:crypto";
import { closeSync, writeSync } from "node:fs";
import { createServer } from "node:http";
import { answerCall } from "./answer-call.mjs";
import { BLOCKED_ERROR, beginCall } from "./call.mjs";
import { endProcess, whenPrinted } from "./end.mjs";
import { writeError } from "./log.mjs";
import { EXIT_TERMINATED, refuse } from "./settings.mjs";
import { now } from "./watch.mjs";

const HEAD_MAX = 64 * 1024;
const IDLE_MS = 75_000;
const HEALTH = JSON.stringify({ status: "ok" });

export function serve(settings, handler, watch) {
  const calls = new Set();
  /** Connections without a request. */
  const idle = new Set();
  let draining = false;

  const server = createServer({ maxHeaderSize: HEAD_MAX, keepAliveTimeout: IDLE_MS, requestTimeout: 0, noDelay: true });
  server.on("request", (req, res) => void answer(req, res));
  // The body is asked for only where it is wanted.
  server.on("checkContinue", (req, res) => void answer(req, res, () => res.writeContinue()));

  server.on("connection", (socket) => {
    idle.add(socket);
    socket.once("close", () => idle.delete(socket));
  });

  function occupy(socket, res) {
    idle.delete(socket);
    res.once("close", () => {
      if (draining) socket.end();
      else if (!socket.destroyed) idle.add(socket);
    });
  }

  async function answer(req, res, beforeBody = () => {}) {
    occupy(req.socket, res);
    if (draining) res.shouldKeepAlive = false;
    if (isProbe(req)) return answerProbe(req, res, beforeBody);
    const call = beginCall({
      req,
      res,
      requestId: requestIdOf(req),
      timeoutMs: timeoutOf(settings, req),
      watch,
      onEnd: (ended) => calls.delete(ended),
    });
    calls.add(call);
    await answerCall(call, { settings, handler, beforeBody, isDraining: () => draining });
    call.close();
  }

  function failAll(pick) {
    for (const call of [...calls]) {
      const { status, reason, error } = pick(call);
      call.fail(status, reason, error, { close: true });
    }
  }

  watch.onBlocked(() => {
    for (const call of [...calls]) {
      if (call.expires !== undefined && call.expires <= now()) call.timeOut();
      else call.fail(503, "replica_replaced", BLOCKED_ERROR, { close: true });
    }
  });
  process.on("uncaughtException", (error) => {
    writeError(undefined, "an error outside of every call ends the replica", error);
    failAll(() => ({ status: 500, reason: "handler_error", error: "The replica crashed; its log has the stack." }));
    // What was just written leaves first.
    setImmediate(() => endProcess(1));
  });

  function drain() {
    if (draining) endProcess(EXIT_TERMINATED);
    draining = true;
    server.close(() => whenPrinted(() => endProcess(0)));
    for (const socket of idle) socket.destroy();
    setTimeout(() => endProcess(EXIT_TERMINATED), settings.drainSec * 1000).unref();
  }

  server.on("error", (error) => refuse(`port ${settings.port} cannot be listened on: ${error.message}`));
  server.listen(settings.port, settings.host, () => {
    process.on("SIGTERM", drain);
    process.on("SIGINT", drain);
    notify(settings.notifyFd, server.address().port);
  });
}

function notify(fd, port) {
  if (fd === undefined) return;
  writeSync(fd, `sless-listening ${port}\n`);
  closeSync(fd);
}

/** A call of the gateway carries its deadline, also at /health. */
function isProbe(req) {
  return req.url.split(/[?#]/, 1)[0] === "/health" && req.headers["x-sless-timeout-ms"] === undefined;
}

function answerProbe(req, res, beforeBody) {
  beforeBody();
  req.resume();
  res.writeHead(200, { "content-type": "application/json", "content-length": HEALTH.length });
  res.end(HEALTH);
}

function requestIdOf(req) {
  const text = req.headers["x-request-id"] ?? "";
  return /^[\w.:/+=-]{1,128}$/.test(text) ? text : randomUUID().replaceAll("-", "");
}

/** The smaller of what is left of the gateway's budget and the function's own limit; undefined = no limit. */
function timeoutOf(settings, req) {
  const budget = req.headers["x-sless-timeout-ms"] ?? "";
  const limits = [settings.timeoutSec * 1000, /^\d+$/.test(budget) ? Number(budget) : 0].filter((limit) => limit > 0);
  return limits.length > 0 ? Math.min(...limits) : undefined;
}
