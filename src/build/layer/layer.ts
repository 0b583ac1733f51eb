import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { pack } from "tar-stream";
import { digestOf } from "../../registry/index.ts";

const gzipped = promisify(gzip);

/** A file of a layer by its absolute path without the first slash: `sless/image/source/handler.py`. */
export type LayerEntry =
  | { readonly path: string; readonly content: Uint8Array; readonly executable?: boolean }
  /** A symbolic link; `target` is relative to its folder. */
  | { readonly path: string; readonly target: string }
  | { readonly path: string; readonly folder: true };

/** What one step of an image adds, as registries take it. */
export interface Layer {
  /** sha256 of the tar: the same files give the same on every machine. */
  readonly diffId: string;
  /** sha256 of `bytes`; it may differ between versions of zlib. */
  readonly digest: string;
  /** The tar, gzipped. */
  readonly bytes: Uint8Array;
}

/** Images show no time of their making: an equal source is an equal image. */
const EPOCH = new Date(0);

/**
 * Packs files into a layer: sorted, with their folders, owned by root and readable by everybody, at a fixed time.
 *
 * @param entries paths that do not clash, without `..`
 */
export async function makeLayer(entries: readonly LayerEntry[]): Promise<Layer> {
  const tar = await tarOf(entries);
  const bytes = await gzipped(tar, { level: 6 });
  return { diffId: `sha256:${createHash("sha256").update(tar).digest("hex")}`, digest: digestOf(bytes), bytes };
}

async function tarOf(entries: readonly LayerEntry[]): Promise<Buffer> {
  const archive = pack();
  const sorted = [...withFolders(entries)].sort((a, b) => (a.path < b.path ? -1 : 1));
  for (const entry of sorted) {
    const header = { name: entry.path, mtime: EPOCH, uid: 0, gid: 0, uname: "", gname: "" };
    if ("folder" in entry) archive.entry({ ...header, name: `${entry.path}/`, type: "directory", mode: 0o755 });
    else if ("target" in entry) archive.entry({ ...header, type: "symlink", linkname: entry.target, mode: 0o777 });
    else archive.entry({ ...header, mode: entry.executable ? 0o755 : 0o644 }, Buffer.from(entry.content));
  }
  archive.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of archive) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
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
