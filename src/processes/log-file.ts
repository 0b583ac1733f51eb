import { type FileHandle, mkdir, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { startOfLastLines } from "./start-of-last-lines.ts";

const READ_BYTES = 64 * 1024;

export interface LogLimits {
  readonly maxBytes: number;
  /** `rotate`: the older half moves to `<path>.1`; `stop`: what comes later is dropped. */
  readonly whenFull: "rotate" | "stop";
}

/** Output in a file of bounded size, written and read by this process alone. */
export interface LogFile {
  /** Resolves when written; whoever waits for it cannot fill the memory. Never rejects: a full disk costs lines, not replicas. */
  append(bytes: Uint8Array): Promise<void>;
  /** From the oldest, or the last lines; with `follow` until `signal` aborts or the log is finished. */
  read(options: { follow: boolean; tailLines?: number; signal?: AbortSignal }): AsyncGenerator<Uint8Array>;
  /** No more is written: followers end when they have read all, and the file is closed. */
  finish(): Promise<void>;
  /** Closes the file until the next append. */
  rest(): Promise<void>;
  /** Removes what was written. */
  clear(): Promise<void>;
}

/** A log at a path whose folders are made when it is first written. */
export function logFile(path: string, limits: LogLimits): LogFile {
  let handle: FileHandle | undefined;
  let size = 0;
  let generation = 0; // of the file at `path`; a rotation begins a new one
  let changes = 0;
  let finished = false;
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
      await handle.close();
      handle = undefined;
      await rename(path, `${path}.1`);
      generation++;
      handle = await begin();
    }
    await handle.appendFile(bytes);
    size += bytes.length;
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

  async function* read(options: {
    follow: boolean;
    tailLines?: number;
    signal?: AbortSignal;
  }): AsyncGenerator<Uint8Array> {
    const { follow, tailLines, signal } = options;
    let mine = generation;
    let file = await openIfThere(path);
    let position = 0;
    try {
      const tail = tailLines === undefined ? undefined : await tailOf(file, tailLines);
      position = tail?.offset ?? 0;
      yield* readOlder(`${path}.1`, tailLines === undefined ? undefined : tailLines - tail!.lines);
      for (;;) {
        const seen = changes;
        const current = generation;
        const chunk = await readChunk(file, position);
        if (signal?.aborted) return;
        if (chunk) {
          position += chunk.length;
          yield chunk;
        } else if (!file || current !== mine) {
          // This file is read to its end, and there is a newer one.
          await file?.close();
          file = await openIfThere(path);
          mine = current;
          position = 0;
          if (file) continue;
          if (!follow || finished) return;
          await change(seen, signal);
        } else {
          if (!follow || finished) return;
          await change(seen, signal);
        }
      }
    } finally {
      await file?.close();
    }
  }

  return {
    append: (bytes) => (bytes.length === 0 ? queue : enqueue(() => write(bytes))),
    read,
    rest: () => enqueue(close),
    async finish() {
      await enqueue(close);
      finished = true;
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

async function* readOlder(path: string, lines: number | undefined): AsyncGenerator<Uint8Array> {
  if (lines !== undefined && lines <= 0) return;
  const file = await openIfThere(path);
  if (!file) return;
  try {
    let position = lines === undefined ? 0 : (await tailOf(file, lines)).offset;
    for (let chunk = await readChunk(file, position); chunk; chunk = await readChunk(file, position)) {
      position += chunk.length;
      yield chunk;
    }
  } finally {
    await file.close();
  }
}

async function tailOf(file: FileHandle | undefined, lines: number): Promise<{ offset: number; lines: number }> {
  return file ? startOfLastLines(file, lines) : { offset: 0, lines: 0 };
}
