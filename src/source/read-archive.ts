import { promisify } from "node:util";
import { crc32, inflateRaw, inflateRawSync } from "node:zlib";
import { type Entry, fromBufferPromise, getFileNameLowLevel, type ZipFile } from "yauzl";
import { messageOf, SlessError } from "../errors/index.ts";
import { archiveInvalid, type EntryFault, type EntryName, entryFaults } from "./archive-entries.ts";
import type { ArchiveFile } from "./pack-archive.ts";
import { strayLinks } from "./stray-links.ts";

export interface ArchiveLimits {
  /** Of all contents together, unpacked. Default 50 MiB. */
  readonly maxBytes?: number;
  /** Default 3,000; folders do not count. */
  readonly maxFiles?: number;
}

const inflateRawAsync = promisify(inflateRaw);

const LINK_MAX_BYTES = 4096;
/** Larger ones go to another thread. */
const INFLATE_AT_ONCE_MAX_BYTES = 64 << 10;
/** An archive of folders alone ends somewhere too. */
const ENTRIES_PER_FILE = 4;
/** Of all names together: long names of many folders would multiply in memory. */
const NAMES_MAX_BYTES = 4 << 20;

/** What the central directory tells about one entry. */
interface Found extends EntryName {
  readonly entry: Entry;
  readonly mode: ArchiveFile["mode"];
  readonly fault: string | undefined;
}

/**
 * The files of a zip, all of which may be written below one folder: the paths stay inside and do not clash, links do
 * not lead out. The limits hold while it inflates: an entry with more bytes than it declares ends there.
 *
 * @throws SlessError `archive_invalid` with every faulty entry, `too_large`
 */
export async function readArchive(bytes: Uint8Array, limits: ArchiveLimits = {}): Promise<ArchiveFile[]> {
  const zip = await openZip(bytes);
  const found = await listEntries(zip, limits);
  const faults: EntryFault[] = found.flatMap(({ path, fault }) =>
    fault === undefined ? [] : [{ path, reason: fault }],
  );
  faults.push(...entryFaults(found));
  if (faults.length > 0) throw archiveInvalid(faults);
  const files: ArchiveFile[] = [];
  for (const { path, kind, mode, entry } of found) {
    if (kind === "folder") continue;
    try {
      files.push({ path, mode, content: await contentOf(zip, bytes, entry) });
    } catch (error) {
      faults.push({ path, reason: `is damaged (${messageOf(error)})` });
    }
  }
  faults.push(...linkFaults(files));
  if (faults.length > 0) throw archiveInvalid(faults);
  return files;
}

async function openZip(bytes: Uint8Array): Promise<ZipFile> {
  const options = { lazyEntries: true, autoClose: false, decodeStrings: false, validateEntrySizes: true };
  try {
    return await fromBufferPromise(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), options);
  } catch (error) {
    throw notReadable(error);
  }
}

function notReadable(error: unknown): SlessError {
  return new SlessError("archive_invalid", { cause: `it is no zip file (${messageOf(error)})` }, { cause: error });
}

async function listEntries(zip: ZipFile, limits: ArchiveLimits): Promise<Found[]> {
  const { maxBytes = 50 << 20, maxFiles = 3000 } = limits;
  const found: Found[] = [];
  let files = 0;
  let bytes = 0;
  let nameBytes = 0;
  try {
    for await (const entry of zip.eachEntry()) {
      const one = examine(entry);
      found.push(one);
      if (one.kind !== "folder") files += 1;
      bytes += entry.uncompressedSize;
      nameBytes += entry.fileNameRaw.length;
      if (files > maxFiles || found.length > maxFiles * ENTRIES_PER_FILE) throw tooLarge(`${maxFiles} files`);
      if (nameBytes > NAMES_MAX_BYTES) throw tooLarge(`${NAMES_MAX_BYTES} bytes of names`);
      if (bytes > maxBytes) throw tooLarge(`${maxBytes} bytes unpacked`);
    }
  } catch (error) {
    throw error instanceof SlessError ? error : notReadable(error);
  }
  return found;
}

function tooLarge(limit: string): SlessError {
  return new SlessError("too_large", { what: "The archive", limit });
}

const FILE_TYPE = 0o170000;
const UNIX = 3;

function examine(entry: Entry): Found {
  const { generalPurposeBitFlag, fileNameRaw, extraFields } = entry;
  const name = getFileNameLowLevel(generalPurposeBitFlag, fileNameRaw, extraFields, true);
  // Archives of other systems have no Unix mode.
  const mode = entry.versionMadeBy >>> 8 === UNIX ? entry.externalFileAttributes >>> 16 : 0;
  const type = mode & FILE_TYPE;
  const isFolder = name.endsWith("/") || type === 0o040000;
  const isLink = type === 0o120000;
  let fault: string | undefined;
  if (![0, 0o040000, 0o100000, 0o120000].includes(type)) fault = "is neither a file, a folder nor a link";
  else if (!entry.canDecodeFileData()) fault = "is encrypted or compressed in an unknown way";
  else if (isFolder && entry.uncompressedSize > 0) fault = "is a folder with content";
  else if (isLink && entry.uncompressedSize > LINK_MAX_BYTES) fault = "is a link with an endless target";
  return {
    path: isFolder ? name.replace(/\/$/, "") : name,
    kind: isFolder ? "folder" : isLink ? "link" : "file",
    mode: isLink ? "120000" : mode & 0o100 ? "100755" : "100644",
    entry,
    fault,
  };
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
  if (content.length !== size) throw new Error("its size is not as declared");
  if (crc32(content) !== entry.crc32) throw new Error("its checksum does not fit");
  return content;
}

function linkFaults(files: readonly ArchiveFile[]): EntryFault[] {
  const links = files.filter(({ mode }) => mode === "120000");
  const targets = new Map(links.map(({ path, content }) => [path, Buffer.from(content).toString()]));
  return strayLinks(targets).map(({ path, leads }) => ({
    path,
    reason: leads === "outside" ? "is a link that leads out" : "is a link that leads in a circle, or too far",
  }));
}
