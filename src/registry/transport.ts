import { Readable } from "node:stream";
import { Agent, type Dispatcher, request as send } from "undici";
import { pause, type TimerClock } from "../controller/clock.ts";
import { messageOf } from "../errors/index.ts";
import { type CredentialSource, createAuthorizer, type Scopes } from "./authorizer.ts";
import { RegistryError } from "./registry-error.ts";

export interface RegistryOptions {
  /** `registry.example.org:5000`; `docker.io` is Docker Hub. */
  readonly host: string;
  readonly credentials?: CredentialSource;
  /** Without TLS: for registries inside a cluster or on this machine. Default false. */
  readonly plainHttp?: boolean;
  /** Certificates to trust beside the system's, in PEM form. */
  readonly ca?: string;
  readonly clock: TimerClock;
  /** Requests at the same time; default 16, and never less than 2, which a blob takes that is sent on as it comes. */
  readonly concurrency?: number;
  /** Tries of what a busy or broken server did not answer; default 4. */
  readonly tries?: number;
  /** How long nothing moves before a request is given up; default 60 s. While bytes move it takes what it takes. */
  readonly stallMs?: number;
}

export interface RegistryRequest {
  readonly repository: string;
  readonly scopes: Scopes;
  readonly method: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below `/v2/<repository>/`, or a whole address that the registry gave as the place of an upload. */
  readonly path: string | URL;
  readonly headers?: Readonly<Record<string, string>>;
  /** A stream is opened for each time it is sent; its length stands in the headers. */
  readonly body?: Uint8Array | (() => Readable);
  /** Redirects are followed, without credentials once they leave the host. Default false. */
  readonly follow?: boolean;
  /** Default true; false for what must not be sent twice by itself. */
  readonly retry?: boolean;
}

export interface Transport {
  readonly origin: string;
  /** Requests at the same time; 2 at least. */
  readonly concurrency: number;
  send(request: RegistryRequest): Promise<Dispatcher.ResponseData>;
  close(): Promise<void>;
}

const DOCKER_HUB_HOST = "registry-1.docker.io";
const BACK_OFF_MS = 250;
const RETRY_AFTER_MAX_MS = 60_000;
const REDIRECTS_MAX = 3;
const STALL_MS = 60_000;
const CHUNK_BYTES = 64 * 1024;
const NO_TLS = ["ERR_SSL_WRONG_VERSION_NUMBER", "ERR_SSL_PACKET_LENGTH_TOO_LONG"];
const AGAIN = [408, 429, 500, 502, 503, 504];

export function openTransport(options: RegistryOptions): Transport {
  const { host, credentials, plainHttp = false, ca, clock, tries = 4, stallMs = STALL_MS } = options;
  const concurrency = Math.max(2, options.concurrency ?? 16);
  const origin = `${plainHttp ? "http" : "https"}://${host === "docker.io" ? DOCKER_HUB_HOST : host}`;
  const dispatcher = new Agent({
    connections: concurrency,
    connect: { timeout: 10_000, ...(ca === undefined ? {} : { ca }) },
    headersTimeout: stallMs,
    bodyTimeout: stallMs,
  });
  const authorizer = createAuthorizer({ credentials, dispatcher, clock, isPlain: plainHttp });

  /** What a registry with TLS says and is sent goes over nothing less. */
  const isDowngrade = ({ protocol }: URL) => !plainHttp && protocol !== "https:";

  async function once(request: RegistryRequest): Promise<Dispatcher.ResponseData> {
    const url = addressOf(origin, request);
    const isHome = url.origin === origin;
    if (isHome && request.body !== undefined) await authorizer.prepare(request.scopes);
    const { response, at } = await exchange(url, request, authorizer.headers(request.scopes));
    // What another host asks for is not answered: the credentials are the registry's.
    if (response.statusCode !== 401 || at.origin !== origin) return response;
    const challenge = response.headers["www-authenticate"];
    if (!(await authorizer.answer(challenge, request.scopes))) return response;
    await response.body.dump();
    return (await exchange(url, request, authorizer.headers(request.scopes))).response;
  }

  async function exchange(
    url: URL,
    { method, headers = {}, body, follow = false }: RegistryRequest,
    authorization: Record<string, string>,
  ): Promise<Answer> {
    let at = url;
    if (isDowngrade(at)) throw new RegistryError(0, "", `the registry names ${at.origin}, which has no TLS`);
    for (let redirects = 0; ; redirects += 1) {
      const response = await send(at, {
        method,
        dispatcher,
        // Where the blobs of a registry lie is another host's business: it gets no credentials of this one.
        headers: {
          "user-agent": "sless",
          ...headers,
          ...(at.origin === origin ? authorization : {}),
          ...lengthOf(body),
        },
        ...(body === undefined ? {} : { body: typeof body === "function" ? body() : inChunks(body) }),
        // Else undici closes the connection after each, for servers that send a body nevertheless.
        ...(method === "HEAD" ? { reset: false } : {}),
      });
      const { location } = response.headers;
      if (!follow || ![301, 302, 303, 307, 308].includes(response.statusCode) || typeof location !== "string")
        return { response, at };
      await response.body.dump();
      const next = new URL(location, at);
      if (redirects >= REDIRECTS_MAX || isDowngrade(next))
        throw new RegistryError(0, "", `the registry redirects to ${next.origin}, where it is not followed`);
      at = next;
    }
  }

  async function sendPatiently(request: RegistryRequest): Promise<Dispatcher.ResponseData> {
    for (let tried = 1; ; tried += 1) {
      const isLast = tried >= tries || request.retry === false;
      try {
        const response = await once(request);
        if (isLast || !AGAIN.includes(response.statusCode)) return response;
        await response.body.dump();
        await pause(waitMs(response, tried), clock);
      } catch (error) {
        if (error instanceof RegistryError && error.status !== 0) throw error;
        if (isLast) throw unanswered(host, error);
        await pause(BACK_OFF_MS * 2 ** (tried - 1), clock);
      }
    }
  }
  return { origin, concurrency, send: sendPatiently, close: () => dispatcher.close() };
}

interface Answer {
  readonly response: Dispatcher.ResponseData;
  /** Where it came from, after redirects. */
  readonly at: URL;
}

function lengthOf(body: RegistryRequest["body"]): Record<string, string> {
  return body instanceof Uint8Array ? { "content-length": String(body.byteLength) } : {};
}

/** In one piece it could not be seen whether a large body moves on. */
function inChunks(bytes: Uint8Array): Uint8Array | Readable {
  if (bytes.byteLength <= CHUNK_BYTES) return bytes;
  return Readable.from(chunksOf(bytes), { objectMode: false });
}

function* chunksOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += CHUNK_BYTES) yield bytes.subarray(at, at + CHUNK_BYTES);
}

function addressOf(origin: string, { repository, path }: RegistryRequest): URL {
  return path instanceof URL ? path : new URL(`${origin}/v2/${repository}/${path}`);
}

/** `Retry-After` in seconds or as a date (RFC 9110 §10.2.3), else a growing time. */
function waitMs({ headers }: Dispatcher.ResponseData, tried: number): number {
  const after = String(headers["retry-after"] ?? "");
  const ms = /^\d+$/.test(after) ? Number(after) * 1_000 : Date.parse(after) - Date.now();
  if (Number.isNaN(ms)) return BACK_OFF_MS * 2 ** (tried - 1);
  return Math.min(Math.max(ms, 0), RETRY_AFTER_MAX_MS);
}

function unanswered(host: string, error: unknown): RegistryError {
  if (error instanceof RegistryError) return error;
  const { code } = error as { code?: unknown };
  // OpenSSL's own words for it are its file and line.
  const cause = NO_TLS.includes(String(code))
    ? "it speaks no TLS (REGISTRY_PLAIN_HTTP=true, if it is to have none)"
    : messageOf(error);
  return new RegistryError(0, "", `registry ${host} did not answer: ${cause}`, { cause: error });
}
