import { renameSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

/** Grows when the tables change; a file with a greater one was written by a newer sless and is left alone. */
export const SCHEMA_VERSION = 1;

export const SCHEMA = `
  CREATE TABLE objects (
    kind TEXT NOT NULL, namespace TEXT NOT NULL, name TEXT NOT NULL,
    object TEXT NOT NULL, -- JSON, as the store returns it
    owners TEXT NOT NULL, -- JSON, paths by field owner
    PRIMARY KEY (kind, namespace, name)
  ) STRICT;
  CREATE TABLE store (only_row INTEGER PRIMARY KEY CHECK (only_row = 1), version INTEGER NOT NULL) STRICT;
  INSERT INTO store VALUES (1, 1);
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
}
