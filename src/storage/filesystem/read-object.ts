import { type FileHandle, open } from "node:fs/promises";
import type { ObjectReading } from "../object-store.ts";
import { absentIsUndefined, guarded } from "./disk-faults.ts";

const PIECE_BYTES = 256 * 1024;

/** @param what names the object in errors */
export async function readObject(
  what: string,
  path: string,
  signal: AbortSignal | undefined,
): Promise<ObjectReading | undefined> {
  signal?.throwIfAborted();
  const file = await guarded(what, () => absentIsUndefined(open(path, "r")));
  if (!file) return undefined;
  try {
    const found = await guarded(what, () => file.stat());
    if (found.isFile()) return { bytes: found.size, body: pieces(what, file, found.size, signal) };
  } catch (error) {
    await file.close();
    throw error;
  }
  await file.close();
  return undefined;
}

async function* pieces(
  what: string,
  file: FileHandle,
  bytes: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  try {
    for (let at = 0; at < bytes; ) {
      signal?.throwIfAborted();
      const piece = await guarded(what, () => readPiece(file, at, bytes));
      at += piece.byteLength;
      yield piece;
    }
  } finally {
    await file.close();
  }
}

async function readPiece(file: FileHandle, at: number, bytes: number): Promise<Uint8Array> {
  const length = Math.min(PIECE_BYTES, bytes - at);
  const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(length), 0, length, at);
  if (bytesRead === 0) throw new Error(`it ends after ${at} of ${bytes} bytes`);
  return buffer.subarray(0, bytesRead);
}
