import { createHash, type Hash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { createGzip, gzip } from "node:zlib";
import { type Pack, pack } from "tar-stream";
import { digestOf } from "../../registry/index.ts";
import { addEntry, type LayerEntry } from "./tar-entry.ts";

const gzipped = promisify(gzip);
const LEVEL = 6;

/** What one step of an image adds, as registries take it. */
export interface Layer {
  /** sha256 of the tar: the same files give the same on every machine. */
  readonly diffId: string;
  /** sha256 of `bytes`; it may differ between versions of zlib. */
  readonly digest: string;
  /** The tar, gzipped. */
  readonly bytes: Uint8Array;
}

/** The same of a layer that is too large for memory: its bytes are in a file that stays as long as it is used. */
export interface LayerFile {
  readonly diffId: string;
  readonly digest: string;
  readonly size: number;
  /** The bytes from this one on. */
  readonly read: (from: number) => Readable;
}

/**
 * Packs files into a layer in memory: sorted, with their folders, owned by root and readable by everybody, at a fixed
 * time: images show no time of their making, an equal source is an equal image.
 *
 * @param entries paths that do not clash, without `..`
 * @throws what reading the files throws
 */
export async function makeLayer(entries: readonly LayerEntry[]): Promise<Layer> {
  const tar = await buffer(tarOf(entries));
  const bytes = await gzipped(tar, { level: LEVEL });
  return { diffId: sha256(createHash("sha256").update(tar)), digest: digestOf(bytes), bytes };
}

/**
 * Packs the same layer into a file that is not there yet, with a few pieces of one file in memory.
 *
 * @throws what reading the files throws, and the system's error when the disk refuses
 */
export async function makeLayerFile(entries: readonly LayerEntry[], path: string): Promise<LayerFile> {
  const [unpacked, packed] = [createHash("sha256"), createHash("sha256")];
  let size = 0;
  await pipeline(
    tarOf(entries),
    passing((piece) => unpacked.update(piece)),
    createGzip({ level: LEVEL }),
    passing((piece) => {
      packed.update(piece);
      size += piece.byteLength;
    }),
    createWriteStream(path, { flags: "wx", mode: 0o600 }),
  );
  const read = (from: number) => (from >= size ? Readable.from([]) : createReadStream(path, { start: from }));
  return { diffId: sha256(unpacked), digest: sha256(packed), size, read };
}

function sha256(hash: Hash): string {
  return `sha256:${hash.digest("hex")}`;
}

function passing(see: (piece: Uint8Array) => void) {
  return async function* (pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of pieces) {
      see(piece);
      yield piece;
    }
  };
}

async function* tarOf(entries: readonly LayerEntry[]): AsyncGenerator<Uint8Array> {
  const archive = pack();
  const sorted = [...withFolders(entries)].sort((a, b) => (a.path < b.path ? -1 : 1));
  const filled = fill(archive, sorted);
  // It is told by the archive, which ends with it.
  filled.catch((error: unknown) => archive.destroy(error as Error));
  try {
    yield* archive as AsyncIterable<Uint8Array>;
    await filled;
  } finally {
    archive.destroy();
  }
}

async function fill(archive: Pack, entries: readonly LayerEntry[]): Promise<void> {
  for (const entry of entries) await addEntry(archive, entry);
  archive.finalize();
}

/** The entries and the folders that they stand in. */
function withFolders(entries: readonly LayerEntry[]): LayerEntry[] {
  const named = new Set(entries.map(({ path }) => path));
  const folders = new Set<string>();
  for (const { path } of entries) {
    for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
      const folder = path.slice(0, end);
      if (folders.has(folder)) break;
      folders.add(folder);
    }
  }
  const missing = [...folders].filter((folder) => !named.has(folder));
  return [...entries, ...missing.map((path): LayerEntry => ({ path, folder: true }))];
}
