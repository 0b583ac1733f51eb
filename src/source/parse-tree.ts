import type { TreeEntry, TreeMode } from "./git-reader.ts";

/**
 * Entries of a raw tree object. Names come as they stand there, and a hostile tree may hold any: `..`, slashes, bytes
 * that are no UTF-8 (as U+FFFD). `pathFault` judges them.
 *
 * @param idBytes 20 (sha1) or 32 (sha256)
 * @returns undefined when it is no well-formed tree.
 */
export function parseTree(content: Uint8Array, idBytes: number): TreeEntry[] | undefined {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  const entries: TreeEntry[] = [];
  let at = 0;
  while (at < bytes.length) {
    const space = bytes.indexOf(0x20, at);
    const zero = space < 0 ? -1 : bytes.indexOf(0, space + 1);
    const end = zero + 1 + idBytes;
    if (space - at > 7 || zero <= space + 1 || end > bytes.length) return undefined;
    const mode = modeOf(bytes.toString("latin1", at, space));
    if (mode === undefined) return undefined;
    entries.push({ name: bytes.toString("utf8", space + 1, zero), mode, id: bytes.toString("hex", zero + 1, end) });
    at = end;
  }
  // A copy is as large as it must be; an array that grew is not.
  return entries.slice();
}

/** As Git reads the modes of old or odd writers: any regular file is 644 or, if its owner may run it, 755. */
function modeOf(octal: string): TreeMode | undefined {
  // Constants, not the text that was read: there are as many of it as files.
  if (octal === "100644") return "100644";
  if (octal === "40000") return "40000";
  if (octal === "100755") return "100755";
  const mode = /^[0-7]+$/.test(octal) ? Number.parseInt(octal, 8) : 0;
  switch (mode & 0o170000) {
    case 0o100000:
      return mode & 0o100 ? "100755" : "100644";
    case 0o040000:
      return "40000";
    case 0o120000:
      return "120000";
    case 0o160000:
      return "160000";
    default:
      return undefined;
  }
}
