import { type Dispatcher, request as send } from "undici";
import type { TimerClock } from "../controller/clock.ts";
import type { CredentialReader, Credentials } from "./credentials.ts";
import type { ApiRequest, SentRequest } from "./kubernetes-client.ts";
import { apiErrorOf, unavailable } from "./read-answer.ts";

export interface ExchangeOptions {
  readonly credentials: CredentialReader;
  readonly userAgent: string;
  readonly clock: TimerClock;
  onSent(sent: SentRequest): void;
}

/**
 * Sends a request with fresh credentials, and once more with fresher ones when they were refused. Resolves with the
 * head of an answer below 400; its body fails when no part of it comes for `quietMs` (0: no limit).
 *
 * @throws ApiError; SlessError `cluster_unavailable`; the reason of the request's signal
 */
export type Exchange = (request: ApiRequest, quietMs: number) => Promise<Dispatcher.ResponseData>;

export function createExchange(options: ExchangeOptions): Exchange {
  const { credentials } = options;
  return async (request, quietMs) => {
    const first = await credentials.read();
    let response = await sendWith(first, request, quietMs, options);
    if (response.statusCode === 401) {
      await response.body.dump().catch(() => {});
      response = await sendWith(await credentials.read(first), request, quietMs, options);
    }
    if (response.statusCode >= 400) throw await apiErrorOf(response);
    return response;
  };
}

async function sendWith(
  { origin, headers, dispatcher }: Credentials,
  request: ApiRequest,
  quietMs: number,
  { userAgent, clock, onSent }: ExchangeOptions,
): Promise<Dispatcher.ResponseData> {
  const { method, path, query, body, contentType = "application/json", accept = "application/json", signal } = request;
  const startMs = clock.monotonicMs();
  let status = 0;
  try {
    const response = await send(`${origin}${path}${queryText(query)}`, {
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
      bodyTimeout: quietMs,
    });
    status = response.statusCode;
    return response;
  } catch (error) {
    throw signal?.aborted ? error : unavailable(error);
  } finally {
    onSent({
      method,
      path,
      contentType: body === undefined ? undefined : contentType,
      status,
      durationMs: clock.monotonicMs() - startMs,
    });
  }
}

function queryText(query: ApiRequest["query"] = {}): string {
  const entries = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as [string, string]],
  );
  return entries.length === 0 ? "" : `?${new URLSearchParams(entries)}`;
}
