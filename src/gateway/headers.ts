import { randomUUID } from "node:crypto";
import type { Dispatcher } from "undici";
import { INTERNAL_HEADERS } from "./internal-protocol.ts";

/** Headers as they stand on the wire: name, value, name, value, … */
export type RawHeaders = readonly string[];

/** Of an answer as undici tells them. Bytes stay what they are: Node writes headers in the same encoding. */
export function rawHeadersOf({ rawHeaders }: Pick<Dispatcher.DispatchController, "rawHeaders">): string[] {
  return (rawHeaders as Buffer[]).map((part) => part.toString("latin1"));
}

/** Meant for one connection alone (RFC 9110 §7.6.1); `Expect` is answered by the gateway itself. */
const HOP_BY_HOP = new Set([
  "connection",
  "expect",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** What the gateway says of a call to the replica. */
export interface CallFacts {
  /** Address of the client as the connection shows it. */
  readonly clientAddress: string;
  /** The `Host` that the client used. */
  readonly host: string | undefined;
  readonly protocol: "http" | "https";
  /** `/fn/{ns}/{name}`; undefined for calls that came in another way. */
  readonly prefix: string | undefined;
  readonly requestId: string;
  /** 0 = no limit. */
  readonly timeoutMs: number;
  /** How the call came: `http`, `invoke`, `cron`, `event`. */
  readonly trigger: string;
  /** A proxy in front is trusted: its `X-Forwarded-*` are kept and `X-Forwarded-For` goes on. */
  readonly trustForwarded: boolean;
  /** Further headers, in lower case, that end here. */
  readonly withoutHeaders?: readonly string[] | undefined;
}

/**
 * Headers for the replica: without those of the connection and those that `Connection` names, without `Host`, and
 * without anything that a client could use to pose as the gateway (`x-sless-*`, `X-Forwarded-*`). Pure.
 */
export function requestHeaders(raw: RawHeaders, facts: CallFacts): string[] {
  const named = connectionTokens(raw);
  const headers: string[] = [];
  let forwardedFor = "";
  const kept = new Set<string>();
  eachHeader(raw, (name, value, lower) => {
    if (isDropped(lower, named) || lower === "host" || lower === "x-request-id" || lower.startsWith("x-sless-")) return;
    if (facts.withoutHeaders?.includes(lower)) return;
    if (lower === "forwarded" || lower.startsWith("x-forwarded-")) {
      if (!facts.trustForwarded) return;
      if (lower === "x-forwarded-for") {
        forwardedFor += `${value}, `;
        return;
      }
      kept.add(lower);
    }
    headers.push(name, value);
  });
  const set = (name: string, value: string | undefined) => {
    if (value !== undefined && !kept.has(name)) headers.push(name, value);
  };
  set("x-forwarded-for", forwardedFor + facts.clientAddress);
  set("x-forwarded-host", facts.host);
  set("x-forwarded-proto", facts.protocol);
  set("x-forwarded-prefix", facts.prefix);
  headers.push("x-request-id", facts.requestId);
  headers.push("x-sless-timeout-ms", String(facts.timeoutMs), "x-sless-trigger", facts.trigger);
  return headers;
}

/**
 * Headers for the client: the replica's without those of its connection and that by which the gateway tells its own
 * errors, with the call's own request id. An answer of this status without a body tells no length of one, or a proxy
 * in front would wait for it, and take what is another's. Pure.
 */
export function responseHeaders(raw: RawHeaders, requestId: string, status: number): string[] {
  const named = connectionTokens(raw);
  const isBodiless = status < 200 || status === 204;
  const headers: string[] = [];
  eachHeader(raw, (name, value, lower) => {
    if (isDropped(lower, named) || lower === "x-request-id" || lower === INTERNAL_HEADERS.error) return;
    if (isBodiless && lower === "content-length") return;
    headers.push(name, value);
  });
  headers.push("x-request-id", requestId);
  return headers;
}

const SANE_REQUEST_ID = /^[A-Za-z0-9][A-Za-z0-9._:=+/-]{0,127}$/;

/** The client's request id when it is short and plain, else a new one. */
export function requestIdOf(given: string | string[] | undefined): string {
  return typeof given === "string" && SANE_REQUEST_ID.test(given) ? given : randomUUID();
}

/**
 * `Content-Length` is never taken for a header of the connection, whatever `Connection` names: where the message
 * ends is not the sender's to hide.
 */
function isDropped(lower: string, named: ReadonlySet<string>): boolean {
  return HOP_BY_HOP.has(lower) || (named.has(lower) && lower !== "content-length");
}

const NO_TOKENS: ReadonlySet<string> = new Set();

function connectionTokens(raw: RawHeaders): ReadonlySet<string> {
  let tokens: Set<string> | undefined;
  eachHeader(raw, (_name, value, lower) => {
    if (lower !== "connection") return;
    tokens ??= new Set();
    for (const token of value.split(",")) tokens.add(token.trim().toLowerCase());
  });
  return tokens ?? NO_TOKENS;
}

function eachHeader(raw: RawHeaders, visit: (name: string, value: string, lower: string) => void): void {
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at] as string;
    visit(name, raw[at + 1] as string, name.toLowerCase());
  }
}
