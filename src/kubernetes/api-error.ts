/** A `Status` answer of the API server (meta/v1), as far as callers decide on it. */
export class ApiError extends Error {
  /** HTTP status code. */
  readonly status: number;
  /** CamelCase, `Conflict`, `AlreadyExists`, `Invalid`, `Expired`; empty when the server gave none. */
  readonly reason: string;
  /** What it is about (`functions`, `namespaces`) and its name; empty where the server names none. */
  readonly about: { readonly kind: string; readonly name: string };
  /** Faulty fields, where the server names them. */
  readonly causes: readonly { readonly field: string; readonly message: string; readonly reason: string }[];
  /** Where a list goes on whose version is gone, by names instead. */
  readonly continue: string | undefined;
  /** Seconds that the server asks to wait. */
  readonly retryAfterSec: number | undefined;

  constructor(status: number, body: StatusBody, retryAfterSec?: number) {
    super(body.message ?? `the API server answered ${status}`);
    this.name = "ApiError";
    this.status = status;
    this.reason = body.reason ?? "";
    this.about = { kind: body.details?.kind ?? "", name: body.details?.name ?? "" };
    this.causes = (body.details?.causes ?? []).map(({ field = "", message = "", reason = "" }) => ({
      field,
      message,
      reason,
    }));
    this.continue = body.metadata?.continue;
    this.retryAfterSec = retryAfterSec;
  }
}

/** https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/status/ */
export interface StatusBody {
  readonly code?: number;
  readonly message?: string;
  readonly reason?: string;
  readonly metadata?: { readonly continue?: string };
  readonly details?: {
    readonly kind?: string;
    readonly name?: string;
    readonly causes?: readonly { readonly field?: string; readonly message?: string; readonly reason?: string }[];
  };
}

/** With `status`: only an answer of that HTTP status. */
export function isApiError(error: unknown, status?: number): error is ApiError {
  return error instanceof ApiError && (status === undefined || error.status === status);
}
