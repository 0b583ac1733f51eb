import { type Kind, keyOf, type ObjectOf } from "../apis/index.ts";

/** Gives the values under which `byIndex` finds an object. Pure: it sees each version of an object once. */
export type IndexFunction<K extends Kind> = (object: ObjectOf<K>) => readonly string[];

/** Objects of one kind by key and by indexes that follow every change. */
export interface ObjectCache<K extends Kind, I extends string> {
  get(key: string): ObjectOf<K> | undefined;
  all(): Iterable<ObjectOf<K>>;
  byIndex(name: I, value: string): ObjectOf<K>[];
  set(object: ObjectOf<K>): void;
  delete(key: string): void;
}

export function objectCache<K extends Kind, I extends string>(
  indexes: Readonly<Record<I, IndexFunction<K>>>,
): ObjectCache<K, I> {
  const objects = new Map<string, ObjectOf<K>>();
  const functions = Object.entries(indexes) as [I, IndexFunction<K>][];
  const keysBy = new Map<I, Map<string, Set<string>>>(functions.map(([name]) => [name, new Map()]));

  const remove = (key: string) => {
    const before = objects.get(key);
    if (!before) return;
    objects.delete(key);
    for (const [name, valuesOf] of functions) {
      const keys = keysBy.get(name)!;
      for (const value of valuesOf(before))
        if (keys.get(value)?.delete(key) && keys.get(value)?.size === 0) keys.delete(value);
    }
  };
  const set = (object: ObjectOf<K>) => {
    const key = keyOf(object);
    remove(key);
    objects.set(key, object);
    for (const [name, valuesOf] of functions) {
      const keys = keysBy.get(name)!;
      for (const value of valuesOf(object)) keys.set(value, (keys.get(value) ?? new Set()).add(key));
    }
  };
  return {
    get: (key) => objects.get(key),
    all: () => objects.values(),
    byIndex: (name, value) => Array.from(keysBy.get(name)?.get(value) ?? [], (key) => objects.get(key)!),
    set,
    delete: remove,
  };
}
