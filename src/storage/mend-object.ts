import { isSlessError } from "../errors/index.ts";
import type { ObjectStore } from "./object-store.ts";

/** What was where an object should be. */
export type FoundObject = "sound" | "missing" | "damaged";

/**
 * Makes a key hold these bytes: stores what is missing, and replaces what is there with others. It may be stopped at any
 * instant, and done by several at once: at worst the key is missing then, which the next one mends.
 *
 * @param body opened for each time it is read; what it throws is thrown, and what the key held until then is gone only
 *   when it was other bytes
 * @throws SlessError `storage_unavailable`
 */
export async function mendObject(
  objects: Pick<ObjectStore, "read" | "put" | "delete">,
  key: string,
  body: () => AsyncIterable<Uint8Array>,
): Promise<FoundObject> {
  const reading = await objects.read(key);
  if (reading && (await holds(reading.body, body()))) return "sound";
  if (reading) await objects.delete(key);
  await objects.put(key, body());
  return reading ? "damaged" : "missing";
}

async function holds(stored: AsyncIterable<Uint8Array>, wanted: AsyncIterable<Uint8Array>): Promise<boolean> {
  try {
    return await isEqual(stored, wanted);
  } catch (error) {
    if (isSlessError(error, "object_damaged")) return false;
    throw error;
  }
}

/** Compares as it reads: memory holds a piece of each. */
async function isEqual(one: AsyncIterable<Uint8Array>, other: AsyncIterable<Uint8Array>): Promise<boolean> {
  const others = other[Symbol.asyncIterator]();
  let rest: Uint8Array = new Uint8Array();
  try {
    for await (const piece of one) {
      for (let at = 0; at < piece.byteLength; ) {
        if (rest.byteLength === 0) {
          const next = await others.next();
          if (next.done) return false;
          rest = next.value;
        }
        const length = Math.min(rest.byteLength, piece.byteLength - at);
        if (Buffer.compare(rest.subarray(0, length), piece.subarray(at, at + length)) !== 0) return false;
        rest = rest.subarray(length);
        at += length;
      }
    }
    while (rest.byteLength === 0) {
      const next = await others.next();
      if (next.done) return true;
      rest = next.value;
    }
    return false;
  } finally {
    await others.return?.();
  }
}
