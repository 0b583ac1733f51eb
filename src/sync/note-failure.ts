import { type AnyObject, refOf } from "../apis/index.ts";
import { isSlessError } from "../errors/index.ts";
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
    const isOfOne =
      isSlessError(error) && ["conflict", "not_found", "invalid_request", "forbidden"].includes(error.code);
    if (!isOfOne) throw error;
    run.failures.push({ doing, ref: refOf(object), error });
  }
}
