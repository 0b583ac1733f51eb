import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
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
  ZIP_OPTIONS,
  type ZipEntry,
} from "./zip-entries.ts";

/** An entry up to this size is read in one go: a stream per entry costs more than most entries. */
const AT_ONCE_MAX_BYTES = 64 << 10;

/** A zip on the disk. Its files can be read until it is closed. */
export interface OpenArchive {
  readonly files: readonly StoredFile[];
  close(): Promise<void>;
}

/**
 * Opens a zip on the disk by the rules of `readArchive`. Every content was read once and is as it was declared, but
 * none larger than 64 KiB is ever in memory as a whole.
 *
 * @param path of a file that does not change while it is open
 * @throws SlessError `archive_invalid` with every faulty entry, `too_large`; `storage_unavailable` without the file
 */
export async function openArchive(path: string, limits: ArchiveLimits = {}): Promise<OpenArchive> {
  const handle = await open(path, "r").catch((error: unknown) => {
    throw new SlessError("storage_unavailable", { what: "The uploaded archive", cause: messageOf(error) });
  });
  try {
    const files = await checkedFiles({ path, handle }, limits);
    return { files, close: () => handle.close() };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

interface ZipOnDisk {
  readonly path: string;
  readonly handle: FileHandle;
}

async function checkedFiles(onDisk: ZipOnDisk, limits: ArchiveLimits): Promise<StoredFile[]> {
  const zip = await fromFdPromise(onDisk.handle.fd, ZIP_OPTIONS).catch((error: unknown) => {
    throw notReadable(error);
  });
  const files: StoredFile[] = [];
  const faults: EntryFault[] = [];
  const links = new Map<string, string>();
  for (const found of await fileEntries(zip, limits)) {
    try {
      const file = await checkedFile(found, zip, onDisk);
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
async function checkedFile({ path, mode, entry }: ZipEntry, zip: ZipFile, onDisk: ZipOnDisk): Promise<StoredFile> {
  const { handle } = onDisk;
  const { fileDataStart: start } = await zip.readLocalFileHeaderPromise(entry, { minimal: true });
  const { uncompressedSize: size, compressedSize, compressionMethod } = entry;
  const packed: Packed = {
    path: onDisk.path,
    start,
    length: compressedSize,
    isDeflated: compressionMethod !== 0,
    size,
  };
  const isSmall = Math.max(size, compressedSize) <= AT_ONCE_MAX_BYTES;
  async function* stream() {
    if (isSmall) yield await readAtOnce(packed, handle);
    else yield* inflated(packed);
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
  /** Of the archive. */
  readonly path: string;
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

async function* inflated({ path, start, length, isDeflated, size }: Packed): AsyncGenerator<Uint8Array> {
  if (length === 0) throw sizeError();
  // With a descriptor of its own, which goes with it.
  const packed = createReadStream(path, { start, end: start + length - 1 });
  const content = isDeflated ? packed.pipe(createInflateRaw()) : packed;
  packed.on("error", (error) => content.destroy(error));
  let left = size;
  try {
    for await (const chunk of content as AsyncIterable<Buffer>) {
      left -= chunk.length;
      if (left < 0) throw sizeError();
      yield chunk;
    }
  } finally {
    packed.destroy();
  }
  if (left > 0) throw sizeError();
}

function sizeError(): Error {
  return new Error("its size is not as declared");
}
