import { type FileHandle, mkdir, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { startOfLastLines } from "./start-of-last-lines.ts";

const READ_BYTES = 64 * 1024;
/** A file that is not written for so long is closed until it is: there may be more logs than descriptors. */
const IDLE_CLOSE_MS = 10_000;
const WHOLE = { offset: 0, lines: 0 };

export interface LogLimits {
  readonly maxBytes: number;
  /** `rotate`: the older half moves to `<path>.1`; `stop`: what comes later is dropped. */
  readonly whenFull: "rotate" | "stop";
}

interface ReadOptions {
  readonly follow: boolean;
  readonly tailLines?: number;
  readonly signal?: AbortSignal;
}

/** Output in a file of bounded size, written and read by this process alone. */
export interface LogFile {
  /** Resolves when written; whoever waits for it cannot fill the memory. Never rejects: a full disk costs lines, not replicas. */
  append(bytes: Uint8Array): Promise<void>;
  /** From the oldest, or the last lines; with `follow` until `signal` aborts or the log is finished. */
  read(options: ReadOptions): AsyncGenerator<Uint8Array>;
  /** No more is written: followers end when they have read all, and the file is closed. */
  finish(): Promise<void>;
  /** Removes what was written. */
  clear(): Promise<void>;
}

/** A log at a path whose folders are made when it is first written. */
export function logFile(path: string, limits: LogLimits): LogFile {
  let handle: FileHandle | undefined;
  let size = 0;
  let generation = 0; // of the file at `path`; a rotation begins a new one
  let changes = 0;
  let refuses = false;
  let finished = false;
  let idle: NodeJS.Timeout | undefined;
  let queue: Promise<void> = Promise.resolve();
  const waiting = new Set<() => void>();

  function wake(): void {
    changes++;
    for (const go of [...waiting]) go();
  }

  function enqueue(work: () => Promise<void>): Promise<void> {
    queue = queue.then(work).catch(() => undefined);
    return queue;
  }

  async function write(bytes: Uint8Array): Promise<void> {
    handle ??= await begin();
    if (size + bytes.length > limits.maxBytes && size > 0) {
      if (limits.whenFull === "stop") return;
      await close();
      generation++; // before and after, so that a reader that opens in between notices
      await rename(path, `${path}.1`);
      generation++;
      handle = await begin();
    }
    await handle.appendFile(bytes);
    size += bytes.length;
    idle ??= setTimeout(() => enqueue(close), IDLE_CLOSE_MS).unref();
    idle.refresh();
    wake();
  }

  async function begin(): Promise<FileHandle> {
    const file = await openForAppend(path);
    size = (await file.stat()).size;
    return file;
  }

  async function close(): Promise<void> {
    const open = handle;
    handle = undefined;
    await open?.close();
  }

  /** Waits for something newer than the change that was seen. */
  async function change(seen: number, signal: AbortSignal | undefined): Promise<void> {
    if (changes !== seen || signal?.aborted) return;
    await new Promise<void>((resolve) => {
      const go = () => {
        signal?.removeEventListener("abort", go);
        waiting.delete(go);
        resolve();
      };
      waiting.add(go);
      signal?.addEventListener("abort", go, { once: true });
    });
  }

  /** The older file and the current one, of one moment. */
  async function openBoth(): Promise<{ older: FileHandle | undefined; file: FileHandle | undefined; at: number }> {
    for (;;) {
      const at = generation;
      const older = await openIfThere(`${path}.1`);
      const file = await openIfThere(path);
      if (at === generation) return { older, file, at };
      await older?.close();
      await file?.close();
    }
  }

  async function* read({ follow, tailLines, signal }: ReadOptions): AsyncGenerator<Uint8Array> {
    let { older, file, at } = await openBoth();
    try {
      const tail = tailLines === undefined ? WHOLE : await tailOf(file, tailLines);
      yield* readRest(older, tailLines === undefined ? WHOLE : await tailOf(older, tailLines - tail.lines));
      let position = tail.offset;
      for (;;) {
        const seen = changes;
        const current = generation;
        const chunk = await readChunk(file, position);
        if (signal?.aborted) return;
        if (chunk) {
          position += chunk.length;
          yield chunk;
          continue;
        }
        if (!file || current !== at) {
          // This file is read to its end; there may be a newer one.
          const newer = await openIfThere(path);
          const isOther = !(await isSameFile(file, newer));
          await (isOther ? file : newer)?.close();
          at = current;
          if (isOther) {
            file = newer;
            position = 0;
            if (file) continue;
          }
        }
        if (!follow || (finished && seen === changes)) return;
        await change(seen, signal);
      }
    } finally {
      await older?.close();
      await file?.close();
    }
  }

  return {
    append: (bytes) => (bytes.length === 0 || refuses ? queue : enqueue(() => write(bytes))),
    read,
    async finish() {
      refuses = true;
      await enqueue(close);
      finished = true;
      clearTimeout(idle);
      wake();
    },
    clear: () =>
      enqueue(async () => {
        await close();
        await rm(path, { force: true });
        await rm(`${path}.1`, { force: true });
        generation++;
        wake();
      }),
  };
}

async function openForAppend(path: string): Promise<FileHandle> {
  await mkdir(dirname(path), { recursive: true });
  return open(path, "a", 0o600);
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
  return file ? startOfLastLines(file, lines) : { offset: 0, lines: 0 };
}

async function isSameFile(a: FileHandle | undefined, b: FileHandle | undefined): Promise<boolean> {
  if (!a || !b) return a === b;
  const [first, second] = await Promise.all([a.stat(), b.stat()]);
  return first.ino === second.ino;
}
