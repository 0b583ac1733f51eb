import { closeSync, constants, fstatSync, openSync, readlinkSync, readSync, type Stats } from "node:fs";
import type { ObjectId } from "../git-reader.ts";
import { blobIdOf, type HashName, startObject } from "./git-objects.ts";
import { onDisk, type RawPath } from "./raw-path.ts";

/** The content of a file as it was read. */
export interface FileContent {
  readonly id: ObjectId;
  readonly size: number;
}

interface Known {
  readonly stamp: string;
  readonly content: FileContent;
  /** Written long enough before it was read, so that a later write has another time. */
  readonly isSure: boolean;
}

/** File systems keep times in steps of up to two seconds: what is younger when it is read may change unseen. */
const TIME_STEP_MS = 2_000;
const CHUNK_BYTES = 1 << 20;
/** Never through a link that took the file's place, nor waiting at a pipe. */
const READ_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** Contents in one look at a work tree. */
export interface FileIds {
  /** Of a file or link; undefined when it went or changed its kind in between. */
  contentOf(path: RawPath, stats: Stats): Promise<FileContent | undefined>;
}

/** Remembers which content a file has, so that only changed files are read; knows nothing of files that went. */
export interface FileMemory {
  /** A look at all files begins; what the one before did not see is forgotten. */
  look(hash: HashName): FileIds;
}

/**
 * @param breathe awaited often: reading blocks, for it is many times faster than asking other threads
 * @param onRead told every file that is read
 */
export function createFileMemory(
  root: string,
  breathe: () => Promise<void>,
  onRead: (path: RawPath) => void = () => {},
): FileMemory {
  let known = new Map<RawPath, Known>();

  function look(hash: HashName): FileIds {
    const before = known;
    const seen = new Map<RawPath, Known>();
    known = seen;
    return {
      async contentOf(path, stats) {
        const stamp = `${hash} ${stats.mode} ${stats.ino} ${stats.size} ${stats.mtimeMs} ${stats.ctimeMs}`;
        const same = before.get(path);
        if (same?.isSure && same.stamp === stamp) {
          seen.set(path, same);
          return same.content;
        }
        const isSure = Date.now() - stats.ctimeMs > TIME_STEP_MS;
        onRead(path);
        const file = onDisk(root, path);
        const content = stats.isSymbolicLink() ? readLink(file, hash) : await readContent(file, hash, breathe);
        if (content) seen.set(path, { stamp, content, isSure });
        return content;
      },
    };
  }

  return { look };
}

function readLink(file: string | Buffer, hash: HashName): FileContent | undefined {
  const target = whileThere(() => readlinkSync(file, "buffer"));
  return target && { id: blobIdOf(target, hash), size: target.length };
}

async function readContent(
  file: string | Buffer,
  hash: HashName,
  breathe: () => Promise<void>,
): Promise<FileContent | undefined> {
  const fd = whileThere(() => openSync(file, READ_FLAGS));
  if (fd === undefined) return undefined;
  try {
    const stats = fstatSync(fd);
    if (!stats.isFile()) return undefined;
    const object = startObject("blob", stats.size, hash);
    const chunk = Buffer.allocUnsafe(Math.min(stats.size, CHUNK_BYTES));
    for (let at = 0; at < stats.size; ) {
      const read = readSync(fd, chunk, 0, Math.min(chunk.length, stats.size - at), at);
      // It was cut off while it was read: what it is now the next look tells.
      if (read === 0) return undefined;
      object.update(chunk.subarray(0, read));
      at += read;
      await breathe();
    }
    return { id: object.digest("hex"), size: stats.size };
  } finally {
    closeSync(fd);
  }
}

const GONE: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR", "ELOOP", "EISDIR", "EINVAL", "ENXIO"]);

/** What a call on the file system answers; undefined when what it asks for went or is of another kind by now. */
export function whileThere<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof Error && "code" in error && GONE.has(String(error.code))) return undefined;
    throw error;
  }
}
