import { promisify } from "node:util";
import { crc32, inflateRaw, inflateRawSync } from "node:zlib";
import { type Entry, fromBufferPromise, type ZipFile } from "yauzl";
import { archiveInvalid, type EntryFault } from "./archive-entries.ts";
import type { ArchiveFile } from "./pack-archive.ts";
import {
  type ArchiveLimits,
  damaged,
  fileEntries,
  linkFaults,
  notReadable,
  SIZE_FAULT,
  ZIP_OPTIONS,
} from "./zip-entries.ts";

const inflateRawAsync = promisify(inflateRaw);

/** Larger ones go to another thread. */
const INFLATE_AT_ONCE_MAX_BYTES = 64 << 10;

/**
 * The files of a zip in memory, all of which may be written below one folder: the paths stay inside and do not clash,
 * links do not lead out. The limits hold while it inflates: an entry with more bytes than it declares ends there.
 *
 * @throws SlessError `archive_invalid` with every faulty entry, `too_large`
 */
export async function readArchive(bytes: Uint8Array, limits: ArchiveLimits = {}): Promise<ArchiveFile[]> {
  const zip = await openZip(bytes);
  const faults: EntryFault[] = [];
  const files: ArchiveFile[] = [];
  for (const { path, mode, entry } of await fileEntries(zip, limits)) {
    try {
      files.push({ path, mode, content: await contentOf(zip, bytes, entry) });
    } catch (error) {
      faults.push(damaged(path, error));
    }
  }
  const links = files.filter(({ mode }) => mode === "120000");
  faults.push(...linkFaults(new Map(links.map(({ path, content }) => [path, Buffer.from(content).toString()]))));
  if (faults.length > 0) throw archiveInvalid(faults);
  return files;
}

async function openZip(bytes: Uint8Array): Promise<ZipFile> {
  try {
    return await fromBufferPromise(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), ZIP_OPTIONS);
  } catch (error) {
    throw notReadable(error);
  }
}

/** Inflates from memory, no further than the declared size: a stream per entry costs more than most entries. */
async function contentOf(zip: ZipFile, bytes: Uint8Array, entry: Entry): Promise<Uint8Array> {
  const { fileDataStart } = await zip.readLocalFileHeaderPromise(entry, { minimal: true });
  const data = bytes.subarray(fileDataStart, fileDataStart + entry.compressedSize);
  const size = entry.uncompressedSize;
  const limit = { maxOutputLength: Math.max(1, size) };
  const isSmall = size <= INFLATE_AT_ONCE_MAX_BYTES;
  const inflate = isSmall ? inflateRawSync : inflateRawAsync;
  const content = entry.compressionMethod === 0 ? data : await inflate(data, limit);
  if (content.length !== size) throw new Error(SIZE_FAULT);
  if (crc32(content) !== entry.crc32) throw new Error("its checksum does not fit");
  return content;
}
