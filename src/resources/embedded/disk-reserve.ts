import { randomBytes } from "node:crypto";
import { rmSync, statfsSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

const RESERVE_BYTES = 2 * 1024 * 1024;
/** It is laid aside again only where there is so much more room than it takes. */
const ROOM_FACTOR = 8;
/** SQLITE_FULL; the system's own words for it reach us as an input/output error (10) with more bits. */
const SQLITE_FULL = 13;
const SQLITE_IOERR = 10;

/**
 * Space that is laid aside for the time when the disk is full. A status that cannot be written could not say that the
 * disk is full; so the file beside the database is given up then, and made anew when there is room again.
 */
export interface DiskReserve {
  /** Runs a write; when the disk is full, gives up the reserve and runs it once more. */
  use<T>(write: () => T): T;
}

/** For `:memory:` there is nothing to lay aside. */
export function diskReserve(file: string): DiskReserve {
  if (file === ":memory:") return { use: (write) => write() };
  const path = `${file}-reserve`;
  let isThere = layAside(path);
  return {
    use(write) {
      try {
        const result = write();
        if (!isThere) isThere = layAside(path);
        return result;
      } catch (error) {
        if (!isThere || !isFull(error)) throw error;
        rmSync(path, { force: true });
        isThere = false;
        return write();
      }
    },
  };
}

/** True when the reserve is there. */
function layAside(path: string): boolean {
  try {
    if (statSync(path, { throwIfNoEntry: false })?.size === RESERVE_BYTES) return true;
    const { bavail, bsize } = statfsSync(dirname(path));
    if (bavail * bsize < RESERVE_BYTES * ROOM_FACTOR) return false;
    // Random: a file system that compresses would keep no room for zeros.
    writeFileSync(path, randomBytes(RESERVE_BYTES), { mode: 0o600 });
    return true;
  } catch {
    return false;
  }
}

function isFull(error: unknown): boolean {
  const { errcode } = error as { errcode?: unknown };
  return typeof errcode === "number" && [SQLITE_FULL, SQLITE_IOERR].includes(errcode & 0xff);
}
