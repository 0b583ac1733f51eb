import type { Kind, ObjectOf } from "../../apis/index.ts";
import type { ResourceStore } from "../resource-store.ts";
import type { InstalledKinds } from "./installed-kinds.ts";

/**
 * The same store, which does not tell of objects as gone or going while their kind is being removed from the cluster:
 * nobody deleted them, so what follows from a deletion must not follow. `get`, `list` and `watch` throw
 * `cluster_unavailable` then, as when the API server is away, and whoever follows the kind keeps what he knows.
 */
export function withoutRemovals(store: ResourceStore, kinds: InstalledKinds): ResourceStore {
  return {
    ...store,
    async get(kind, key) {
      const object = await store.get(kind, key);
      if (!object || isGoing(object)) await kinds.assertStays(kind, object?.metadata.resourceVersion);
      return object;
    },
    async list(kind, options) {
      const list = await store.list(kind, options);
      await kinds.assertStays(kind, list.resourceVersion);
      return list;
    },
    async *watch(kind, options) {
      for await (const event of store.watch(kind, options)) {
        if (event.type === "DELETED" || (event.type !== "BOOKMARK" && isGoing(event.object)))
          await kinds.assertStays(kind, event.object.metadata.resourceVersion);
        yield event;
      }
    },
  };
}

function isGoing({ metadata }: ObjectOf<Kind>): boolean {
  return metadata.deletionTimestamp !== undefined;
}
