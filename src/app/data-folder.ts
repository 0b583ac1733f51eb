import { truncateSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { messageOf, SlessError } from "../errors/index.ts";
import { makeFolder } from "../source/index.ts";

export interface DataFolder {
  readonly path: string;
  close(): Promise<void>;
}

/**
 * Makes the data folder and takes it for this process alone. The lock is SQLite's, held by the operating system: it
 * goes with the process, however that ends, so a crash leaves no stale lock behind.
 *
 * @throws SlessError `data_in_use`, `storage_unavailable`
 */
export async function openDataFolder(path: string): Promise<DataFolder> {
  const pidFile = join(path, "pid");
  try {
    makeFolder(path, 0o700);
  } catch (error) {
    throw new SlessError("storage_unavailable", { what: path, cause: messageOf(error) }, { cause: error });
  }
  const lock = takeLock(join(path, "lock"));
  if (!lock) throw new SlessError("data_in_use", { data: path, pid: await pidIn(pidFile) });
  await writeFile(pidFile, `${process.pid}\n`).catch((error: unknown) => {
    lock.close();
    throw new SlessError("storage_unavailable", { what: pidFile, cause: messageOf(error) }, { cause: error });
  });
  return {
    path,
    async close() {
      await rm(pidFile, { force: true });
      lock.close();
    },
  };
}

const SQLITE_NOTADB = 26;

function takeLock(file: string): DatabaseSync | undefined {
  try {
    return lockedDatabase(file);
  } catch (error) {
    if (/locked|busy/i.test(messageOf(error))) return undefined;
    // Nothing is kept in it, and who held it would have been met before its content.
    if ((error as { errcode?: number }).errcode === SQLITE_NOTADB) return emptied(file);
    throw new SlessError("storage_unavailable", { what: file, cause: messageOf(error) }, { cause: error });
  }
}

function lockedDatabase(file: string): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    // The transaction stays open: nothing is written, the lock alone is wanted.
    database.exec("BEGIN EXCLUSIVE");
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** In place: another file of this name would be another lock. */
function emptied(file: string): DatabaseSync | undefined {
  truncateSync(file);
  return takeLock(file);
}

async function pidIn(file: string): Promise<string> {
  const text = await readFile(file, "utf8").catch(() => "");
  return /^\d+$/.test(text.trim()) ? text.trim() : "unknown";
}
