/** A handler's result → an answer; the rules are the same in every runtime. */
import { validateHeaderName, validateHeaderValue } from "node:http";

const FRAMING = new Set([
  "connection",
  "content-length",
  "transfer-encoding",
  "keep-alive",
  "upgrade",
  "trailer",
  "te",
]);
export const BODYLESS = new Set([204, 304]);
const JSON_TYPE = "application/json";
const TEXT = "text/plain; charset=utf-8";
const OCTETS = "application/octet-stream";
const LINES = "application/x-ndjson";

/** What the handler returned cannot be an answer. */
export class InvalidResult extends Error {}

/** `{ status, headers, body, chunks }`: either `body` is bytes or `chunks` an iterator of strings, bytes, or values. */
export function toAnswer(result) {
  if (isMap(result) && "statusCode" in result) return fromMap(result);
  const { type, ...content } = encode(result);
  if (content.body === undefined && content.chunks === undefined)
    return { status: 204, headers: [], body: Buffer.alloc(0) };
  return { status: 200, headers: type ? [["content-type", type]] : [], ...content };
}

function isMap(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !ArrayBuffer.isView(value);
}

function fromMap(result) {
  const status = statusOf(result.statusCode);
  const headers = headersOf(result.headers ?? {});
  const { type, ...content } = encode(result.isBase64Encoded ? fromBase64(result.body) : result.body);
  if (type && !BODYLESS.has(status) && !headers.some(([name]) => name === "content-type"))
    headers.push(["content-type", type]);
  if (content.body === undefined && content.chunks === undefined) content.body = Buffer.alloc(0);
  return { status, headers, ...content };
}

/** The type of a stream is that of its first chunk, known later. */
function encode(value) {
  if (value === undefined || value === null) return {};
  if (typeof value === "string") return { body: Buffer.from(value), type: TEXT };
  const bytes = toBytes(value);
  if (bytes) return { body: bytes, type: OCTETS };
  const chunks = toIterator(value);
  return chunks ? { chunks } : { body: Buffer.from(toJson(value)), type: JSON_TYPE };
}

function toBytes(value) {
  if (value instanceof ArrayBuffer) return Buffer.from(value);
  return ArrayBuffer.isView(value) ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : undefined;
}

/** Async iterables (streams too) and generators; arrays, maps and sets are values. */
function toIterator(value) {
  if (typeof value !== "object" || value === null) return undefined;
  if (typeof value[Symbol.asyncIterator] === "function") return value[Symbol.asyncIterator]();
  return typeof value.next === "function" && typeof value[Symbol.iterator] === "function" ? value : undefined;
}

export function chunkType(chunk) {
  if (typeof chunk === "string") return TEXT;
  return toBytes(chunk) ? OCTETS : LINES;
}

export function chunkBytes(chunk) {
  if (typeof chunk === "string") return Buffer.from(chunk);
  return toBytes(chunk) ?? Buffer.from(`${toJson(chunk)}\n`);
}

function toJson(value) {
  let text;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    throw new InvalidResult(`the result is no JSON value: ${error.message}`);
  }
  if (text === undefined) throw new InvalidResult(`the result is no JSON value: a ${typeof value} is none`);
  return text;
}

function statusOf(status) {
  if (!Number.isInteger(status)) throw new InvalidResult(`statusCode is ${String(status)}, which is no whole number`);
  if (status < 200 || status > 599) throw new InvalidResult(`statusCode is ${status}, which is not within 200 to 599`);
  return status;
}

function headersOf(headers) {
  if (!isMap(headers)) throw new InvalidResult("headers is no map");
  return Object.entries(headers)
    .filter(([name]) => !FRAMING.has(name.toLowerCase()))
    .flatMap(([name, value]) => (Array.isArray(value) ? value : [value]).map((one) => header(name, String(one))));
}

function header(name, value) {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
  } catch (error) {
    throw new InvalidResult(error.message);
  }
  return [name.toLowerCase(), value];
}

function fromBase64(body) {
  if (typeof body !== "string" || !/^[A-Za-z0-9+/]*={0,2}$/.test(body) || body.length % 4 !== 0)
    throw new InvalidResult("isBase64Encoded is set and body is no base64");
  return Buffer.from(body, "base64");
}
