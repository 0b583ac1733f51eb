import { buffer } from "node:stream/consumers";
import { ZipFile } from "yazl";
import { archiveInvalid, entryFaults } from "./archive-entries.ts";

/** A file of a source with its bytes; of a link they are its target. */
export interface ArchiveFile {
  /** Relative to the source, slashes between. */
  readonly path: string;
  readonly mode: "100644" | "100755" | "120000";
  readonly content: Uint8Array;
}

/**
 * A zip of the files with their modes, sorted, with fixed times: the same files make the same bytes.
 *
 * @throws SlessError `archive_invalid` when a path could not be unpacked again
 */
export async function packArchive(files: readonly ArchiveFile[]): Promise<Uint8Array> {
  const faults = entryFaults(files.map(({ path, mode }) => ({ path, kind: mode === "120000" ? "link" : "file" })));
  if (faults.length > 0) throw archiveInvalid(faults);
  // A zip holds local time; made of local time it is the same in every zone.
  const mtime = new Date(2000, 0, 1);
  const zip = new ZipFile();
  for (const { path, mode, content } of [...files].sort((a, b) => (a.path < b.path ? -1 : 1))) {
    const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
    zip.addBuffer(bytes, path, { mtime, mode: Number.parseInt(mode, 8), forceDosTimestamp: true });
  }
  zip.end();
  return buffer(zip.outputStream);
}
