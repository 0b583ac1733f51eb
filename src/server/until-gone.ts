import type { Kind, ObjectRef } from "../apis/index.ts";
import { isSlessError } from "../errors/index.ts";
import type { RouteDeps } from "./server-deps.ts";

/** How long a request waits for a clean-up; it takes some ten milliseconds where nothing hinders it. */
const GONE_WAIT_MS = 5_000;

/**
 * Waits for the end of an object that is being deleted, as long as a request may wait.
 *
 * @param uid of the life that ends; another object of the same name is not waited for
 * @returns whether it is gone
 */
export async function isGoneSoon(
  ref: ObjectRef,
  uid: string,
  { store, closing, goneWaitMs = GONE_WAIT_MS }: Pick<RouteDeps, "store" | "closing" | "goneWaitMs">,
): Promise<boolean> {
  const signal = AbortSignal.any([AbortSignal.timeout(goneWaitMs), closing]);
  while (!signal.aborted) {
    const live = await store.get(ref.kind, ref);
    if (live?.metadata.uid !== uid) return true;
    if (await isEndSeen(ref, uid, { from: live.metadata.resourceVersion, signal, store })) return true;
  }
  return false;
}

/** False when the watch ended before: the object must be looked at again. */
async function isEndSeen(
  { kind, namespace }: ObjectRef,
  uid: string,
  { from, signal, store }: { from: string; signal: AbortSignal; store: Pick<RouteDeps["store"], "watch"> },
): Promise<boolean> {
  const ended = new AbortController();
  try {
    const events = store.watch<Kind>(kind, { namespace, from, signal: AbortSignal.any([signal, ended.signal]) });
    for await (const event of events) if (event.type === "DELETED" && event.object.metadata.uid === uid) return true;
    return false;
  } catch (error) {
    // Its version is too old to go on from.
    if (isSlessError(error, "conflict")) return false;
    throw error;
  } finally {
    ended.abort();
  }
}
