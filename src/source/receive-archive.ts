import { randomUUID } from "node:crypto";
import { type FileHandle, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { messageOf, SlessError } from "../errors/index.ts";
import { type OpenArchive, openArchive } from "./open-archive.ts";
import { type ArchiveLimits, MAX_BYTES } from "./zip-entries.ts";

export interface ReceiveOptions {
  /** Where the archive lies while it is open. */
  readonly folder: string;
  /** Names it in errors: `functions/demo/hello/….zip`. */
  readonly what: string;
  readonly limits?: ArchiveLimits;
  readonly signal?: AbortSignal;
}

/** Headers and names of a zip that holds as much as it may, and whose content was not to be compressed. */
const OVERHEAD_MAX_BYTES = 16 << 20;

/**
 * Opens a zip that comes in pieces, by the rules of `openArchive`: what a zip holds stands at its end, so it goes to the
 * disk first. Its file has no name any more when this resolves, and goes with the archive or the process.
 *
 * @throws SlessError `archive_invalid`, `too_large`; `storage_unavailable` when the disk refuses; what `body` throws; the
 *   signal's reason
 */
export async function receiveArchive(
  body: AsyncIterable<Uint8Array>,
  { folder, what, limits = {}, signal }: ReceiveOptions,
): Promise<OpenArchive> {
  const path = join(folder, `archive-${randomUUID()}`);
  const onDisk = <T>(work: Promise<T>) =>
    work.catch((error: unknown) => {
      const cause = messageOf(error);
      throw new SlessError("storage_unavailable", { what: `The temporary copy of ${what}`, cause }, { cause: error });
    });
  try {
    const file = await onDisk(open(path, "wx", 0o600));
    try {
      for await (const piece of within(body, limits)) await onDisk(writeAll(file, piece));
    } finally {
      await file.close();
    }
    return await openArchive(path, limits, signal);
  } finally {
    await rm(path, { force: true });
  }
}

/** No more than an archive within the limits can have. */
async function* within(
  body: AsyncIterable<Uint8Array>,
  { maxBytes = MAX_BYTES }: ArchiveLimits,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.byteLength;
    if (bytes > maxBytes + OVERHEAD_MAX_BYTES)
      throw new SlessError("too_large", { what: "The archive", limit: `${maxBytes} bytes unpacked` });
    yield piece;
  }
}

async function writeAll(file: FileHandle, piece: Uint8Array): Promise<void> {
  for (let at = 0; at < piece.byteLength; ) at += (await file.write(piece, at)).bytesWritten;
}
