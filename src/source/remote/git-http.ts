import { getCACertificates } from "node:tls";
import { Agent, type Dispatcher } from "undici";
import { isSlessError, SlessError } from "../../errors/index.ts";
import type { Access } from "./credentials.ts";
import { checkAddress, guardedLookup } from "./guarded-lookup.ts";
import { answerFault, connectionFault, type HttpFault, isBrokenOff } from "./http-fault.ts";
import type { NetworkPolicy } from "./network-policy.ts";
import { redirectTarget } from "./redirect-target.ts";
import { shownUrl } from "./repository-url.ts";

export interface GitHttpOptions {
  /** As `parseRepositoryUrl` answers it. */
  readonly url: URL;
  readonly access: Access;
  readonly policy: NetworkPolicy;
  /** Bytes of one answer at most. Default 1 GiB. */
  readonly maxBytes?: number;
}

export interface GitHttpRequest {
  /** `Git-Protocol`: the version that is asked for. */
  readonly protocol?: string | undefined;
  readonly signal: AbortSignal;
  /** Of this answer, when it is less than what the repository may hold. */
  readonly maxBytes?: number;
}

/** A body that is what a Git server sends. It throws as the request does when it breaks off or grows too large. */
export type GitBody = AsyncIterable<Uint8Array>;

/**
 * The two requests of Git over HTTP to one repository. Redirects are followed where Git follows them, every address is
 * one that the policy allows, and the credential goes to no other host than the repository's.
 *
 * @throws SlessError `repository_unreachable`, `credentials_refused`, `address_refused`, `repository_too_large`
 */
export interface GitHttp {
  /** `GET …/info/refs`. Where it is redirected to is where `uploadPack` goes. */
  discover(request: GitHttpRequest): Promise<GitBody>;
  /** `POST …/git-upload-pack`. @param encoding of the body, as `Content-Encoding` names it */
  uploadPack(request: GitHttpRequest & { readonly body: Uint8Array; readonly encoding?: string }): Promise<GitBody>;
  /** Ends its connections. */
  close(): Promise<void>;
}

const MAX_BYTES = 1 << 30;
const REDIRECTS_MAX = 5;
const CONNECT_MS = 10_000;
/** Servers send a sign of life every few seconds while they work. */
const SILENCE_MS = 120_000;
const SERVICE = "git-upload-pack";

export function openGitHttp({ url, access, policy, maxBytes = MAX_BYTES }: GitHttpOptions): GitHttp {
  const shown = shownUrl(url.href);
  const agent = new Agent({
    allowH2: false,
    headersTimeout: SILENCE_MS,
    bodyTimeout: SILENCE_MS,
    connect: {
      lookup: guardedLookup(policy),
      timeout: CONNECT_MS,
      ...(access.ca === undefined ? {} : { ca: [...getCACertificates("default"), access.ca] }),
    },
  });
  let base = url;

  const fail = ({ code, cause }: HttpFault, error?: unknown) =>
    new SlessError(code, { url: shown, cause }, error === undefined ? {} : { cause: error });

  async function send(target: URL, options: Omit<Dispatcher.RequestOptions, "origin" | "path">, signal: AbortSignal) {
    checkAddress(target, policy);
    // Name and port; from http to https of the same host it goes along.
    const authorization = target.host === url.host ? access.authorization : undefined;
    const headers = {
      "user-agent": "git/sless",
      "accept-encoding": "identity",
      ...(options.headers as Record<string, string>),
      ...(authorization === undefined ? {} : { authorization }),
    };
    const path = target.pathname + target.search;
    const request = () => agent.request({ ...options, origin: target.origin, path, headers, signal });
    try {
      // A connection that was kept from the last look may have been closed in the meantime.
      return await request().catch((error) => {
        if (options.method === "GET" && isBrokenOff(error)) return request();
        throw error;
      });
    } catch (error) {
      throw signal.aborted || isSlessError(error) ? error : fail(connectionFault(error), error);
    }
  }

  /** The body of an answer that is a Git server's. */
  async function bodyOf(answer: Dispatcher.ResponseData, kind: string, request: GitHttpRequest): Promise<GitBody> {
    const fault = answerFault(answer, `application/x-${SERVICE}-${kind}`);
    if (fault === undefined) return bounded(answer.body, request);
    answer.body.on("error", () => {}).destroy();
    throw fail(fault);
  }

  async function* bounded(body: GitBody, { signal, maxBytes: ofAnswer = maxBytes }: GitHttpRequest): GitBody {
    let bytes = 0;
    try {
      for await (const chunk of body) {
        bytes += chunk.length;
        if (bytes > ofAnswer) throw new SlessError("repository_too_large", { limit: `${ofAnswer >> 20} MiB` });
        yield chunk;
      }
    } catch (error) {
      throw signal.aborted || isSlessError(error) ? error : fail(connectionFault(error), error);
    }
  }

  async function discover(request: GitHttpRequest): Promise<GitBody> {
    let target = new URL(`${url.origin}${url.pathname.replace(/\/$/, "")}/info/refs?service=${SERVICE}`);
    const headers = { accept: `application/x-${SERVICE}-advertisement`, ...protocolHeader(request) };
    for (let redirects = 0; ; redirects += 1) {
      const answer = await send(target, { method: "GET", headers }, request.signal);
      const next = redirectTarget(answer, target);
      if (next === undefined) {
        const body = await bodyOf(answer, "advertisement", request);
        base = new URL(target.href.slice(0, -`/info/refs${target.search}`.length));
        return body;
      }
      answer.body.on("error", () => {}).destroy();
      if ("cause" in next) throw fail({ code: "repository_unreachable", cause: next.cause });
      if (redirects === REDIRECTS_MAX)
        throw fail({ code: "repository_unreachable", cause: `it redirects more than ${REDIRECTS_MAX} times` });
      target = next.target;
    }
  }

  return {
    discover,
    async uploadPack(request) {
      const headers = {
        accept: `application/x-${SERVICE}-result`,
        "content-type": `application/x-${SERVICE}-request`,
        ...(request.encoding === undefined ? {} : { "content-encoding": request.encoding }),
        ...protocolHeader(request),
      };
      const target = new URL(`${base.origin}${base.pathname.replace(/\/$/, "")}/${SERVICE}`);
      const answer = await send(target, { method: "POST", headers, body: request.body }, request.signal);
      return bodyOf(answer, "result", request);
    },
    close: () => agent.destroy(),
  };
}

function protocolHeader({ protocol }: GitHttpRequest): Record<string, string> {
  return protocol === undefined ? {} : { "git-protocol": protocol };
}
