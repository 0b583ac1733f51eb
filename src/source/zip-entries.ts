import { type Entry, getFileNameLowLevel, type ZipFile } from "yauzl";
import { limitText, messageOf, SlessError } from "../errors/index.ts";
import { archiveInvalid, type EntryFault, type EntryName, entryFaults } from "./archive-entries.ts";
import type { ArchiveFile } from "./pack-archive.ts";
import { strayLinks } from "./stray-links.ts";

export interface ArchiveLimits {
  /** Of all contents together, unpacked. Default 50 MiB. */
  readonly maxBytes?: number;
  /** Default 3,000; folders do not count. */
  readonly maxFiles?: number;
}

export const MAX_BYTES = 50 << 20;

/** How archives are opened: names are decoded here, sizes are checked while it inflates. */
export const ZIP_OPTIONS = { lazyEntries: true, autoClose: false, decodeStrings: false, validateEntrySizes: true };

const LINK_MAX_BYTES = 4096;
/** An archive of folders alone ends somewhere too. */
const ENTRIES_PER_FILE = 4;
/** Of all names together: long names of many folders would multiply in memory. */
const NAMES_MAX_BYTES = 4 << 20;

/** What the central directory tells about one entry. */
export interface ZipEntry extends EntryName {
  readonly entry: Entry;
  readonly mode: ArchiveFile["mode"];
  readonly fault: string | undefined;
}

/**
 * The files and links of an open zip, all of which may be written below one folder: the paths stay inside and do not
 * clash. Nothing of their contents was looked at.
 *
 * @throws SlessError `archive_invalid` with every faulty entry, `too_large`
 */
export async function fileEntries(zip: ZipFile, limits: ArchiveLimits): Promise<ZipEntry[]> {
  const found = await listEntries(zip, limits);
  const faults: EntryFault[] = found.flatMap(({ path, fault }) =>
    fault === undefined ? [] : [{ path, reason: fault }],
  );
  faults.push(...entryFaults(found));
  if (faults.length > 0) throw archiveInvalid(faults);
  return found.filter(({ kind }) => kind !== "folder");
}

/** What yauzl throws for what is no zip, or a damaged one. */
export function notReadable(error: unknown): SlessError {
  return new SlessError("archive_invalid", { cause: `it is no zip file (${messageOf(error)})` }, { cause: error });
}

export const SIZE_FAULT = "its size is not as declared";

export function damaged(path: string, error: unknown): EntryFault {
  const isTooLong = (error as { code?: unknown }).code === "ERR_BUFFER_TOO_LARGE";
  return { path, reason: `is damaged (${isTooLong ? SIZE_FAULT : messageOf(error)})` };
}

/** Links that lead out or nowhere. @param targets by the paths of the links */
export function linkFaults(targets: ReadonlyMap<string, string>): EntryFault[] {
  return strayLinks(targets).map(({ path, leads }) => ({
    path,
    reason: leads === "outside" ? "is a link that leads out" : "is a link that leads in a circle, or too far",
  }));
}

async function listEntries(zip: ZipFile, limits: ArchiveLimits): Promise<ZipEntry[]> {
  const { maxBytes = MAX_BYTES, maxFiles = 3000 } = limits;
  const found: ZipEntry[] = [];
  let files = 0;
  let bytes = 0;
  let nameBytes = 0;
  let packed = 0;
  const maxEntries = maxFiles * ENTRIES_PER_FILE;
  // Told at its end: a hundred thousand need not be read to be refused.
  if (zip.entryCount > maxEntries) throw tooLarge(`${maxFiles} files`);
  try {
    for await (const entry of zip.eachEntry()) {
      const one = examine(entry);
      if (one) found.push(one);
      if (one && one.kind !== "folder") files += 1;
      bytes += entry.uncompressedSize;
      nameBytes += entry.fileNameRaw.length;
      packed += entry.compressedSize;
      if (files > maxFiles || found.length > maxEntries) throw tooLarge(`${maxFiles} files`);
      if (nameBytes > NAMES_MAX_BYTES) throw tooLarge(`${limitText(NAMES_MAX_BYTES)} of names`);
      if (bytes > maxBytes) throw tooLarge(`${limitText(maxBytes)} unpacked`);
      // Else the same bytes, which may stand for none, would be read for each.
      if (packed > zip.fileSize) throw notReadable(new Error("its entries lie over one another"));
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
const ENCRYPTED = 1;

/** undefined: the folder itself, as archives of `tar` name it. */
function examine(entry: Entry): ZipEntry | undefined {
  const { generalPurposeBitFlag, fileNameRaw, extraFields } = entry;
  const told = getFileNameLowLevel(generalPurposeBitFlag, fileNameRaw, extraFields, true);
  if (told === "./" && entry.uncompressedSize === 0) return undefined;
  const name = told.startsWith("./") && told.length > 2 ? told.slice(2) : told;
  // Archives of other systems have no Unix mode.
  const mode = entry.versionMadeBy >>> 8 === UNIX ? entry.externalFileAttributes >>> 16 : 0;
  const type = mode & FILE_TYPE;
  const isFolder = name.endsWith("/") || type === 0o040000;
  const isLink = type === 0o120000;
  let fault: string | undefined;
  if (![0, 0o040000, 0o100000, 0o120000].includes(type)) fault = "is neither a file, a folder nor a link";
  else if (generalPurposeBitFlag & ENCRYPTED) fault = "is encrypted; make the zip without a password";
  else if (!entry.canDecodeFileData()) fault = "is compressed in an unknown way; use deflate, as zip does";
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
