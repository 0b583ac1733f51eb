import { FINALIZER, type Kind, refOf } from "../../apis/index.ts";
import { isSlessError } from "../../errors/index.ts";
import type { ResourceStore } from "../resource-store.ts";

/**
 * Lets every object of a kind go that is being removed from the cluster, and leaves what was made for it as it is: the
 * removal would wait for our finalizers for ever, and nobody deleted what serves.
 *
 * @param store one that tells of removals
 */
export async function releaseObjects(store: Pick<ResourceStore, "list" | "patch">, kind: Kind): Promise<void> {
  const { items } = await store.list(kind);
  for (const object of items) {
    const { finalizers = [], uid, resourceVersion, deletionTimestamp } = object.metadata;
    if (deletionTimestamp === undefined || !finalizers.includes(FINALIZER)) continue;
    const patch = { metadata: { finalizers: finalizers.filter((finalizer) => finalizer !== FINALIZER) } };
    try {
      await store.patch(kind, refOf(object), patch, { owner: "reconciler", uid, resourceVersion });
    } catch (error) {
      // The next look lets it go, if it is still there.
      if (!isSlessError(error, "not_found") && !isSlessError(error, "conflict")) throw error;
    }
  }
}
