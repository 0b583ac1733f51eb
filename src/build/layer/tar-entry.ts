import { once } from "node:events";
import type { Pack } from "tar-stream";

/** A file of a layer by its absolute path without the first slash: `sless/image/source/handler.py`. */
export type LayerEntry =
  | { readonly path: string; readonly content: Uint8Array; readonly executable?: boolean }
  /** A file that is read when its turn comes; `size` in bytes. */
  | {
      readonly path: string;
      readonly size: number;
      readonly stream: () => AsyncIterable<Uint8Array>;
      readonly executable?: boolean;
    }
  /** A symbolic link; `target` is relative to its folder. */
  | { readonly path: string; readonly target: string }
  | { readonly path: string; readonly folder: true };

/** Nothing in an archive tells when or by whom it was made: equal files are equal bytes. */
const FIXED = { mtime: new Date(0), uid: 0, gid: 0, uname: "", gname: "" };

/**
 * Adds an entry, owned by root and readable by everybody. Resolves when the archive has taken all of it.
 *
 * @throws what reading the file throws, which ends the archive too
 */
export function addEntry(archive: Pack, entry: LayerEntry): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = (error?: Error | null) => (error ? reject(error) : resolve());
    if ("folder" in entry)
      return void archive.entry({ ...FIXED, name: `${entry.path}/`, type: "directory", mode: 0o755 }, done);
    if ("target" in entry)
      return void archive.entry(
        { ...FIXED, name: entry.path, type: "symlink", linkname: entry.target, mode: 0o777 },
        done,
      );
    const header = { ...FIXED, name: entry.path, mode: entry.executable ? 0o755 : 0o644 };
    if ("content" in entry) {
      const { buffer, byteOffset, byteLength } = entry.content;
      return void archive.entry(header, Buffer.from(buffer, byteOffset, byteLength), done);
    }
    const sink = archive.entry({ ...header, size: entry.size }, done);
    // It comes by `done` too; an error that nobody listens for would end the process.
    sink.on("error", reject);
    pour(entry.stream(), sink).catch((error: unknown) => sink.destroy(error as Error));
  });
}

async function pour(content: AsyncIterable<Uint8Array>, sink: ReturnType<Pack["entry"]>): Promise<void> {
  const closed = new Promise<void>((resolve) => sink.once("close", resolve));
  for await (const piece of content) {
    if (sink.destroyed) return;
    if (!sink.write(piece)) await Promise.race([once(sink, "drain"), closed]);
  }
  sink.end(undefined);
}
