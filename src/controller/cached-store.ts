import { type Kind, keyOf, type ObjectKey, type ObjectOf, type ObjectRef, refText } from "../apis/index.ts";
import { isSlessError } from "../errors/index.ts";
import type { ResourceStore } from "../resources/index.ts";
import type { Informer } from "./informer.ts";

/** Informers of whole kinds, in all namespaces; a kind without one is read from the store. */
export type KindInformers = { readonly [K in Kind]?: Pick<Informer<K>, "get" | "observe" | "synced"> };

/** Until when the memory is not believed about an object. */
type Doubt =
  /** It shows another version than now. */
  | { readonly until: "news"; readonly version: string | undefined }
  /** This life of it is terminating there too, or gone. */
  | { readonly until: "leaving" | "gone"; readonly uid: string };

/**
 * The same store, but `get` answers from the informers, never behind what was written through this very store: what a
 * write returns is in the informers at once. After a write that says that the memory is behind (a conflict), and after
 * a deletion, the object is read from the store until the informer has news of it. Others' writes may be seen late:
 * write with the version that was read. Everything else goes to the store.
 */
export function cachedStore(store: ResourceStore, informers: KindInformers): ResourceStore {
  const doubts = new Map<string, Doubt>();
  const informerOf = <K extends Kind>(kind: K) => informers[kind] as KindInformers[K];
  const cached = ({ kind, namespace, name }: ObjectRef) => informerOf(kind)?.get({ namespace, name });
  const versionOf = (ref: ObjectRef) => cached(ref)?.metadata.resourceVersion;
  const doubtLeft = (ref: ObjectRef, until: "leaving" | "gone", uid = cached(ref)?.metadata.uid) =>
    void doubts.set(refText(ref), uid === undefined ? { until: "news", version: undefined } : { until, uid });
  const doubtUntilNews = (ref: ObjectRef) => void doubts.set(refText(ref), { until: "news", version: versionOf(ref) });
  const isDoubtful = (ref: ObjectRef) => {
    const doubt = doubts.get(refText(ref));
    if (!doubt) return false;
    if (holds(doubt, cached(ref))) return true;
    doubts.delete(refText(ref));
    return false;
  };

  async function write<K extends Kind>(ref: ObjectRef<K>, work: () => Promise<ObjectOf<K>>): Promise<ObjectOf<K>> {
    try {
      const written = await work();
      // The last finalizer was removed: only the watch knows the version of its end.
      if (isGone(written)) doubtLeft(ref, "gone", written.metadata.uid);
      else informerOf(ref.kind)?.observe(written);
      return written;
    } catch (error) {
      if (isOvertaken(error)) doubtUntilNews(ref);
      throw error;
    }
  }

  async function readAgain<K extends Kind>(kind: K, ref: ObjectRef<K>): Promise<ObjectOf<K> | undefined> {
    const present = await store.get(kind, ref);
    if (present?.metadata.resourceVersion === versionOf(ref)) doubts.delete(refText(ref));
    if (present) informerOf(kind)?.observe(present);
    return present;
  }

  return {
    ...store,
    async get<K extends Kind>(kind: K, key: ObjectKey) {
      const informer = informerOf(kind);
      if (!informer) return store.get(kind, key);
      await informer.synced();
      const ref = refFrom(kind, key);
      return isDoubtful(ref) ? readAgain(kind, ref) : (informer.get(keyOf(ref)) as ObjectOf<K> | undefined);
    },
    create: (intent, options) => write(refFrom(intent.kind, intent.metadata), () => store.create(intent, options)),
    apply: (intent, options) => write(refFrom(intent.kind, intent.metadata), () => store.apply(intent, options)),
    patch: (kind, key, patch, options) => write(refFrom(kind, key), () => store.patch(kind, key, patch, options)),
    updateStatus: (object, status, options) =>
      write(refFrom(object.kind, object.metadata), () => store.updateStatus(object, status, options)),
    async delete(kind, key, preconditions) {
      const ref = refFrom(kind, key);
      try {
        const outcome = await store.delete(kind, key, preconditions);
        doubtLeft(ref, outcome === "terminating" ? "leaving" : "gone", preconditions?.uid);
        return outcome;
      } catch (error) {
        if (isOvertaken(error)) doubtUntilNews(ref);
        throw error;
      }
    },
  };
}

function refFrom<K extends Kind>(kind: K, { namespace, name }: ObjectKey): ObjectRef<K> {
  return { kind, namespace, name };
}

function holds(doubt: Doubt, cached: ObjectOf<Kind> | undefined): boolean {
  if (doubt.until === "news") return cached?.metadata.resourceVersion === doubt.version;
  if (cached?.metadata.uid !== doubt.uid) return false;
  return doubt.until === "gone" || cached.metadata.deletionTimestamp === undefined;
}

function isGone({ metadata: { deletionTimestamp, finalizers = [] } }: ObjectOf<Kind>): boolean {
  return deletionTimestamp !== undefined && finalizers.length === 0;
}

/** The world is not as the memory says. */
function isOvertaken(error: unknown): boolean {
  return (["conflict", "not_found", "already_exists"] as const).some((code) => isSlessError(error, code));
}
