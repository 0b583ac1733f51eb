import { KIND_NAMES, type Kind, keyOf, type ObjectKey, type ObjectOf } from "../../apis/index.ts";
import type { ListOptions } from "../resource-store.ts";

/** The parsed objects of a store by kind and key, for reads that touch no disk. */
export interface ObjectTable {
  get<K extends Kind>(kind: K, key: ObjectKey): ObjectOf<K> | undefined;
  set(object: ObjectOf<Kind>): void;
  delete(kind: Kind, key: ObjectKey): void;
  /** Sorted by namespace, then name. */
  list<K extends Kind>(kind: K, options: ListOptions): ObjectOf<K>[];
}

interface KindTable {
  readonly objects: Map<string, ObjectOf<Kind>>;
  /** Keys in order; undefined after a key came or went, until somebody lists. */
  sorted: string[] | undefined;
}

export function objectTable(): ObjectTable {
  const kinds = new Map<Kind, KindTable>(KIND_NAMES.map((kind) => [kind, { objects: new Map(), sorted: undefined }]));
  const tableOf = (kind: Kind) => kinds.get(kind)!;
  return {
    get: <K extends Kind>(kind: K, key: ObjectKey) => tableOf(kind).objects.get(keyOf(key)) as ObjectOf<K> | undefined,
    set(object) {
      const table = tableOf(object.kind);
      const key = keyOf(object);
      if (!table.objects.has(key)) table.sorted = undefined;
      table.objects.set(key, object);
    },
    delete(kind, key) {
      const table = tableOf(kind);
      if (table.objects.delete(keyOf(key))) table.sorted = undefined;
    },
    list: <K extends Kind>(kind: K, options: ListOptions) => {
      const table = tableOf(kind);
      table.sorted ??= [...table.objects.values()].sort(byNamespaceAndName).map(keyOf);
      const all = table.sorted.map((key) => table.objects.get(key) as ObjectOf<K>);
      return options.namespace === undefined && !options.labels
        ? all
        : all.filter((object) => matches(object, options));
    },
  };
}

export function matches({ metadata }: ObjectOf<Kind>, { namespace, labels = {} }: ListOptions): boolean {
  if (namespace !== undefined && metadata.namespace !== namespace) return false;
  return Object.entries(labels).every(([key, value]) => metadata.labels?.[key] === value);
}

function byNamespaceAndName(a: ObjectOf<Kind>, b: ObjectOf<Kind>): number {
  return compare(a.metadata.namespace, b.metadata.namespace) || compare(a.metadata.name, b.metadata.name);
}

/** By code unit: the same order on every machine. */
function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
