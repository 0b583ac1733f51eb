import {
  type AnyObject,
  type ObjectKey,
  type ObjectRef,
  REPOSITORY_CONTENT_KINDS,
  refOf,
  refText,
} from "../apis/index.ts";
import type { ResourceStore } from "../resources/index.ts";
import { eachLimited } from "./each-limited.ts";

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
}

/** Reads the store itself. */
export function storeReads(store: ResourceStore): LiveReads {
  return {
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

/** The same objects with some of them read again from the store, which a cache may be behind of. */
export async function readAgain(
  store: ResourceStore,
  live: LiveObjects,
  namespace: string,
  refs: readonly ObjectRef[],
): Promise<LiveObjects> {
  if (refs.length > SINGLE_READS_MAX) return { ...(await storeReads(store).objects(namespace)), version: live.version };
  const items = new Map(live.items.map((object) => [refText(refOf(object)), object]));
  await eachLimited(refs, async (ref) => {
    const object = (await store.get(ref.kind, ref as ObjectKey)) as AnyObject | undefined;
    if (object) items.set(refText(ref), object);
    else items.delete(refText(ref));
  });
  return { ...live, items: [...items.values()] };
}
