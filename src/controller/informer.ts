import { type Kind, keyOf, type ObjectKey, type ObjectOf } from "../apis/index.ts";
import { messageOf } from "../errors/index.ts";
import type { ListOptions, ResourceStore } from "../resources/index.ts";
import type { BackOffOptions } from "./back-off.ts";
import { systemClock, type TimerClock } from "./clock.ts";
import { type Follower, followObjects } from "./follow-objects.ts";
import type { ControllerLog } from "./log.ts";
import { type IndexFunction, type ObjectCache, objectCache } from "./object-cache.ts";

export type InformerEventType = "ADDED" | "MODIFIED" | "DELETED";

/**
 * Hears of every change after it is in the cache; `before` is the cached object that was replaced or removed. Changes
 * that happened while the watch was interrupted arrive as one.
 */
export type InformerListener<K extends Kind> = (
  type: InformerEventType,
  object: ObjectOf<K>,
  before?: ObjectOf<K>,
) => void;

export interface InformerOptions<K extends Kind, I extends string> extends ListOptions {
  indexes?: Readonly<Record<I, IndexFunction<K>>>;
  clock?: TimerClock;
  backOff?: BackOffOptions;
  log?: ControllerLog;
}

/** The objects of one kind in memory, kept up to date by a list and a watch. */
export interface Informer<K extends Kind, I extends string = never> {
  /** Follows the store until the signal aborts; resolves then, and never rejects. To be called once. */
  start(signal: AbortSignal): Promise<void>;
  /** Resolves when the first list is in the cache; rejects when the signal aborts before. */
  synced(): Promise<void>;
  get(key: string | ObjectKey): ObjectOf<K> | undefined;
  /** In no particular order. */
  list(namespace?: string): ObjectOf<K>[];
  /** Objects for which the index function gave `value`, in no particular order. */
  byIndex(name: I, value: string): ObjectOf<K>[];
  /** Calls the listener with ADDED for all that is there and with every later change; returns the way to unlisten. */
  onEvent(listener: InformerListener<K>): () => void;
  /** Takes over an object that this process just wrote, before the watch tells it, unless the cache is newer. */
  observe(object: ObjectOf<K>): void;
}

export function createInformer<K extends Kind, I extends string = never>(
  store: Pick<ResourceStore, "list" | "watch">,
  kind: K,
  options: InformerOptions<K, I> = {},
): Informer<K, I> {
  const { namespace, labels, indexes, clock = systemClock, backOff, log } = options;
  const cache = objectCache<K, I>(indexes ?? ({} as Record<I, IndexFunction<K>>));
  const listeners = new Set<InformerListener<K>>();
  const firstList = Promise.withResolvers<void>();
  // Nobody has to wait for the first list.
  firstList.promise.catch(() => {});
  const tell = (listener: InformerListener<K>, ...event: Parameters<InformerListener<K>>) => {
    try {
      listener(...event);
    } catch (error) {
      log?.error({ kind, key: keyOf(event[1]), err: messageOf(error) }, "informer listener failed");
    }
  };
  const follower = cacheFollower(cache, (...event) => {
    for (const listener of listeners) tell(listener, ...event);
  });
  const onList: Follower<K>["onList"] = (items, resourceVersion) => {
    follower.onList(items, resourceVersion);
    firstList.resolve();
  };
  const list = (within?: string) => {
    const all = [...cache.all()];
    return within === undefined ? all : all.filter(({ metadata }) => metadata.namespace === within);
  };

  return {
    async start(signal) {
      const selection = { ...(namespace !== undefined && { namespace }), ...(labels && { labels }) };
      const giveUp = () => firstList.reject(signal.reason);
      signal.addEventListener("abort", giveUp, { once: true });
      const following = { clock, signal, ...(backOff && { backOff }), ...(log && { log }) };
      await followObjects(store, kind, selection, { ...follower, onList }, following);
      giveUp();
    },
    synced: () => firstList.promise,
    get: (key) => cache.get(typeof key === "string" ? key : keyOf(key)),
    list,
    byIndex: cache.byIndex,
    onEvent(listener) {
      listeners.add(listener);
      for (const object of list()) tell(listener, "ADDED", object);
      return () => void listeners.delete(listener);
    },
    observe: follower.observe,
  };
}

interface CacheFollower<K extends Kind> extends Follower<K> {
  observe(object: ObjectOf<K>): void;
}

/** Brings what the store tells, and what this process observed of its own writes, into the cache. */
function cacheFollower<K extends Kind>(cache: ObjectCache<K, string>, changed: InformerListener<K>): CacheFollower<K> {
  /** Keys whose cached object is an observed one that the store did not tell yet. */
  const ahead = new Set<string>();
  /** Everything up to this version is in the cache. */
  let position: string | undefined;

  const put = (object: ObjectOf<K>) => {
    const before = cache.get(keyOf(object));
    if (before?.metadata.resourceVersion === object.metadata.resourceVersion) return;
    cache.set(object);
    changed(before ? "MODIFIED" : "ADDED", object, before);
  };
  const remove = (key: string, last?: ObjectOf<K>) => {
    const before = cache.get(key);
    if (!before) return;
    cache.delete(key);
    changed("DELETED", last ?? before, before);
  };
  const isAhead = (key: string, version: string) => {
    const cached = cache.get(key);
    if (ahead.has(key) && cached && isNewer(cached.metadata.resourceVersion, version)) return true;
    ahead.delete(key);
    return false;
  };

  return {
    onList(items, resourceVersion) {
      const listed = new Set(items.map(keyOf));
      const gone = Array.from(cache.all(), keyOf).filter((key) => !listed.has(key));
      for (const key of gone) if (!isAhead(key, resourceVersion)) remove(key);
      for (const object of items) if (!isAhead(keyOf(object), resourceVersion)) put(object);
      position = resourceVersion;
    },
    onEvent(event) {
      position = event.type === "BOOKMARK" ? event.resourceVersion : event.object.metadata.resourceVersion;
      if (event.type === "BOOKMARK" || isAhead(keyOf(event.object), position)) return;
      if (event.type === "DELETED") remove(keyOf(event.object), event.object);
      else put(event.object);
    },
    observe(object) {
      const { resourceVersion } = object.metadata;
      if (position !== undefined && !isNewer(resourceVersion, position)) return;
      if (isAhead(keyOf(object), resourceVersion)) return;
      ahead.add(keyOf(object));
      put(object);
    },
  };
}

/**
 * Versions are decimal counters in both stores, and Kubernetes lets clients compare them so (KEP 5504); whatever else
 * a version is, it is never newer.
 */
function isNewer(version: string, than: string): boolean {
  if (!/^\d+$/.test(version) || !/^\d+$/.test(than)) return false;
  return version.length === than.length ? version > than : version.length > than.length;
}
