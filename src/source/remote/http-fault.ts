import type { Dispatcher } from "undici";
import { messageOf } from "../../errors/index.ts";

export interface HttpFault {
  readonly code: "repository_unreachable" | "credentials_refused";
  readonly cause: string;
}

const unreachable = (cause: string): HttpFault => ({ code: "repository_unreachable", cause });

/** What is wrong with an answer; undefined when it is the one that was asked for. */
export function answerFault(
  { statusCode, headers }: Pick<Dispatcher.ResponseData, "statusCode" | "headers">,
  wanted: string,
): HttpFault | undefined {
  const type = String(headers["content-type"] ?? "")
    .split(";", 1)[0]!
    .trim()
    .toLowerCase();
  if (statusCode === 401 || statusCode === 403)
    return { code: "credentials_refused", cause: `it answered ${statusCode}` };
  if (statusCode === 404) return unreachable("it answered 404: it is not there, or is hidden without a credential");
  if (statusCode === 429) return unreachable("it answered 429: it was asked too often");
  if (statusCode !== 200) return unreachable(`it answered ${statusCode}`);
  if (type === "text/plain") return unreachable("its server speaks only Git's old protocol of plain files");
  if (type !== wanted) return unreachable(`it answered with ${shownType(type)}, which is nothing of Git`);
  if (headers["content-encoding"] !== undefined && headers["content-encoding"] !== "identity")
    return unreachable("it answered with an encoding that nobody asked for");
  return undefined;
}

function shownType(type: string): string {
  return /^[\w.+/-]{1,80}$/.test(type) ? type : "something";
}

const CAUSES: Readonly<Record<string, string>> = {
  ENOTFOUND: "its host is not known",
  EAI_AGAIN: "its host could not be looked up",
  ECONNREFUSED: "its host refused the connection",
  EHOSTUNREACH: "there is no way to its host",
  ENETUNREACH: "there is no way to its host",
  ECONNRESET: "the connection broke off",
  EPIPE: "the connection broke off",
  UND_ERR_SOCKET: "the connection broke off",
  UND_ERR_CONNECT_TIMEOUT: "its host did not answer",
  UND_ERR_HEADERS_TIMEOUT: "it fell silent",
  UND_ERR_BODY_TIMEOUT: "it fell silent",
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: "the connection broke off",
};

/** The other side closed the connection. */
export function isBrokenOff(error: unknown): boolean {
  return ["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"].includes((error as { code?: string }).code ?? "");
}

/** Codes of certificates that are not believed. */
const CERTIFICATE = /^(?:ERR_TLS_CERT|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH)/;

/** Why a request or its answer's body failed on the way. */
export function connectionFault(error: unknown): HttpFault {
  const { code } = error as { code?: unknown };
  if (typeof code !== "string") return unreachable(messageOf(error));
  if (CERTIFICATE.test(code)) return unreachable(`its certificate is not trusted (${code})`);
  return unreachable(CAUSES[code] ?? (messageOf(error) || code));
}
