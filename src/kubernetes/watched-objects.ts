import type { ApiObject } from "./api-resource.ts";

/** `object` is the last state of what is gone, `before` what stood in memory. */
export type ObjectListener<T extends ApiObject> = (object: T, before: T | undefined, isGone: boolean) => void;

/** Objects by namespace and name. What is told is in the order of the watch; what is older than what is known is left aside. */
export interface WatchedObjects<T extends ApiObject> {
  get(namespace: string | undefined, name: string): T | undefined;
  all(): Iterable<T>;
  onChange(listener: ObjectListener<T>): () => void;
  put(object: T): void;
  drop(object: T): void;
  /** Everything up to that version was told. */
  reached(resourceVersion: string): void;
  /** What this process wrote itself, unless the watch is past it: it may be gone again. */
  observe(object: T): void;
  /** Everything there was at that version: what is missing is gone, unless it is newer. */
  replace(items: readonly T[], resourceVersion: string): void;
}

/** @param failed hears of what a listener threw; the others hear of the change nevertheless */
export function watchedObjects<T extends ApiObject>(failed: (error: unknown, object: T) => void): WatchedObjects<T> {
  const objects = new Map<string, T>();
  const listeners = new Set<ObjectListener<T>>();

  const tell: ObjectListener<T> = (object, before, isGone) => {
    for (const listener of listeners) {
      try {
        listener(object, before, isGone);
      } catch (error) {
        failed(error, object);
      }
    }
  };
  const set = (object: T) => {
    const before = objects.get(keyOf(object));
    objects.set(keyOf(object), object);
    tell(object, before, false);
  };
  let position = "0";
  const add = (object: T) => {
    const before = objects.get(keyOf(object));
    if (!before || isNewer(versionOf(object), versionOf(before))) set(object);
  };
  const remove = (object: T, last: T) => {
    objects.delete(keyOf(object));
    tell(last, object, true);
  };
  return {
    get: (namespace, name) => objects.get(namespace === undefined ? name : `${namespace}/${name}`),
    all: () => objects.values(),
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    put(object) {
      position = versionOf(object);
      add(object);
    },
    reached(resourceVersion) {
      position = resourceVersion;
    },
    observe(object) {
      if (isNewer(versionOf(object), position)) add(object);
    },
    drop(object) {
      position = versionOf(object);
      const before = objects.get(keyOf(object));
      if (before && (isNewer(versionOf(object), versionOf(before)) || isSameLife(object, before)))
        remove(before, object);
    },
    replace(items, resourceVersion) {
      position = resourceVersion;
      const listed = new Set(items.map(keyOf));
      // Only what this process wrote while the list was under way is newer than the list.
      const isAhead = (object: T) => isNewer(versionOf(object), resourceVersion);
      for (const object of [...objects.values()])
        if (!listed.has(keyOf(object)) && !isAhead(object)) remove(object, object);
      for (const item of items) {
        const before = objects.get(keyOf(item));
        if (!before || (!isAhead(before) && versionOf(before) !== versionOf(item))) set(item);
      }
    },
  };
}

function keyOf({ metadata: { namespace, name } }: ApiObject): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

function isSameLife(a: ApiObject, b: ApiObject): boolean {
  return a.metadata.uid === b.metadata.uid;
}

function versionOf({ metadata }: ApiObject): string {
  return metadata.resourceVersion ?? "0";
}

/** Versions are comparable decimal counters (KEP 5504). */
function isNewer(version: string, than: string): boolean {
  return BigInt(version) > BigInt(than);
}
