import { closeSync, constants, fsyncSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";

const { O_CREAT, O_RDWR } = constants;

/**
 * The last version that anybody was told of, in a file beside the database. SQLite takes a log that lost its end for one
 * whose last writes never came to their end; what it finds then is older than this.
 */
export interface Acknowledged {
  /** Undefined when nothing is known. */
  last(): number | undefined;
  /** Never throws: the version is written already, and the next one says as much. */
  note(version: number): void;
  close(): void;
}

/** @throws the system's error when the file cannot be made */
export function openAcknowledged(database: string): Acknowledged {
  if (database === ":memory:") return { last: () => undefined, note: () => undefined, close: () => undefined };
  const file = openSync(acknowledgedFile(database), O_RDWR | O_CREAT, 0o600);
  return {
    last: () => lastAcknowledged(database),
    note(version) {
      try {
        // Of one length, in place: it needs no new room, and is never half a number.
        writeSync(file, `${String(version).padStart(16, "0")}\n`, 0);
      } catch {
        // An older number is true as well.
      }
    },
    close() {
      try {
        fsyncSync(file);
      } finally {
        closeSync(file);
      }
    },
  };
}

/** Undefined when there is no such file, or no number in it. */
export function lastAcknowledged(database: string): number | undefined {
  try {
    const text = readFileSync(acknowledgedFile(database), "latin1");
    return /^\d{16}\n$/.test(text) ? Number(text) : undefined;
  } catch {
    return undefined;
  }
}

export function forgetAcknowledged(database: string): void {
  rmSync(acknowledgedFile(database), { force: true });
}

export function acknowledgedFile(database: string): string {
  return `${database}-acknowledged`;
}
