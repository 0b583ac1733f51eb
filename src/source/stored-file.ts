import { blobId } from "./file-tree.ts";
import type { ObjectId } from "./git-reader.ts";
import type { ArchiveFile } from "./pack-archive.ts";

/** A file of a source whose bytes are read when they are asked for. */
export interface StoredFile {
  /** Relative to the source, slashes between. */
  readonly path: string;
  readonly mode: ArchiveFile["mode"];
  /** That Git gives the content (sha1). */
  readonly id: ObjectId;
  /** Bytes of the content. */
  readonly size: number;
  /** All of it, in memory. */
  read(): Promise<Uint8Array>;
  /** Piece by piece. */
  stream(): AsyncIterable<Uint8Array>;
}

/** A file that is in memory, as one that is read. */
export function storedFile({ path, mode, content }: ArchiveFile): StoredFile {
  return {
    path,
    mode,
    id: blobId(content),
    size: content.length,
    read: async () => content,
    async *stream() {
      yield content;
    },
  };
}
