import { type PassThrough, Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { ZipFile } from "yazl";
import { archiveInvalid, entryFaults } from "./archive-entries.ts";
import type { StoredFile } from "./stored-file.ts";
import { ZIP32_MAX, zipBytes } from "./zip-bytes.ts";

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
  const ordered = inOrder(files);
  const bytes = ordered.reduce((sum, { path, content }) => sum + content.byteLength + path.length, 0);
  if (ordered.length <= ZIP32_MAX.files && bytes <= ZIP32_MAX.bytes) return zipBytes(ordered);
  const zip = new ZipFile();
  for (const { path, mode, content } of ordered) {
    const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
    zip.addBuffer(bytes, path, attributesOf(mode));
  }
  zip.end();
  return buffer(zip.outputStream);
}

/**
 * The same in pieces, of files that are read one after the other. Other bytes than `packArchive` makes, the same files.
 *
 * @throws SlessError `archive_invalid` when a path could not be unpacked again; and what reading a file throws
 */
export async function* packedPieces(files: readonly StoredFile[]): AsyncGenerator<Uint8Array> {
  const zip = new ZipFile();
  const output = zip.outputStream as PassThrough;
  let reading: Readable | undefined;
  let isLeft = false;
  for (const { path, mode, size, stream } of inOrder(files))
    zip.addReadStreamLazy(path, { ...attributesOf(mode), size }, (take) => {
      // Nobody would end what is opened now.
      if (isLeft) return;
      reading = Readable.from(stream()).on("error", (error) => output.destroy(error));
      take(null, reading);
    });
  zip.on("error", (error: Error) => output.destroy(error));
  zip.end();
  try {
    yield* output as AsyncIterable<Uint8Array>;
  } finally {
    isLeft = true;
    reading?.destroy();
  }
}

function inOrder<File extends Pick<ArchiveFile, "path" | "mode">>(files: readonly File[]): File[] {
  const faults = entryFaults(files.map(({ path, mode }) => ({ path, kind: mode === "120000" ? "link" : "file" })));
  if (faults.length > 0) throw archiveInvalid(faults);
  return [...files].sort((a, b) => (a.path < b.path ? -1 : 1));
}

function attributesOf(mode: ArchiveFile["mode"]) {
  // A zip holds local time; made of local time it is the same in every zone.
  return { mtime: new Date(2000, 0, 1), mode: Number.parseInt(mode, 8), forceDosTimestamp: true };
}
