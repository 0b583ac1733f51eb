import { type Kind, type ObjectKey, type ObjectOf, type ObjectRef, refOf, refText } from "../../apis/index.ts";
import { SlessError } from "../../errors/index.ts";
import type { Database, RowChange } from "./database.ts";
import type { Change } from "./event-log.ts";
import { type FieldOwners, NO_OWNERS } from "./field-owners.ts";
import { type Owned, withVersion } from "./mutations.ts";
import type { ObjectTable } from "./object-table.ts";

/** etcd's limit for one request; what does not fit there does not fit here. */
const OBJECT_MAX_BYTES = 1_572_864;

/** A group of writes before its commit: reads see the group's own changes on top of what is durable. */
export interface Draft {
  get<K extends Kind>(kind: K, key: ObjectKey): ObjectOf<K> | undefined;
  getOwned<K extends Kind>(kind: K, key: ObjectKey): Owned<K> | undefined;
  /**
   * Puts the object under the next version and returns it so.
   *
   * @throws SlessError `too_large`
   */
  put<K extends Kind>(next: Owned<K>): ObjectOf<K>;
  /** Changes owners alone, which no reader sees: no version, no event. */
  setOwners(object: ObjectOf<Kind>, owners: FieldOwners): void;
  /** Removes the object and returns its last state under the version of its end. */
  remove<K extends Kind>(last: ObjectOf<K>): ObjectOf<K>;
  readonly changes: readonly Change[];
  /** The last state of every row that changed. */
  rows(): RowChange[];
  version(): number;
}

interface Pending extends RowChange {
  readonly object?: ObjectOf<Kind>;
}

export function openDraft(table: ObjectTable, database: Database, version: number): Draft {
  const pending = new Map<string, Pending>();
  const changes: Change[] = [];
  let latest = version;

  const get = <K extends Kind>(kind: K, key: ObjectKey) => {
    const changed = pending.get(refText({ kind, ...key }));
    return (changed ? changed.object : table.get(kind, key)) as ObjectOf<K> | undefined;
  };
  const ownersOf = (ref: ObjectRef) => pending.get(refText(ref))?.owners ?? database.ownersOf(ref) ?? NO_OWNERS;
  const stage = (object: ObjectOf<Kind>, change: Omit<Pending, "ref">) => {
    const ref = refOf(object);
    pending.set(refText(ref), { ref, ...change });
  };

  return {
    get,
    getOwned(kind, { namespace, name }) {
      const object = get(kind, { namespace, name });
      return object && { object, owners: ownersOf({ kind, namespace, name }) };
    },
    put({ object, owners }) {
      const after = withVersion(object, String(latest + 1));
      const json = JSON.stringify(after);
      if (Buffer.byteLength(json) > OBJECT_MAX_BYTES)
        throw new SlessError("too_large", { what: refText(refOf(object)), limit: "1.5 MiB" });
      latest += 1;
      const before = get(object.kind, object.metadata);
      changes.push({ version: latest, kind: object.kind, ...(before && { before }), after });
      stage(object, { object: after, json, owners });
      return after;
    },
    setOwners: (object, owners) => stage(object, { object, json: JSON.stringify(object), owners }),
    remove(last) {
      const before = get(last.kind, last.metadata);
      latest += 1;
      changes.push({ version: latest, kind: last.kind, ...(before && { before }) });
      stage(last, {});
      return withVersion(last, String(latest));
    },
    changes,
    rows: () => [...pending.values()],
    version: () => latest,
  };
}
