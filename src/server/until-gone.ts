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
  const waiting = new AbortController();
  const end = () => waiting.abort();
  const timer = setTimeout(end, goneWaitMs);
  closing.addEventListener("abort", end);
  if (closing.aborted) end();
  try {
    while (!waiting.signal.aborted) {
      const live = await store.get(ref.kind, ref);
      if (live?.metadata.uid !== uid) return true;
      if (await isEndSeen(ref, uid, { from: live.metadata.resourceVersion, signal: waiting.signal, store }))
        return true;
    }
    return false;
  } finally {
    clearTimeout(timer);
    closing.removeEventListener("abort", end);
    end();
  }
}

/** False when the watch ended before: the object must be looked at again. */
async function isEndSeen(
  { kind, namespace }: ObjectRef,
  uid: string,
  { from, signal, store }: { from: string; signal: AbortSignal; store: Pick<RouteDeps["store"], "watch"> },
): Promise<boolean> {
  try {
    for await (const event of store.watch<Kind>(kind, { namespace, from, signal }))
      if (event.type === "DELETED" && event.object.metadata.uid === uid) return true;
    return false;
  } catch (error) {
    // Its version is too old to go on from.
    if (isSlessError(error, "conflict")) return false;
    throw error;
  }
}
