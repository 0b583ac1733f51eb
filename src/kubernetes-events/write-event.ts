import { API_RESOURCES, apiPath, isApiError, type KubernetesClient, PATCH_TYPES } from "../kubernetes/index.ts";
import type { CoreEvent } from "./core-event.ts";
import type { QueuedEvent } from "./event-queue.ts";

/**
 * Writes an event, or counts one up that is there already.
 *
 * @param known count of that event as it was written last by this process
 * @returns its count now
 * @throws ApiError, SlessError `cluster_unavailable`
 */
export async function writeEvent(
  client: KubernetesClient,
  { event, times }: QueuedEvent,
  known: number | undefined,
): Promise<number> {
  if (known !== undefined) {
    const count = await countUp(client, event, known + times);
    if (count !== undefined) return count;
  }
  const { namespace } = event.metadata;
  try {
    const body = { ...event, count: times };
    await client.request({ method: "POST", path: apiPath(API_RESOURCES.CoreEvent, { namespace }), body });
    return times;
  } catch (error) {
    if (!isApiError(error, 409) || error.reason !== "AlreadyExists") throw error;
  }
  const present = await client.request<CoreEvent>({ method: "GET", path: pathOf(event) });
  return (await countUp(client, event, (present.count ?? 1) + times)) ?? times;
}

/** @returns undefined when the event is gone: the API server keeps them for an hour */
async function countUp(client: KubernetesClient, event: CoreEvent, count: number): Promise<number | undefined> {
  try {
    const body = { count, lastTimestamp: event.lastTimestamp };
    await client.request({ method: "PATCH", path: pathOf(event), body, contentType: PATCH_TYPES.merge });
    return count;
  } catch (error) {
    if (isApiError(error, 404)) return undefined;
    throw error;
  }
}

function pathOf({ metadata: { name, namespace } }: CoreEvent): string {
  return apiPath(API_RESOURCES.CoreEvent, { name, namespace });
}
