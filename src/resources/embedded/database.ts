import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { AnyObject, ObjectRef } from "../../apis/index.ts";
import { isSlessError, messageOf, SlessError } from "../../errors/index.ts";
import {
  type Acknowledged,
  acknowledgedFile,
  forgetAcknowledged,
  lastAcknowledged,
  openAcknowledged,
} from "./acknowledged.ts";
import { type DiskReserve, diskReserve } from "./disk-reserve.ts";
import type { FieldOwners } from "./field-owners.ts";
import { objectOfRow } from "./object-of-row.ts";
import { NO_ROWS, type RowsDigest, rowsDigest } from "./rows-digest.ts";
import { beginFile, migrate, SCHEMA, SCHEMA_VERSION, SELECT_ROWS, toRow } from "./schema.ts";

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
  /** @throws SlessError `data_corrupt` also when they are not those that were written last */
  objects(): AnyObject[];
  ownersOf(ref: ObjectRef): FieldOwners | undefined;
  /** All or nothing, durable on return. */
  write(changes: readonly RowChange[], version: number): void;
  close(): void;
}

/**
 * Opens or makes the file (`:memory:` keeps nothing) and locks it for this process.
 *
 * @param notice hears of a file that is made though there were objects before
 * @throws SlessError `storage_unavailable`; `data_corrupt`; `data_lost` when it is older than what was acknowledged;
 *   `data_too_new` when a newer sless wrote it
 */
export function openDatabase(file: string, notice: (message: string) => void = () => undefined): Database {
  return mapped(file, () => {
    if (file !== ":memory:") findOrBegin(file, notice);
    // A log beside it: its last life did not close it, or somebody copied it while it was in use.
    const isUnclosed = file !== ":memory:" && statSync(`${file}-wal`, { throwIfNoEntry: false }) !== undefined;
    const sqlite = new DatabaseSync(file);
    try {
      prepareFile(sqlite, file);
      if (isUnclosed) checkPages(sqlite, file);
      return databaseOver(sqlite, file, diskReserve(file), checkAcknowledged(sqlite, file));
    } catch (error) {
      sqlite.close();
      throw error;
    }
  });
}

function findOrBegin(file: string, notice: (message: string) => void): void {
  mkdirSync(dirname(file), { recursive: true });
  const size = statSync(file, { throwIfNoEntry: false })?.size;
  // Before SQLite opens it, which would throw away the log beside an empty file and all that stands in it.
  if (size === 0) throw new SlessError("data_corrupt", { file, cause: EMPTY });
  if (size !== undefined) return;
  const known = lastAcknowledged(file) ?? 1;
  if (known > 1)
    notice(
      `${file} was removed, and is begun anew: what is in the repository is synced anew, what was made through the API is lost.`,
    );
  forgetAcknowledged(file);
  beginFile(file);
}

/** Finds also what no read of the rows meets, such as an index that lacks some of them. */
function checkPages(sqlite: DatabaseSync, file: string): void {
  const [found] = sqlite.prepare("PRAGMA integrity_check(1)").all();
  const cause = String(found?.integrity_check);
  if (cause !== "ok") throw new SlessError("data_corrupt", { file, cause });
}

function checkAcknowledged(sqlite: DatabaseSync, file: string): Acknowledged {
  const { version } = stateOf(sqlite, file);
  const acknowledged = openAcknowledged(file);
  const last = acknowledged.last();
  if (last === undefined || last <= version) {
    acknowledged.note(version);
    return acknowledged;
  }
  acknowledged.close();
  throw new SlessError("data_lost", { file, found: version, last, note: acknowledgedFile(file) });
}

function stateOf(sqlite: DatabaseSync, file: string): { readonly version: number; readonly digest: string } {
  const row = sqlite.prepare("SELECT version, digest FROM store").get();
  if (row) return { version: Number(row.version), digest: String(row.digest) };
  throw new SlessError("data_corrupt", { file, cause: "it does not say which version was the last" });
}

function prepareFile(sqlite: DatabaseSync, file: string): void {
  // The memory copy is only true while nobody else writes: the lock keeps a second process out from the first read.
  sqlite.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;");
  sqlite.exec("PRAGMA wal_autocheckpoint = 4000; PRAGMA journal_size_limit = 16777216; BEGIN IMMEDIATE;");
  const found = Number(sqlite.prepare("PRAGMA user_version").get()!.user_version);
  if (found > SCHEMA_VERSION) throw new SlessError("data_too_new", { data: file, found, known: SCHEMA_VERSION });
  if (found === 0 && file === ":memory:") sqlite.exec(SCHEMA);
  else if (found === 0) throw new SlessError("data_corrupt", { file, cause: EMPTY });
  else migrate(sqlite, found);
  sqlite.exec("COMMIT");
}

function databaseOver(sqlite: DatabaseSync, file: string, reserve: DiskReserve, acknowledged: Acknowledged): Database {
  const select = sqlite.prepare(`${SELECT_ROWS} WHERE kind = ? AND namespace = ? AND name = ?`);
  const setState = sqlite.prepare("UPDATE store SET version = ?, digest = ?");
  const writeRow = rowWriter(sqlite, select);
  let { digest } = stateOf(sqlite, file);
  const writeAll = (changes: readonly RowChange[], version: number): string => {
    const next = rowsDigest(digest);
    for (const change of changes) writeRow(change, next);
    setState.run(version, next.text());
    return next.text();
  };
  return {
    version: () => mapped(file, () => stateOf(sqlite, file).version),
    objects: () => mapped(file, () => objectsOf(sqlite, file, digest)),
    ownersOf: ({ kind, namespace, name }) =>
      mapped(file, () => {
        const row = select.get(kind, namespace, name);
        return row && (JSON.parse(String(row.owners)) as FieldOwners);
      }),
    write: (changes, version) =>
      mapped(file, () => {
        digest = reserve.use(() => inTransaction(sqlite, () => writeAll(changes, version)));
        acknowledged.note(version);
      }),
    close: () =>
      mapped(file, () => {
        sqlite.close();
        acknowledged.close();
      }),
  };
}

function objectsOf(sqlite: DatabaseSync, file: string, digest: string): AnyObject[] {
  const found = rowsDigest(NO_ROWS);
  const objects = Array.from(sqlite.prepare(SELECT_ROWS).iterate(), (row) => {
    found.flip(toRow(row));
    return objectOfRow(file, row);
  });
  if (found.text() === digest) return objects;
  throw new SlessError("data_corrupt", { file, cause: "its objects are not those that were written last" });
}

function rowWriter(sqlite: DatabaseSync, select: StatementSync): (change: RowChange, digest: RowsDigest) => void {
  const upsert = sqlite.prepare(
    `INSERT INTO objects (kind, namespace, name, object, owners) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET object = excluded.object, owners = excluded.owners`,
  );
  const remove = sqlite.prepare("DELETE FROM objects WHERE kind = ? AND namespace = ? AND name = ?");
  return ({ ref: { kind, namespace, name }, json, owners }, digest) => {
    const before = select.get(kind, namespace, name);
    if (before) digest.flip(toRow(before));
    if (json === undefined || owners === undefined) {
      remove.run(kind, namespace, name);
      return;
    }
    const row = { kind, namespace, name, object: json, owners: JSON.stringify(owners) };
    upsert.run(kind, namespace, name, row.object, row.owners);
    digest.flip(row);
  };
}

function inTransaction<T>(sqlite: DatabaseSync, write: () => T): T {
  sqlite.exec("BEGIN IMMEDIATE");
  try {
    const written = write();
    sqlite.exec("COMMIT");
    return written;
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
