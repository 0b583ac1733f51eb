import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { AnyObject, ObjectRef } from "../../apis/index.ts";
import { isSlessError, messageOf, SlessError } from "../../errors/index.ts";
import { type DiskReserve, diskReserve } from "./disk-reserve.ts";
import type { FieldOwners } from "./field-owners.ts";
import { objectOfRow } from "./object-of-row.ts";
import { beginFile, SCHEMA, SCHEMA_VERSION } from "./schema.ts";

const EMPTY = "there is nothing in it";

/** What one object becomes; without `object` it goes. `json` is the object's text. */
export interface RowChange {
  readonly ref: ObjectRef;
  readonly json?: string;
  readonly owners?: FieldOwners;
}

/** The durable half of the store. Every call is synchronous and throws SlessError `storage_unavailable`, `data_corrupt`. */
export interface Database {
  /** The last resourceVersion that was given out. */
  version(): number;
  objects(): AnyObject[];
  ownersOf(ref: ObjectRef): FieldOwners | undefined;
  /** All or nothing, durable on return. */
  write(changes: readonly RowChange[], version: number): void;
  close(): void;
}

/**
 * Opens or makes the file (`:memory:` keeps nothing) and locks it for this process.
 *
 * @throws SlessError `storage_unavailable`; `data_corrupt`; `data_too_new` when a newer sless wrote it
 */
export function openDatabase(file: string): Database {
  return mapped(file, () => {
    if (file !== ":memory:") findOrBegin(file);
    const sqlite = new DatabaseSync(file);
    try {
      prepareFile(sqlite, file);
      return databaseOver(sqlite, file, diskReserve(file));
    } catch (error) {
      sqlite.close();
      throw error;
    }
  });
}

function findOrBegin(file: string): void {
  mkdirSync(dirname(file), { recursive: true });
  const size = statSync(file, { throwIfNoEntry: false })?.size;
  if (size === undefined) beginFile(file);
  // Before SQLite opens it, which would throw away the log beside an empty file and all that stands in it.
  if (size === 0) throw new SlessError("data_corrupt", { file, cause: EMPTY });
}

function prepareFile(sqlite: DatabaseSync, file: string): void {
  // The memory copy is only true while nobody else writes: the lock keeps a second process out from the first read.
  sqlite.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;");
  sqlite.exec("PRAGMA wal_autocheckpoint = 4000; PRAGMA journal_size_limit = 16777216; BEGIN IMMEDIATE;");
  const found = Number(sqlite.prepare("PRAGMA user_version").get()!.user_version);
  if (found > SCHEMA_VERSION) throw new SlessError("data_too_new", { data: file, found, known: SCHEMA_VERSION });
  if (found === 0 && file === ":memory:") sqlite.exec(SCHEMA);
  else if (found === 0) throw new SlessError("data_corrupt", { file, cause: EMPTY });
  sqlite.exec("COMMIT");
}

function databaseOver(sqlite: DatabaseSync, file: string, reserve: DiskReserve): Database {
  const selectOwners = sqlite.prepare("SELECT owners FROM objects WHERE kind = ? AND namespace = ? AND name = ?");
  const upsert = sqlite.prepare(
    `INSERT INTO objects (kind, namespace, name, object, owners) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET object = excluded.object, owners = excluded.owners`,
  );
  const remove = sqlite.prepare("DELETE FROM objects WHERE kind = ? AND namespace = ? AND name = ?");
  const setVersion = sqlite.prepare("UPDATE store SET version = ?");
  const writeAll = (changes: readonly RowChange[], version: number) => {
    for (const change of changes) writeRow(change, upsert, remove);
    setVersion.run(version);
  };
  return {
    version: () =>
      mapped(file, () => {
        const row = sqlite.prepare("SELECT version FROM store").get();
        if (row) return Number(row.version);
        throw new SlessError("data_corrupt", { file, cause: "it does not say which version was the last" });
      }),
    objects: () =>
      mapped(file, () => {
        const rows = sqlite.prepare("SELECT kind, namespace, name, object FROM objects").iterate();
        return Array.from(rows, (row) => objectOfRow(file, row));
      }),
    ownersOf: ({ kind, namespace, name }) =>
      mapped(file, () => {
        const row = selectOwners.get(kind, namespace, name);
        return row && (JSON.parse(String(row.owners)) as FieldOwners);
      }),
    write: (changes, version) =>
      mapped(file, () => reserve.use(() => inTransaction(sqlite, () => writeAll(changes, version)))),
    close: () => mapped(file, () => sqlite.close()),
  };
}

function writeRow({ ref, json, owners }: RowChange, upsert: StatementSync, remove: StatementSync): void {
  const { kind, namespace, name } = ref;
  if (json === undefined || owners === undefined) remove.run(kind, namespace, name);
  else upsert.run(kind, namespace, name, json, JSON.stringify(owners));
}

function inTransaction(sqlite: DatabaseSync, write: () => void): void {
  sqlite.exec("BEGIN IMMEDIATE");
  try {
    write();
    sqlite.exec("COMMIT");
  } catch (error) {
    // On a full disk or an I/O error SQLite may have rolled back by itself.
    if (sqlite.isTransaction) sqlite.exec("ROLLBACK");
    throw error;
  }
}

function mapped<T>(file: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (isSlessError(error)) throw error;
    if (isDamage(error)) throw new SlessError("data_corrupt", { file, cause: messageOf(error) }, { cause: error });
    throw new SlessError("storage_unavailable", { what: file, cause: messageOf(error) }, { cause: error });
  }
}

const SQLITE_CORRUPT = 11;
const SQLITE_NOTADB = 26;

/** The file is no database, or not a whole one; or what stands in it is no JSON. */
function isDamage(error: unknown): boolean {
  if (error instanceof SyntaxError) return true;
  const { errcode } = error as { errcode?: unknown };
  // The lowest byte is the kind of the error, the others say more of it.
  return typeof errcode === "number" && [SQLITE_CORRUPT, SQLITE_NOTADB].includes(errcode & 0xff);
}
