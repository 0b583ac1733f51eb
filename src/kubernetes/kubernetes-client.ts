export interface ApiRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** As `apiPath` makes it. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Of the body; default `application/json`. */
  readonly contentType?: string;
  /** Default `application/json`. */
  readonly accept?: string;
  readonly signal?: AbortSignal;
}

/** `apply` is JSON: every JSON document is YAML. */
export const PATCH_TYPES = {
  apply: "application/apply-patch+yaml",
  merge: "application/merge-patch+json",
  json: "application/json-patch+json",
} as const;

/**
 * Requests to one API server over kept connections, within a client-side rate limit. An answer of 429 or 5xx that says
 * when to come again (`Retry-After`) is waited for; a GET whose connection broke is sent once more.
 *
 * @throws ApiError for every answer of 400 and above; SlessError `cluster_unavailable` when there was no answer, or
 *   none that can be read. Neither holds credentials or what was sent.
 */
export interface KubernetesClient {
  /** The answer's JSON. */
  request<T>(request: ApiRequest): Promise<T>;
  /**
   * The answer's bytes as they come (logs, watches); not counted by the rate limit. Ends without an error when the
   * request's signal aborts.
   *
   * @param options.quietMs ends with `cluster_unavailable` when nothing came for so long; default: no limit
   */
  stream(request: ApiRequest, options?: { readonly quietMs?: number }): AsyncIterable<Uint8Array>;
  /** By `request` so far, retries too. A stream is none: when a watch is opened, and again, is nobody's doing. */
  readonly sent: { readonly requests: number };
  close(): Promise<void>;
}

/** One request that was answered, or was not: `status` is 0 then. For metrics and benchmarks. */
export interface SentRequest {
  readonly method: ApiRequest["method"];
  /** Without the query. */
  readonly path: string;
  /** Of the body, where there was one. */
  readonly contentType: string | undefined;
  readonly status: number;
  /** Until the answer's head. */
  readonly durationMs: number;
}
