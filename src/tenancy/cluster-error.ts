import { SlessError } from "../errors/index.ts";
import { isApiError } from "../kubernetes/index.ts";

/** What the API server refuses, in sless's own terms; everything else as it is. */
export function toSlessError(error: unknown): unknown {
  if (!isApiError(error)) return error;
  if (error.status >= 500 || error.status === 429)
    return new SlessError("cluster_unavailable", { cause: error.message }, { cause: error });
  return new SlessError("cluster_refused", { cause: error.message }, { cause: error });
}
