import { isSlessError, SlessError } from "../../errors/index.ts";
import { type ApiError, isApiError } from "../../kubernetes/index.ts";
import type { Failure } from "./pod-failure.ts";

/** Statuses with which the API server, a policy or a quota refuses an object as it is. */
const REFUSALS: readonly number[] = [400, 403, 405, 413, 422];
/** A webhook answers with the status that it likes, and is told as a fault of the server when it does not answer. */
const BY_WEBHOOK = /admission webhook "[^"]*" denied the request|failed calling webhook/;
/** What etcd does not take is told as a fault of the server, too. */
const TOO_LARGE = /request is too large/;

/**
 * What the cluster holds against a child as it is: told as the workload's failure. Undefined for what passes by itself
 * (no answer, a conflict, a namespace that is going), which whoever asked tries again.
 */
export function refusalOf(error: unknown, kind: string): Failure | undefined {
  if (isSlessError(error, "secret_missing")) return { reason: "SecretMissing", message: error.message };
  if (!isApiError(error) || !isRefused(error)) return undefined;
  if (/is being terminated/.test(error.message)) return undefined;
  if (/exceeded quota/.test(error.message))
    return { reason: "QuotaExceeded", message: new SlessError("quota_exceeded", { cause: error.message }).message };
  return { reason: "Refused", message: new SlessError("child_refused", { kind, cause: error.message }).message };
}

function isRefused({ status, message }: ApiError): boolean {
  return REFUSALS.includes(status) || BY_WEBHOOK.test(message) || TOO_LARGE.test(message);
}
