import { type FileHandle, open } from "node:fs/promises";
import { startOfLastLines } from "./start-of-last-lines.ts";

const READ_BYTES = 64 * 1024;
const WHOLE = { offset: 0, lines: 0 };

export interface ReadOptions {
  readonly follow: boolean;
  readonly tailLines?: number;
  readonly signal?: AbortSignal;
}

/** Where the writer of a log is, for its readers. */
export interface LogPosition {
  /** Of the file at the path; a rotation begins a new one. */
  generation: number;
  /** Grows with everything that is written. */
  changes: number;
  finished: boolean;
  /** Called at every change. */
  readonly waiting: Set<() => void>;
}

/** Reads a log and its older file, over rotations. A follower that is slower than two rotations loses what is between. */
export async function* readLog(
  path: string,
  writer: LogPosition,
  { follow, tailLines, signal }: ReadOptions,
): AsyncGenerator<Uint8Array> {
  let { older, file, at } = await openBoth(path, writer);
  try {
    const tail = tailLines === undefined ? WHOLE : await tailOf(file, tailLines);
    yield* readRest(older, tailLines === undefined ? WHOLE : await tailOf(older, tailLines - tail.lines));
    let position = tail.offset;
    for (;;) {
      const seen = writer.changes;
      const current = writer.generation;
      const chunk = await readChunk(file, position);
      if (signal?.aborted) return;
      if (chunk) {
        position += chunk.length;
        yield chunk;
        continue;
      }
      // This file is read to its end; there may be a newer one.
      const newer = !file || current !== at ? await openNewer(path, file) : undefined;
      at = current;
      if (newer) {
        await file?.close();
        file = newer;
        position = 0;
        continue;
      }
      if (!follow || (writer.finished && seen === writer.changes)) return;
      await change(writer, seen, signal);
    }
  } finally {
    await older?.close();
    await file?.close();
  }
}

/** The older file and the current one, of one moment. */
async function openBoth(path: string, writer: LogPosition) {
  for (;;) {
    const at = writer.generation;
    const older = await openIfThere(`${path}.1`);
    const file = await openIfThere(path);
    if (at === writer.generation) return { older, file, at };
    await older?.close();
    await file?.close();
  }
}

/** The file at the path when it is another one than `file`. */
async function openNewer(path: string, file: FileHandle | undefined): Promise<FileHandle | undefined> {
  const found = await openIfThere(path);
  if (!found || !file) return found;
  const [before, now] = await Promise.all([file.stat(), found.stat()]);
  if (before.ino !== now.ino) return found;
  await found.close();
  return undefined;
}

/** Waits for something newer than the change that was seen. */
async function change(writer: LogPosition, seen: number, signal: AbortSignal | undefined): Promise<void> {
  if (writer.changes !== seen || signal?.aborted) return;
  await new Promise<void>((resolve) => {
    const go = () => {
      signal?.removeEventListener("abort", go);
      writer.waiting.delete(go);
      resolve();
    };
    writer.waiting.add(go);
    signal?.addEventListener("abort", go, { once: true });
  });
}

async function openIfThere(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, "r");
  } catch {
    return undefined;
  }
}

async function readChunk(file: FileHandle | undefined, position: number): Promise<Buffer | undefined> {
  if (!file) return undefined;
  const { bytesRead, buffer } = await file.read(Buffer.alloc(READ_BYTES), 0, READ_BYTES, position);
  return bytesRead === 0 ? undefined : buffer.subarray(0, bytesRead);
}

async function* readRest(file: FileHandle | undefined, from: { offset: number }): AsyncGenerator<Uint8Array> {
  let position = from.offset;
  for (let chunk = await readChunk(file, position); chunk; chunk = await readChunk(file, position)) {
    position += chunk.length;
    yield chunk;
  }
}

async function tailOf(file: FileHandle | undefined, lines: number): Promise<{ offset: number; lines: number }> {
  return file ? startOfLastLines(file, lines) : WHOLE;
}
