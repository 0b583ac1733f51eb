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
 * Requests to one API server over kept connections, within a client-side rate limit. 429 with `Retry-After` is waited
 * for and sent again; a GET whose connection broke is sent once more.
 *
 * @throws ApiError for every answer of 400 and above; SlessError `cluster_unavailable` when there was no answer
 */
export interface KubernetesClient {
  /** The answer's JSON. */
  request<T>(request: ApiRequest): Promise<T>;
  /** The answer's bytes as they come (logs, watches), without a limit of time; not counted by the rate limit. */
  stream(request: ApiRequest): AsyncIterable<Uint8Array>;
  /** Requests sent so far by method and path without names: for metrics and benchmarks. */
  readonly sent: { readonly requests: number };
  close(): Promise<void>;
}
