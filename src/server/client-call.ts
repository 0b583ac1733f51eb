import type { Dispatcher } from "undici";
import { messageOf, SlessError } from "../errors/index.ts";
import type { Answer } from "./client-answers.ts";
import { isSilence, type Patience, WAIT_MS } from "./patience.ts";
import type { ClientOptions } from "./sless-client.ts";

export interface Call {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly body?: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** Default: brief for GET, else long. */
  readonly patience?: Patience;
}

/** @throws SlessError `server_unreachable`, `server_silent`; the reason of the signal */
export type Send = (call: Call) => Promise<Answer>;

/** Sends calls to one server, as the bearer of a token where there is one; each waits as long as its patience says. */
export function sender({ endpoint, token, waitMs = WAIT_MS }: ClientOptions, dispatcher: Dispatcher): Send {
  return async ({ method, path, body, headers = {}, signal, patience = method === "GET" ? "brief" : "long" }) => {
    const timeout = waitMs[patience];
    try {
      const {
        statusCode,
        headers: told,
        body: content,
      } = await dispatcher.request({
        origin: endpoint,
        path,
        method,
        headersTimeout: timeout,
        bodyTimeout: timeout,
        body: body ?? null,
        headers: { ...headers, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
        ...(signal ? { signal } : {}),
      });
      return { statusCode, headers: told, body: content, endpoint };
    } catch (error) {
      if (signal?.aborted) throw error;
      if (isSilence(error))
        throw new SlessError("server_silent", { endpoint, seconds: timeout / 1_000 }, { cause: error });
      throw new SlessError("server_unreachable", { endpoint, cause: causeOf(error) }, { cause: error });
    }
  };
}

/** The message of a refused connection is empty when several addresses were tried; those of TLS speak to developers. */
function causeOf(error: unknown): string {
  const code = String((error as { code?: unknown }).code ?? "no answer");
  if (/SSL_WRONG_VERSION_NUMBER|SSL_PACKET_LENGTH_TOO_LONG|^EPROTO$/.test(code))
    return "it speaks no TLS there, an address with http:// may be right";
  if (/SELF_SIGNED|UNABLE_TO|CERT_UNTRUSTED/.test(code))
    return `its certificate is not trusted (${messageOf(error)}); NODE_EXTRA_CA_CERTS names a file with further ones`;
  // No further authority makes one that has run out, or is another server's, right.
  if (/CERT_/.test(code)) return `its certificate is not valid (${messageOf(error)})`;
  return messageOf(error) || code;
}
