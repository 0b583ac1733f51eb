import {
  type AnyObject,
  type ObjectKey,
  type ObjectRef,
  REPOSITORY_CONTENT_KINDS,
  refOf,
  refText,
  WORKLOAD_KINDS,
} from "../apis/index.ts";
import type { ResourceStore } from "../resources/index.ts";
import { eachLimited } from "./each-limited.ts";
import { lackingSource } from "./lacking-source.ts";

/** The live objects of a namespace at one moment. */
export interface LiveObjects {
  /** All Functions, Services, FunctionJobs and Triggers, whoever owns them. */
  readonly items: readonly AnyObject[];
  /** All Repositories of all namespaces by UID: other owners count for nothing. */
  readonly repositories: ReadonlyMap<string, ObjectKey>;
  /** Equal to an earlier answer's only if nothing but statuses changed since; undefined = not known. */
  readonly version: string | undefined;
}

/** Where sync learns what is live. */
export interface LiveReads {
  objects(namespace: string): Promise<LiveObjects>;
  /** Those with a source of their own that a build could not read, by the statuses of now. */
  lackingSource(namespace: string): Promise<AnyObject[]>;
}

/** Reads the store itself. */
export function storeReads(store: ResourceStore): LiveReads {
  return {
    async lackingSource(namespace) {
      const lists = await Promise.all(WORKLOAD_KINDS.map((kind) => store.list(kind, { namespace })));
      return lackingSource(lists.flatMap((list) => list.items as AnyObject[]));
    },
    async objects(namespace) {
      const lists = await Promise.all(REPOSITORY_CONTENT_KINDS.map((kind) => store.list(kind, { namespace })));
      const repositories = await store.list("Repository");
      return {
        items: lists.flatMap((list) => list.items as AnyObject[]),
        repositories: new Map(repositories.items.map(({ metadata }) => [metadata.uid, metadata])),
        version: undefined,
      };
    },
  };
}

/** More objects than that are listed instead of read one by one. */
const SINGLE_READS_MAX = 100;

/**
 * The same objects with some of them read again from the store, which a cache may be behind of; the very same answer
 * when it was not.
 */
export async function readAgain(
  store: ResourceStore,
  live: LiveObjects,
  namespace: string,
  touched: readonly { readonly ref: ObjectRef; readonly live: AnyObject | undefined }[],
): Promise<LiveObjects> {
  if (touched.length > SINGLE_READS_MAX)
    return { ...(await storeReads(store).objects(namespace)), version: live.version };
  const changed = new Map<string, AnyObject | undefined>();
  await eachLimited(touched, async ({ ref, live: cached }) => {
    const present = (await store.get(ref.kind, ref)) as AnyObject | undefined;
    if (present?.metadata.resourceVersion !== cached?.metadata.resourceVersion) changed.set(refText(ref), present);
  });
  if (changed.size === 0) return live;
  const others = live.items.filter((object) => !changed.has(refText(refOf(object))));
  return { ...live, items: [...others, ...[...changed.values()].filter((object) => object !== undefined)] };
}
