/** Request → event → handler → answer. */
import { once } from "node:events";
import { reset } from "./call.mjs";
import { contextOf } from "./context.mjs";
import { decodeEvent, InvalidEvent, parseForm } from "./event.mjs";
import { writeError } from "./log.mjs";
import { BODYLESS, chunkBytes, chunkType, toAnswer } from "./result.mjs";

const LINGER_MS = 1000;

/** Ends when the call is answered or its client gone; throws nothing. */
export async function answerCall(call, { settings, handler, beforeBody, isDraining }) {
  try {
    const body = await readBody(call, settings.maxBody, beforeBody);
    if (body === undefined) return;
    const query = queryOf(call.req.url);
    const event = decodeEvent(call.req.headers["content-type"], body, query);
    const result = await handler(event, contextOf(call, settings, requestInfo(call.req, body)));
    const answer = toAnswer(result);
    if (isDraining()) call.res.shouldKeepAlive = false;
    if (answer.chunks) await stream(call, answer);
    else if (call.claim()) send(call, answer, answer.body);
  } catch (error) {
    failed(call, error);
  }
}

function failed(call, error) {
  if (error instanceof InvalidEvent) return call.fail(400, "invalid_event", error.message);
  if (call.expired) return writeError(call.requestId, "the handler failed after its deadline", error);
  if (call.res.destroyed && call.isOver) return writeError(call.requestId, "the client went away (client_disconnect)");
  writeError(call.requestId, "the handler failed (handler_error)", error);
  if (call.claimed) return reset(call.res);
  call.fail(500, "handler_error", "The handler failed; its log has the stack under this request id.");
}

/** The whole body; undefined when it was refused or its client is gone. */
async function readBody(call, limit, beforeBody) {
  const { req } = call;
  if (Number(req.headers["content-length"] ?? 0) > limit) return refuseBody(call, limit);
  beforeBody();
  const chunks = [];
  let size = 0;
  const isWhole = await new Promise((resolve) => {
    req.on("data", (chunk) => {
      size += chunk.length;
      if (size <= limit) chunks.push(chunk);
      else resolve(false);
    });
    req.once("end", () => resolve(true));
    req.once("close", () => resolve(req.complete));
  });
  if (size > limit) return refuseBody(call, limit);
  return isWhole ? Buffer.concat(chunks, size) : undefined;
}

/** Takes what the client still sends for a moment, so that it reads the answer rather than a reset. */
function refuseBody(call, limit) {
  const { req, res } = call;
  const end = () => {
    req.removeAllListeners("data").resume();
    const timer = setTimeout(() => res.end(), LINGER_MS);
    req.once("close", () => clearTimeout(timer)).once("end", () => res.end());
  };
  call.fail(413, "body_too_large", `The body is larger than ${limit} bytes; send less.`, { close: true, end });
  return undefined;
}

function queryOf(url) {
  const start = url.indexOf("?");
  return start === -1 ? "" : url.slice(start + 1);
}

function requestInfo(req, body) {
  const absolute = /^[a-z][a-z0-9+.-]*:\/\/[^/?]*/i.exec(req.url)?.[0] ?? "";
  const target = req.url.slice(absolute.length);
  return {
    method: req.method,
    path: target.split("?", 1)[0] || "/",
    queryString: queryOf(target),
    headers: req.headers,
    body,
    /** Of several values of one name the last counts. */
    get query() {
      return parseForm(this.queryString);
    },
  };
}

function writeHead(call, answer, more) {
  const names = new Set(answer.headers.map(([name]) => name));
  const own = Object.entries({ "x-request-id": call.requestId, ...more }).filter(([name]) => !names.has(name));
  call.res.writeHead(answer.status, [...answer.headers, ...own].flat());
}

function send(call, answer, body) {
  const isBodyless = BODYLESS.has(answer.status);
  writeHead(call, answer, isBodyless || body === undefined ? {} : { "content-length": String(body.length) });
  call.res.end(isBodyless || call.req.method === "HEAD" ? undefined : body);
}

/** Chunk by chunk, as fast as the client takes them; the first is there before the head, so that an error until then is a plain 500. */
async function stream(call, { chunks, ...answer }) {
  const { res } = call;
  const ends = () => void Promise.resolve(chunks.return?.()).catch(() => {});
  // A stream that waits for nothing that comes is ended with its call.
  call.signal.addEventListener("abort", ends, { once: true });
  const first = await chunks.next();
  if (!call.claim()) return ends();
  if (first.done || call.req.method === "HEAD" || BODYLESS.has(answer.status)) {
    ends();
    return send(call, answer, call.req.method === "HEAD" ? undefined : Buffer.alloc(0));
  }
  writeHead(call, answer, { "content-type": chunkType(first.value) });
  for (let item = first; !item.done && !call.signal.aborted; item = await chunks.next()) {
    const bytes = chunkBytes(item.value);
    if (bytes.length > 0 && !res.write(bytes)) await Promise.race([once(res, "drain"), once(res, "close")]);
  }
  if (!call.signal.aborted) res.end();
}
