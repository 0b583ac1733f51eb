import type { IncomingMessage } from "node:http";
import { SlessError } from "../errors/index.ts";

/** `http://127.0.0.1:9191/fn/default/hello?name=Ada`, as clients send it to a proxy. */
const ABSOLUTE = /^https?:\/\/([^/?#]*)([^#]*)/i;

/**
 * Makes a request in absolute form the same in origin form: its path is the URL's, and its `Host`, which RFC 9112 §3.2.2
 * lets not count, the URL's authority. Any other stays as it is.
 */
export function toOriginForm(req: IncomingMessage): void {
  const [, authority, path = ""] = ABSOLUTE.exec(req.url ?? "") ?? [];
  if (authority === undefined) return;
  req.url = path.startsWith("/") ? path : `/${path}`;
  req.headers.host = authority;
}

/**
 * What RFC 9112 §3.2 refuses, a target that is neither path nor URL, no `Host`, or several; and §6.1: where a body ends
 * that HTTP/1.0 sends in chunks is nothing that a proxy in between and we agree upon.
 */
export function targetFault(req: IncomingMessage): SlessError | undefined {
  const hosts = req.rawHeaders.filter((text, at) => at % 2 === 0 && text.toLowerCase() === "host").length;
  if (hosts > 1) return invalid(`it has ${hosts} Host headers`);
  if (hosts === 0 && req.httpVersion === "1.1") return invalid("it has no Host header");
  if (req.httpVersion === "1.0" && req.headers["transfer-encoding"] !== undefined)
    return invalid("HTTP/1.0 has no Transfer-Encoding");
  const isServer = req.method === "OPTIONS" && req.url === "*";
  if (!req.url?.startsWith("/") && !isServer) return invalid("its target is neither a path nor a URL");
  return undefined;
}

function invalid(cause: string): SlessError {
  return new SlessError("invalid_request", { cause });
}
