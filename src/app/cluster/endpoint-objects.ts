import type { AnyObject, Kind, ObjectOf } from "../../apis/index.ts";
import type { ResourceStore } from "../../resources/index.ts";

/** What decides where calls go: the fields that the endpoint table and `effectiveReplicas` read. */
const SPEC = ["timeoutSec", "replicas", "type", "functionRef", "enabled", "preWarmSeconds"] as const;
const METADATA = ["name", "namespace", "uid", "resourceVersion", "generation"] as const;
const TIMES = ["creationTimestamp", "deletionTimestamp"] as const;

/**
 * Lists and watches objects without what a gateway does not read. Variables, events and annotations make an object up
 * to 1.5 MiB large, and who makes objects would decide how much memory it takes to serve the functions of others.
 */
export function endpointObjects(store: ResourceStore): Pick<ResourceStore, "list" | "watch"> {
  return {
    async list(kind, options) {
      const { items, resourceVersion } = await store.list(kind, options);
      return { items: items.map(reduced), resourceVersion };
    },
    async *watch(kind, options) {
      for await (const event of store.watch(kind, options))
        yield event.type === "BOOKMARK" ? event : { type: event.type, object: reduced(event.object) };
    },
  };
}

function reduced<K extends Kind>(object: ObjectOf<K>): ObjectOf<K> {
  const { apiVersion, kind, metadata, spec, status } = object as AnyObject;
  const warm = status && "warm" in status ? { status: { warm: status.warm } } : {};
  const kept = { metadata: picked(metadata, [...METADATA, ...TIMES]), spec: picked(spec, SPEC) };
  return { apiVersion, kind, ...kept, ...warm } as unknown as ObjectOf<K>;
}

function picked(from: object, names: readonly string[]): object {
  return Object.fromEntries(Object.entries(from).filter(([name]) => names.includes(name)));
}
