import { FINALIZER, type Kind } from "../../src/apis/index.ts";
import type { ResourceStore } from "../../src/resources/index.ts";

/** The store with whoever cleans up after these kinds: what is deleted loses its finalizer in the same moment. */
export function cleanUpAtOnce<S extends ResourceStore>(store: S, kinds: readonly Kind[]): S {
  return {
    ...store,
    async delete(kind, key, options) {
      const outcome = await store.delete(kind, key, options);
      if (outcome !== "terminating" || !kinds.includes(kind)) return outcome;
      const { finalizers = [] } = (await store.get(kind, key))?.metadata ?? {};
      const remaining = finalizers.filter((finalizer) => finalizer !== FINALIZER);
      await store.patch(kind, key, { metadata: { finalizers: remaining } }, { owner: "reconciler" });
      return outcome;
    },
  };
}
