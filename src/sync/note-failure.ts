import { type AnyObject, refOf } from "../apis/index.ts";
import { type ErrorCode, isSlessError, type SlessError } from "../errors/index.ts";
import type { Failure, Run } from "./run.ts";

/**
 * Does something for one object. That somebody changed or deleted the object meanwhile is noted for a later run; what
 * would hit every object (the store is gone) is thrown.
 */
export async function noteFailure(
  run: Run,
  doing: Failure["doing"],
  object: AnyObject,
  work: () => Promise<void>,
): Promise<void> {
  run.signal.throwIfAborted();
  try {
    await work();
  } catch (error) {
    if (!isOfOneObject(error)) throw error;
    run.failures.push({ doing, ref: refOf(object), error });
  }
}

const OF_ONE_OBJECT: ReadonlySet<ErrorCode> = new Set([
  "conflict",
  "not_found",
  "invalid_request",
  "forbidden",
  "cluster_refused",
  "too_large",
]);

/** Another object may be written nevertheless. */
export function isOfOneObject(error: unknown): error is SlessError {
  return isSlessError(error) && OF_ONE_OBJECT.has(error.code);
}
