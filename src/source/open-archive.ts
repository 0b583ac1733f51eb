import { createHash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import { pipeline, Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { crc32, createInflateRaw, inflateRawSync } from "node:zlib";
import { fromFdPromise, type ZipFile } from "yauzl";
import { messageOf, SlessError } from "../errors/index.ts";
import { archiveInvalid, type EntryFault } from "./archive-entries.ts";
import type { ObjectId } from "./git-reader.ts";
import type { StoredFile } from "./stored-file.ts";
import {
  type ArchiveLimits,
  damaged,
  fileEntries,
  linkFaults,
  notReadable,
  SIZE_FAULT,
  ZIP_OPTIONS,
  type ZipEntry,
} from "./zip-entries.ts";

/** An entry up to this size is read in one go: a stream per entry costs more than most entries. */
const AT_ONCE_MAX_BYTES = 64 << 10;
const PIECE_BYTES = 256 << 10;

/** A zip on the disk. Its files can be read until it is closed. */
export interface OpenArchive {
  readonly files: readonly StoredFile[];
  /** Bytes of the zip itself. */
  readonly size: number;
  /** The zip itself, piece by piece. */
  stream(): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}

/**
 * Opens a zip on the disk by the rules of `readArchive`. Every content was read once and is as it was declared, but
 * none larger than 64 KiB is ever in memory as a whole.
 *
 * @param path of a file that does not change while it is open; its name may go
 * @throws SlessError `archive_invalid` with every faulty entry, `too_large`; `storage_unavailable` without the file; the
 *   signal's reason
 */
export async function openArchive(
  path: string,
  limits: ArchiveLimits = {},
  signal?: AbortSignal,
): Promise<OpenArchive> {
  const handle = await open(path, "r").catch((error: unknown) => {
    throw new SlessError("storage_unavailable", { what: "The archive", cause: messageOf(error) });
  });
  try {
    const files = await checkedFiles(handle, limits, signal);
    const { size } = await handle.stat();
    const stream = () => piecesOf({ start: 0, length: size }, handle);
    return { files, size, stream, close: () => handle.close() };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function checkedFiles(
  handle: FileHandle,
  limits: ArchiveLimits,
  signal: AbortSignal | undefined,
): Promise<StoredFile[]> {
  const zip = await fromFdPromise(handle.fd, ZIP_OPTIONS).catch((error: unknown) => {
    throw notReadable(error);
  });
  const files: StoredFile[] = [];
  const faults: EntryFault[] = [];
  const links = new Map<string, string>();
  for (const found of await fileEntries(zip, limits)) {
    signal?.throwIfAborted();
    try {
      const file = await checkedFile(found, zip, handle);
      files.push(file);
      if (found.kind === "link") links.set(found.path, Buffer.from(await file.read()).toString());
    } catch (error) {
      faults.push(damaged(found.path, error));
    }
  }
  faults.push(...linkFaults(links));
  if (faults.length > 0) throw archiveInvalid(faults);
  return files;
}

/** Reads the content once: it has the declared size and checksum, and this id. */
async function checkedFile({ path, mode, entry }: ZipEntry, zip: ZipFile, handle: FileHandle): Promise<StoredFile> {
  const { fileDataStart: start } = await zip.readLocalFileHeaderPromise(entry, { minimal: true });
  const { uncompressedSize: size, compressedSize, compressionMethod } = entry;
  const packed: Packed = {
    start,
    length: compressedSize,
    isDeflated: compressionMethod !== 0,
    size,
  };
  const isSmall = Math.max(size, compressedSize) <= AT_ONCE_MAX_BYTES;
  async function* stream() {
    if (isSmall) yield await readAtOnce(packed, handle);
    else yield* inflated(packed, handle);
  }
  const { id, checksum } = await digested(stream(), size);
  if (checksum !== entry.crc32) throw new Error("its checksum does not fit");
  return { path, mode, id, size, stream, read: () => (isSmall ? readAtOnce(packed, handle) : buffer(stream())) };
}

async function digested(content: AsyncIterable<Uint8Array>, size: number): Promise<{ id: ObjectId; checksum: number }> {
  const hash = createHash("sha1").update(`blob ${size}\0`);
  let checksum = 0;
  for await (const chunk of content) {
    hash.update(chunk);
    checksum = crc32(chunk, checksum);
  }
  return { id: hash.digest("hex"), checksum };
}

/** Where the bytes of an entry stand, and what becomes of them. */
interface Packed {
  readonly start: number;
  readonly length: number;
  readonly isDeflated: boolean;
  /** Bytes of the content. */
  readonly size: number;
}

async function readAtOnce({ start, length, isDeflated, size }: Packed, handle: FileHandle): Promise<Uint8Array> {
  const { buffer: bytes, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, start);
  if (bytesRead < length) throw new Error("it ends too early");
  const content = isDeflated ? inflateRawSync(bytes, { maxOutputLength: Math.max(1, size) }) : bytes;
  if (content.length !== size) throw sizeError();
  return content;
}

async function* inflated(packed: Packed, handle: FileHandle): AsyncGenerator<Uint8Array> {
  if (packed.length === 0) throw sizeError();
  const bytes = piecesOf(packed, handle);
  const content = packed.isDeflated ? pipeline(Readable.from(bytes), createInflateRaw(), () => undefined) : bytes;
  let left = packed.size;
  for await (const piece of content as AsyncIterable<Uint8Array>) {
    left -= piece.byteLength;
    if (left < 0) throw sizeError();
    yield piece;
  }
  if (left > 0) throw sizeError();
}

async function* piecesOf(
  { start, length }: Pick<Packed, "start" | "length">,
  handle: FileHandle,
): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < length; ) {
    const wanted = Math.min(PIECE_BYTES, length - at);
    const { buffer: bytes, bytesRead } = await handle.read(Buffer.allocUnsafe(wanted), 0, wanted, start + at);
    if (bytesRead === 0) throw new Error("it ends too early");
    at += bytesRead;
    yield bytes.subarray(0, bytesRead);
  }
}

function sizeError(): Error {
  return new Error(SIZE_FAULT);
}
