import { DatabaseSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";

const POLL_MS = 200;

/**
 * Runs `work` while no other process runs one under the same file. The lock is SQLite's, so the system gives it back
 * when its holder dies in whatever way. `waits` is called once, when another process holds it.
 */
export async function withFileLock<T>(file: string, work: () => Promise<T>, waits: () => void): Promise<T> {
  const database = new DatabaseSync(file);
  try {
    if (!takes(database)) {
      waits();
      do await setTimeout(POLL_MS);
      while (!takes(database));
    }
    return await work();
  } finally {
    database.close();
  }
}

function takes(database: DatabaseSync): boolean {
  try {
    database.exec("BEGIN EXCLUSIVE");
    return true;
  } catch (error) {
    if (/locked|busy/i.test((error as Error).message)) return false;
    throw error;
  }
}
