import type { Dispatcher } from "undici";
import { pause, systemClock, type TimerClock } from "../controller/clock.ts";
import { isSlessError } from "../errors/index.ts";
import { isApiError } from "./api-error.ts";
import { readCredentials } from "./credentials.ts";
import { createExchange, type Exchange } from "./exchange.ts";
import { giveWay } from "./give-way.ts";
import type { KubeConfigSource } from "./kubeconfig.ts";
import type { ApiRequest, KubernetesClient, SentRequest } from "./kubernetes-client.ts";
import { rateLimit } from "./rate-limit.ts";
import { isBrokenConnection, readJson, unavailable } from "./read-answer.ts";

export interface ClientOptions {
  readonly from: KubeConfigSource;
  /** Requests per second on the average, default 200; and at once, default 400. */
  readonly perSecond?: number;
  readonly burst?: number;
  readonly clock?: TimerClock;
  readonly userAgent?: string;
  /** Without an answer, or the next part of it, after so long a request has failed; default 60,000. */
  readonly timeoutMs?: number;
  /** Kept at a time, default 64. A watch, or a log that is followed, has one for as long as it lasts; what comes beyond waits. */
  readonly connections?: number;
  readonly onSent?: (sent: SentRequest) => void;
}

const TRIES_WHEN_BUSY = 5;
/** A server may ask for any time; nobody waits longer than that. */
const WAIT_MAX_MS = 10_000;

export type OpenedClient = KubernetesClient & {
  /** Of the current context or service account. */
  readonly namespace?: string;
  /**
   * The same client, whose requests wait while many others are under way: for what follows from an apply of a thousand
   * objects (their statuses, their children), so that it does not hold up the apply itself.
   */
  readonly yielding: KubernetesClient;
};

/** @throws SlessError `settings_invalid` when the kubeconfig cannot be used; nothing is sent before the first request */
export function openKubernetesClient(options: ClientOptions): OpenedClient {
  const { from, perSecond = 200, burst = 400, clock = systemClock, userAgent = "sless" } = options;
  const { timeoutMs = 60_000, connections = 64 } = options;
  const credentials = readCredentials(from, { clock, timeoutMs, connections });
  const limit = rateLimit({ perSecond, burst, clock });
  const sent = { requests: 0 };
  const exchange = createExchange({
    credentials,
    userAgent,
    clock,
    onSent: (request) => options.onSent?.(request),
  });

  async function answer<T>(request: ApiRequest): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      await limit(request.signal);
      sent.requests += 1;
      try {
        return await readJson<T>(await exchange(request, timeoutMs));
      } catch (error) {
        const waitMs = waitBefore(error, request, tries);
        if (waitMs === undefined) throw error;
        await pause(waitMs, clock, request.signal);
        request.signal?.throwIfAborted();
      }
    }
  }
  const ways = giveWay(clock);
  const client: KubernetesClient = {
    request: <T>(request: ApiRequest) => ways.urgent(() => answer<T>(request)),
    stream: (request, { quietMs = 0 } = {}) => streamOf(exchange, request, quietMs),
    sent,
    close: () => credentials.close(),
  };
  return {
    ...client,
    ...(credentials.namespace === undefined ? {} : { namespace: credentials.namespace }),
    yielding: {
      ...client,
      request: <T>(request: ApiRequest) => ways.yielding(() => answer<T>(request), request.signal),
    },
  };
}

async function* streamOf(exchange: Exchange, request: ApiRequest, quietMs: number): AsyncGenerator<Uint8Array> {
  try {
    const { body }: Dispatcher.ResponseData = await exchange(request, quietMs);
    for await (const chunk of body) yield chunk as Uint8Array;
  } catch (error) {
    if (request.signal?.aborted) return;
    throw isApiError(error) ? error : unavailable(error);
  }
}

/** Milliseconds after which the request is worth another try; undefined: it is not. */
function waitBefore(error: unknown, { signal, method }: ApiRequest, tries: number): number | undefined {
  if (signal?.aborted) return undefined;
  if (isApiError(error) && (error.status === 429 || error.retryAfterSec !== undefined))
    return tries < TRIES_WHEN_BUSY ? Math.min(WAIT_MAX_MS, (error.retryAfterSec ?? 1) * 1_000) : undefined;
  // A kept connection may have been closed by the server just now: reading again is harmless.
  const isWorthReading = method === "GET" && tries === 1 && isSlessError(error) && isBrokenConnection(error.cause);
  return isWorthReading ? 0 : undefined;
}
