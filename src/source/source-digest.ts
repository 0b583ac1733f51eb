import { hashFields } from "../apis/index.ts";
import type { ObjectId } from "./git-reader.ts";

/** A file as the digest sees it; `mode` as Git writes it, `path` relative to the source. */
export interface DigestedFile {
  readonly path: string;
  readonly mode: string;
  readonly id: ObjectId;
}

/**
 * The digest that names a source (design §3): sha256 in hex over the (path, mode, blob id) of its files, sorted by
 * their paths' UTF-8 bytes. Paths must differ and be well-formed text.
 */
export function sourceDigest(files: readonly DigestedFile[]): string {
  const sorted = [...files].sort((a, b) => compareUtf8(a.path, b.path));
  return hashFields(sorted.flatMap(({ path, mode, id }) => [path, mode, id]));
}

const ASCII = /^[\x20-\x7e]*$/;

/** JavaScript orders by UTF-16 units, which differs from UTF-8 beyond the first 65,536 characters. */
function compareUtf8(a: string, b: string): number {
  if (ASCII.test(a) && ASCII.test(b)) return a < b ? -1 : Number(a > b);
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
