import type { FileHandle } from "node:fs/promises";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { type LogPosition, type ReadOptions, readLog } from "./read-log.ts";

/** A file that is not written for so long is closed until it is: there may be more logs than descriptors. */
const IDLE_CLOSE_MS = 10_000;

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
  read(options: ReadOptions): AsyncGenerator<Uint8Array>;
  /** No more is written: followers end when they have read all, and the file is closed. */
  finish(): Promise<void>;
  /** Removes what was written. */
  clear(): Promise<void>;
}

/** A log at a path whose folders are made when it is first written. */
export function logFile(path: string, limits: LogLimits): LogFile {
  const writer: Writer = { path, limits, handle: undefined, size: 0, idle: undefined, position: startOfLog() };
  let refuses = false;
  let queue: Promise<void> = Promise.resolve();

  function enqueue(work: () => Promise<void>): Promise<void> {
    queue = queue.then(work).catch(() => undefined);
    return queue;
  }

  return {
    append(bytes) {
      return bytes.length === 0 || refuses
        ? queue
        : enqueue(() => write(writer, bytes, () => enqueue(() => close(writer))));
    },
    read: (options) => readLog(path, writer.position, options),
    async finish() {
      refuses = true;
      await enqueue(() => close(writer));
      writer.position.finished = true;
      clearTimeout(writer.idle);
      wake(writer.position);
    },
    clear: () => enqueue(() => remove(writer)),
  };
}

interface Writer {
  readonly path: string;
  readonly limits: LogLimits;
  readonly position: LogPosition;
  handle: FileHandle | undefined;
  size: number;
  idle: NodeJS.Timeout | undefined;
}

function startOfLog(): LogPosition {
  return { generation: 0, changes: 0, finished: false, waiting: new Set() };
}

function wake(position: LogPosition): void {
  position.changes++;
  for (const go of [...position.waiting]) go();
}

async function write(writer: Writer, bytes: Uint8Array, closeLater: () => void): Promise<void> {
  writer.handle ??= await begin(writer);
  if (writer.size + bytes.length > writer.limits.maxBytes && writer.size > 0) {
    if (writer.limits.whenFull === "stop") return;
    await close(writer);
    writer.position.generation++; // before and after, so that a reader that opens in between notices
    await rename(writer.path, `${writer.path}.1`);
    writer.position.generation++;
    writer.handle = await begin(writer);
  }
  await writer.handle.appendFile(bytes);
  writer.size += bytes.length;
  writer.idle ??= setTimeout(closeLater, IDLE_CLOSE_MS).unref();
  writer.idle.refresh();
  wake(writer.position);
}

async function begin(writer: Writer): Promise<FileHandle> {
  await mkdir(dirname(writer.path), { recursive: true });
  const file = await open(writer.path, "a", 0o600);
  writer.size = (await file.stat()).size;
  return file;
}

async function close(writer: Writer): Promise<void> {
  const open = writer.handle;
  writer.handle = undefined;
  await open?.close();
}

async function remove(writer: Writer): Promise<void> {
  await close(writer);
  await rm(writer.path, { force: true });
  await rm(`${writer.path}.1`, { force: true });
  writer.position.generation++;
  wake(writer.position);
}
