import { isSlessError, SlessError } from "../../errors/index.ts";
import { isApiError } from "../../kubernetes/index.ts";
import type { Failure } from "./pod-failure.ts";

/**
 * What the cluster holds against a child as it is: told as the workload's failure. Undefined for what passes by itself
 * (no answer, a conflict, a namespace that is going), which whoever asked tries again.
 */
export function refusalOf(error: unknown, kind: string): Failure | undefined {
  if (isSlessError(error, "secret_missing")) return { reason: "SecretMissing", message: error.message };
  if (!isApiError(error) || ![400, 403, 422].includes(error.status)) return undefined;
  if (/is being terminated/.test(error.message)) return undefined;
  if (/exceeded quota/.test(error.message))
    return { reason: "QuotaExceeded", message: new SlessError("quota_exceeded", { cause: error.message }).message };
  return { reason: "Refused", message: new SlessError("child_refused", { kind, cause: error.message }).message };
}
