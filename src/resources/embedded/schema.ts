import { closeSync, fsyncSync, openSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { NO_ROWS, type Row, rowsDigest } from "./rows-digest.ts";

/** Grows when the tables change; a file with a greater one was written by a newer sless and is left alone. */
export const SCHEMA_VERSION = 2;

export const SCHEMA = `
  CREATE TABLE objects (
    kind TEXT NOT NULL, namespace TEXT NOT NULL, name TEXT NOT NULL,
    object TEXT NOT NULL, -- JSON, as the store returns it
    owners TEXT NOT NULL, -- JSON, paths by field owner
    PRIMARY KEY (kind, namespace, name)
  ) STRICT;
  CREATE TABLE store (only_row INTEGER PRIMARY KEY CHECK (only_row = 1), version INTEGER NOT NULL, digest TEXT NOT NULL DEFAULT '') STRICT;
  INSERT INTO store VALUES (1, 1, '${NO_ROWS}');
  PRAGMA user_version = ${SCHEMA_VERSION};
`;

/**
 * Makes a new file with its tables under another name and puts it in its place whole. So a file that is there and has no
 * tables is one that lost its objects, and never one that a killed start left behind.
 */
export function beginFile(file: string): void {
  const draft = `${file}-new`;
  for (const left of [draft, `${draft}-journal`, `${file}-wal`, `${file}-shm`]) rmSync(left, { force: true });
  const sqlite = new DatabaseSync(draft);
  try {
    sqlite.exec(`PRAGMA synchronous = EXTRA; BEGIN; ${SCHEMA} COMMIT;`);
  } finally {
    sqlite.close();
  }
  renameSync(draft, file);
  const folder = openSync(dirname(file), "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/** Gives the tables of an earlier version what they lack, within the transaction that is open. */
export function migrate(sqlite: DatabaseSync, found: number): void {
  if (found >= SCHEMA_VERSION) return;
  // Until version 1 nothing told what the rows were.
  sqlite.exec("ALTER TABLE store ADD COLUMN digest TEXT NOT NULL DEFAULT ''");
  const digest = rowsDigest(NO_ROWS);
  for (const row of sqlite.prepare(SELECT_ROWS).iterate()) digest.flip(toRow(row));
  sqlite.prepare("UPDATE store SET digest = ?").run(digest.text());
  sqlite.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
}

export const SELECT_ROWS = "SELECT kind, namespace, name, object, owners FROM objects";

export function toRow({ kind, namespace, name, object, owners }: Readonly<Record<string, unknown>>): Row {
  return {
    kind: String(kind),
    namespace: String(namespace),
    name: String(name),
    object: String(object),
    owners: String(owners),
  };
}
