import { createWriteStream } from "node:fs";
import { link, lstat, mkdir, rm, symlink } from "node:fs/promises";
import { join, relative } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createZstdDecompress, type Gunzip, type ZstdDecompress } from "node:zlib";
import { type Extract, extract } from "tar-stream";
import { messageOf, SlessError } from "../../errors/index.ts";
import { RegistryError } from "../../registry/index.ts";

/** What is left of what an image may come to on this machine; counted down by every layer of it. */
export interface UnpackBudget {
  bytes: number;
  /** Files, links and folders, also those that are only on the way to others. */
  entries: number;
  /** Bytes of its layers to look through, most of which are none of ours. */
  read: number;
}

export function unpackBudget(): UnpackBudget {
  return { bytes: 4 * 1024 ** 3, entries: 500_000, read: 32 * 1024 ** 3 };
}

export interface PackedLayer {
  readonly mediaType: string;
  /** Of the packed layer, piece by piece. */
  readonly pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
}

type Entry = Extract extends AsyncIterable<infer Of> ? Of : never;

/** What a layer takes from those below it, by paths without the first slash. */
export interface LayerRemovals {
  readonly removed: string[];
  /** Folders of which everything goes. */
  readonly emptied: string[];
}

const WHITEOUT = ".wh.";
const OPAQUE = ".wh..wh..opq";

/**
 * Unpacks what a layer has below `sless/` into an empty folder; the rest of the image is for containers. What it names never
 * leads out of the folder, whoever made it: nothing is written through a link.
 *
 * @throws SlessError `archive_invalid`; RegistryError of the pieces; errors of the file system
 */
export async function unpackLayer(
  { mediaType, pieces }: PackedLayer,
  folder: string,
  budget: UnpackBudget,
): Promise<LayerRemovals> {
  const removals: LayerRemovals = { removed: [], emptied: [] };
  const reader = extract();
  let isAllRead = false;
  async function* toTheEnd() {
    yield* pieces;
    isAllRead = true;
  }
  const packed = Readable.from(toTheEnd());
  const counted = (chunks: AsyncIterable<Uint8Array>) => within(chunks, budget);
  const unpacker = unpackerOf(mediaType);
  const reading = unpacker ? pipeline(packed, unpacker, counted, reader) : pipeline(packed, counted, reader);
  reading.catch(() => undefined); // thrown below
  try {
    for await (const entry of reader) {
      await unpackEntry(entry, folder, budget, removals);
      entry.resume();
    }
    await reading;
    // Only then it is known that they are those of its digest.
    if (!isAllRead) throw invalid("there is more behind its end");
    return removals;
  } catch (error) {
    reader.destroy();
    const { code } = error as NodeJS.ErrnoException;
    // A full disk is not the layer's fault, nor is a link that breaks.
    if (error instanceof SlessError || error instanceof RegistryError || (code !== undefined && /^E[A-Z]+$/.test(code)))
      throw error;
    throw invalid(messageOf(error));
  }
}

/** By the media types of OCI and Docker; a plain tar needs none. */
function unpackerOf(mediaType: string): Gunzip | ZstdDecompress | undefined {
  if (/[+.]gzip$/.test(mediaType)) return createGunzip();
  return /[+.]zstd$/.test(mediaType) ? createZstdDecompress() : undefined;
}

/** A few packed bytes may stand for any number. */
async function* within(chunks: AsyncIterable<Uint8Array>, budget: UnpackBudget): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    budget.read -= chunk.byteLength;
    if (budget.read < 0) throw tooLarge();
    yield chunk;
  }
}

async function unpackEntry(
  entry: Entry,
  folder: string,
  budget: UnpackBudget,
  { removed, emptied }: LayerRemovals,
): Promise<void> {
  const { name, type, size = 0, mode = 0o644, linkname } = entry.header;
  const parts = name.split("/").filter((part) => part !== "" && part !== ".");
  if (parts[0] !== "sless") return;
  if (parts.includes("..")) throw invalid(`${shown(name)} leads out of it`);
  budget.bytes -= size;
  if (budget.bytes < 0) throw tooLarge();
  countEntry(budget);
  const last = parts.at(-1) ?? "";
  if (last === OPAQUE) return void emptied.push(parts.slice(0, -1).join("/"));
  if (last.startsWith(WHITEOUT)) {
    const gone = last.slice(WHITEOUT.length);
    if (["", ".", ".."].includes(gone)) throw invalid(`${shown(name)} removes what it may not`);
    return void removed.push([...parts.slice(0, -1), gone].join("/"));
  }
  const parent = await realFolder(folder, parts.slice(0, -1), budget);
  const at = join(parent, last);
  if (type === "directory") {
    await realFolder(folder, parts, budget, { replace: true });
    return;
  }
  await rm(at, { recursive: true, force: true });
  if (type === "symlink") await symlink(linkHere(linkname ?? "", parent, folder), at);
  else if (type === "link") await link(await linked(linkname ?? "", folder), at);
  // Owner and group are this machine's user; nobody else need read it.
  else if (type === "file" || type === "contiguous-file")
    await pipeline(entry, createWriteStream(at, { flags: "wx", mode: (mode & 0o100) === 0 ? 0o644 : 0o755 }));
}

/** The folder, made where it is missing; a link or a file on the way is no way. */
async function realFolder(
  root: string,
  parts: readonly string[],
  budget: UnpackBudget,
  { replace = false }: { readonly replace?: boolean } = {},
): Promise<string> {
  let at = root;
  for (const [index, part] of parts.entries()) {
    if (part.startsWith(WHITEOUT)) throw invalid(`${shown(part)} is no folder`);
    at = join(at, part);
    const found = await lstat(at).catch(() => undefined);
    if (found?.isDirectory()) continue;
    const isWanted = replace && index === parts.length - 1;
    if (found && !isWanted) throw invalid(`${shown(parts.join("/"))} leads through a link or a file`);
    if (found) await rm(at);
    if (!isWanted) countEntry(budget);
    await mkdir(at);
  }
  return at;
}

/** An absolute link names a place in the image; the folder may be moved. */
function linkHere(target: string, parent: string, folder: string): string {
  return /^\/sless(\/|$)/.test(target) ? relative(parent, join(folder, target)) : target;
}

/** A hard link is one to a file of the image, and to none that is reached through a link. */
async function linked(target: string, folder: string): Promise<string> {
  const parts = target.split("/").filter((part) => part !== "" && part !== ".");
  if (parts[0] !== "sless" || parts.includes("..")) throw invalid(`it links to ${shown(target)}`);
  let at = folder;
  for (const part of parts) {
    at = join(at, part);
    const found = await lstat(at).catch(() => undefined);
    if (!found || found.isSymbolicLink()) throw invalid(`it links to ${shown(target)}, which is no file of it`);
  }
  return at;
}

function countEntry(budget: UnpackBudget): void {
  budget.entries -= 1;
  if (budget.entries < 0) throw tooLarge();
}

function tooLarge(): SlessError {
  return invalid("the image is larger than this machine takes");
}

function invalid(cause: string): SlessError {
  return new SlessError("archive_invalid", { cause: `a layer of the image cannot be unpacked: ${cause}` });
}

function shown(text: string): string {
  return JSON.stringify(text.slice(0, 200));
}
