import { setImmediate } from "node:timers/promises";
import { promisify } from "node:util";
import { crc32, deflateRaw, deflateRawSync } from "node:zlib";
import type { ArchiveFile } from "./pack-archive.ts";

const deflateAsync = promisify(deflateRaw);

/** Larger ones go to another thread. */
const AT_ONCE_MAX_BYTES = 64 << 10;
/** So much is compressed between two looks at what else waits. */
const WITHOUT_PAUSE_BYTES = 512 << 10;

/** Beyond these a zip needs fields of 64 bits. */
export const ZIP32_MAX = { files: 0xfffe, bytes: 0x7fff_ffff } as const;

const LOCAL_HEADER = 0x04034b50;
const CENTRAL_HEADER = 0x02014b50;
const END = 0x06054b50;
/** Deflate. */
const VERSION_NEEDED = 20;
const MADE_BY_UNIX = (3 << 8) | 63;
const UTF8_NAMES = 0x0800;
const DEFLATED = 8;
/** 2000-01-01 00:00:00, as DOS writes it. */
const DOS_DATE = ((2000 - 1980) << 9) | (1 << 5) | 1;

/**
 * A zip of files that are in memory, in this order (APPNOTE 6.3.3, the part that every reader knows). One call of zlib
 * per file: a stream per file costs ten times as much as compressing it.
 *
 * @param files no more and no larger than `ZIP32_MAX`
 */
export async function zipBytes(files: readonly ArchiveFile[]): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  const central: Uint8Array[] = [];
  let offset = 0;
  let sincePause = 0;
  for (const file of files) {
    sincePause += file.content.byteLength;
    if (sincePause > WITHOUT_PAUSE_BYTES) {
      await setImmediate();
      sincePause = 0;
    }
    const entry = await packedEntry(file);
    const local = headerOf(LOCAL_HEADER, entry);
    central.push(headerOf(CENTRAL_HEADER, { ...entry, offset }), entry.name);
    parts.push(local, entry.name, entry.data);
    offset += local.byteLength + entry.name.byteLength + entry.data.byteLength;
  }
  const centralBytes = central.reduce((sum, { byteLength }) => sum + byteLength, 0);
  return Buffer.concat([...parts, ...central, endOf(files.length, offset, centralBytes)]);
}

interface PackedEntry {
  readonly name: Uint8Array;
  readonly mode: number;
  readonly crc: number;
  readonly size: number;
  readonly data: Uint8Array;
  readonly method: number;
}

async function packedEntry({ path, mode, content }: ArchiveFile): Promise<PackedEntry> {
  const isSmall = content.byteLength <= AT_ONCE_MAX_BYTES;
  const deflated = isSmall ? deflateRawSync(content) : await deflateAsync(content);
  const isSmaller = deflated.byteLength < content.byteLength;
  return {
    name: Buffer.from(path),
    mode: Number.parseInt(mode, 8),
    crc: crc32(content),
    size: content.byteLength,
    data: isSmaller ? deflated : content,
    method: isSmaller ? DEFLATED : 0,
  };
}

/** Both headers of an entry hold the same, the central one a little more. */
function headerOf(signature: number, entry: PackedEntry & { readonly offset?: number }): Uint8Array {
  const isCentral = signature === CENTRAL_HEADER;
  const header = Buffer.alloc(isCentral ? 46 : 30);
  header.writeUInt32LE(signature, 0);
  if (isCentral) header.writeUInt16LE(MADE_BY_UNIX, 4);
  const at = isCentral ? 6 : 4;
  header.writeUInt16LE(VERSION_NEEDED, at);
  header.writeUInt16LE(UTF8_NAMES, at + 2);
  header.writeUInt16LE(entry.method, at + 4);
  header.writeUInt16LE(DOS_DATE, at + 8);
  header.writeUInt32LE(entry.crc, at + 10);
  header.writeUInt32LE(entry.data.byteLength, at + 14);
  header.writeUInt32LE(entry.size, at + 18);
  header.writeUInt16LE(entry.name.byteLength, at + 22);
  if (isCentral) {
    header.writeUInt32LE((entry.mode << 16) >>> 0, 38);
    header.writeUInt32LE(entry.offset ?? 0, 42);
  }
  return header;
}

function endOf(files: number, offset: number, bytes: number): Uint8Array {
  const end = Buffer.alloc(22);
  end.writeUInt32LE(END, 0);
  end.writeUInt16LE(files, 8);
  end.writeUInt16LE(files, 10);
  end.writeUInt32LE(bytes, 12);
  end.writeUInt32LE(offset, 16);
  return end;
}
