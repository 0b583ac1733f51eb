import { type Dispatcher, request as send } from "undici";
import { systemClock, type TimerClock } from "../controller/clock.ts";
import { messageOf, SlessError } from "../errors/index.ts";
import { ApiError, isApiError, type StatusBody } from "./api-error.ts";
import { type CredentialReader, type KubeConfigSource, readCredentials } from "./credentials.ts";
import type { ApiRequest, KubernetesClient } from "./kubernetes-client.ts";
import { type RateLimit, rateLimit } from "./rate-limit.ts";

export interface ClientOptions {
  readonly from: KubeConfigSource;
  /** Requests per second on the average, default 200; and at once, default 400. */
  readonly perSecond?: number;
  readonly burst?: number;
  readonly clock?: TimerClock;
  readonly userAgent?: string;
}

/** An answer without end must not fill the memory: the API server's own limit of a request is 3 MiB. */
const ANSWER_MAX_BYTES = 256 * 1024 * 1024;
const TRIES_WHEN_BUSY = 5;
const TIMEOUT_MS = 60_000;

interface Connection {
  readonly credentials: CredentialReader;
  readonly userAgent: string;
}

/** @throws SlessError `settings_invalid` when the kubeconfig cannot be used; nothing is sent before the first request */
export function openKubernetesClient(options: ClientOptions): KubernetesClient & { readonly namespace?: string } {
  const { from, perSecond = 200, burst = 400, clock = systemClock, userAgent = "sless" } = options;
  const credentials = readCredentials(from, () => clock.monotonicMs());
  const connection = { credentials, userAgent };
  const limit: RateLimit = rateLimit({ perSecond, burst, clock });
  const sent = { requests: 0 };

  async function answer<T>(request: ApiRequest): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      await limit(request.signal);
      sent.requests += 1;
      try {
        return await readJson<T>(await open(connection, request, TIMEOUT_MS));
      } catch (error) {
        const waitMs = waitBefore(error, request, tries);
        if (waitMs === undefined) throw error;
        await pause(waitMs, clock, request.signal);
      }
    }
  }
  return {
    ...(credentials.namespace === undefined ? {} : { namespace: credentials.namespace }),
    request: answer,
    async *stream(request) {
      const { body } = await open(connection, request);
      try {
        for await (const chunk of body) yield chunk as Uint8Array;
      } catch (error) {
        if (request.signal?.aborted) return;
        throw unavailable(error);
      }
    },
    sent,
    close: () => credentials.close(),
  };
}

/** Milliseconds after which the request is worth another try; undefined: it is not. */
function waitBefore(error: unknown, request: ApiRequest, tries: number): number | undefined {
  if (request.signal?.aborted) return undefined;
  if (isApiError(error, 429)) return tries < TRIES_WHEN_BUSY ? (error.retryAfterSec ?? 1) * 1_000 : undefined;
  // A kept connection may have been closed by the server just now: reading again is harmless.
  if (error instanceof SlessError && request.method === "GET" && tries === 1) return 0;
  return undefined;
}

async function open(connection: Connection, request: ApiRequest, timeoutMs = 0): Promise<Dispatcher.ResponseData> {
  let response = await exchange(connection, request, timeoutMs, false);
  if (response.statusCode === 401) {
    await response.body.dump();
    response = await exchange(connection, request, timeoutMs, true);
  }
  if (response.statusCode >= 400) throw await apiError(response);
  return response;
}

async function exchange(
  { credentials, userAgent }: Connection,
  request: ApiRequest,
  timeoutMs: number,
  isStale: boolean,
): Promise<Dispatcher.ResponseData> {
  const { method, path, query, body, contentType = "application/json", accept = "application/json", signal } = request;
  const { origin, headers, dispatcher } = await credentials.read(isStale);
  try {
    return await send(`${origin}${path}${queryText(query)}`, {
      method,
      dispatcher,
      headers: {
        ...headers,
        accept,
        "user-agent": userAgent,
        ...(body === undefined ? {} : { "content-type": contentType }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
      bodyTimeout: timeoutMs,
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw unavailable(error);
  }
}

function queryText(query: ApiRequest["query"] = {}): string {
  const entries = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as [string, string]],
  );
  return entries.length === 0 ? "" : `?${new URLSearchParams(entries)}`;
}

async function readJson<T>({ body }: Dispatcher.ResponseData): Promise<T> {
  try {
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of body) {
      chunks.push(chunk as Uint8Array);
      bytes += (chunk as Uint8Array).byteLength;
      if (bytes > ANSWER_MAX_BYTES) throw new Error("the answer is larger than 256 MiB");
    }
    return JSON.parse(Buffer.concat(chunks).toString("utf8")) as T;
  } catch (error) {
    throw unavailable(error);
  }
}

async function apiError({ statusCode, headers, body }: Dispatcher.ResponseData): Promise<ApiError> {
  const text = await body.text().catch(() => "");
  const retryAfter = Number(headers["retry-after"]);
  return new ApiError(statusCode, statusBody(text), Number.isFinite(retryAfter) ? retryAfter : undefined);
}

function statusBody(text: string): StatusBody {
  try {
    const parsed: unknown = JSON.parse(text);
    if (parsed !== null && typeof parsed === "object") return parsed;
  } catch {
    // Some answers are plain text.
  }
  return text === "" ? {} : { message: text.slice(0, 1_000) };
}

function unavailable(error: unknown): SlessError {
  return error instanceof SlessError
    ? error
    : new SlessError("cluster_unavailable", { cause: messageOf(error) }, { cause: error });
}

function pause(ms: number, clock: TimerClock, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = clock.setTimer(ms, resolve);
    signal?.addEventListener(
      "abort",
      () => {
        cancel();
        reject(signal.reason);
      },
      { once: true },
    );
  });
}
