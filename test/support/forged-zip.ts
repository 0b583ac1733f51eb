import { crc32, deflateRawSync } from "node:zlib";

/** An entry as no honest tool writes it. */
export interface ForgedEntry {
  readonly name: string | Uint8Array;
  readonly content?: string | Uint8Array;
  /** Unix mode with the file's type; default 0o100644. */
  readonly mode?: number;
  /** The size that the directory declares; default the true one. */
  readonly declaredSize?: number;
  readonly crc?: number;
  readonly flags?: number;
  readonly method?: 0 | 8 | 12;
  /** Where the bytes of the first entry are are those of this one, too, of the same content. */
  readonly isOverFirst?: boolean;
}

const UTF8 = 0x800;

/** A zip of any entries, byte by byte, without a check of what they say. */
export function forgedZip(entries: readonly ForgedEntry[]): Uint8Array {
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const entry of entries) {
    const name = Buffer.from(entry.name as string);
    const content = Buffer.from((entry.content ?? "") as string);
    const method = entry.method ?? 8;
    const data = method === 8 ? deflateRawSync(content, { level: 9 }) : content;
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(entry.flags ?? UTF8, 2);
    common.writeUInt16LE(method, 4);
    common.writeUInt16LE(0x21, 8);
    common.writeUInt32LE(entry.crc ?? crc32(content), 10);
    common.writeUInt32LE(data.length, 14);
    common.writeUInt32LE(entry.declaredSize ?? content.length, 18);
    common.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([Buffer.from("PK\x03\x04"), common, name, data]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(((entry.mode ?? 0o100644) << 16) >>> 0, 6);
    rest.writeUInt32LE(entry.isOverFirst ? 0 : offset, 10);
    directory.push(Buffer.from("PK\x01\x02\x14\x03", "latin1"), common, rest, name);
    if (entry.isOverFirst) continue;
    locals.push(local);
    offset += local.length;
  }
  const central = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", "latin1");
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, central, end]);
}
