import type { FunctionJobStatus, ObjectOf } from "../apis/index.ts";
import { isSlessError } from "../errors/index.ts";
import { truncateMessage } from "../platform/index.ts";
import type { ResourceStore } from "../resources/index.ts";

/**
 * Writes the status of a job. A large spec may leave no room for a long result: then its beginning is told, for a run
 * must end.
 *
 * @throws SlessError as `updateStatus` does
 */
export async function writeJobStatus(
  job: ObjectOf<"FunctionJob">,
  status: FunctionJobStatus,
  store: Pick<ResourceStore, "updateStatus">,
): Promise<void> {
  try {
    await store.updateStatus<"FunctionJob">(job, status);
  } catch (error) {
    const message = truncateMessage(status.message ?? "");
    if (!isSlessError(error, "too_large") || message === status.message) throw error;
    await store.updateStatus<"FunctionJob">(job, { ...status, message });
  }
}
