import { buffer } from "node:stream/consumers";
import { SlessError } from "../../src/errors/index.ts";
import type { ObjectStore } from "../../src/storage/index.ts";

/** An ObjectStore that keeps nothing on disk; `faults` replace single operations. */
export function memoryObjectStore(faults: Partial<ObjectStore> = {}, now = () => new Date()): ObjectStore {
  const blobs = new Map<string, Uint8Array>();
  const times = new Map<string, Date>();
  return {
    async put(key, body) {
      check(key);
      if (blobs.has(key)) return "present";
      const bytes = body instanceof Uint8Array ? Uint8Array.from(body) : await buffer(body);
      // Somebody may have been quicker.
      if (blobs.has(key)) return "present";
      blobs.set(key, bytes);
      times.set(key, now());
      return "stored";
    },
    async get(key) {
      check(key);
      return blobs.get(key);
    },
    async read(key, { signal } = {}) {
      check(key);
      signal?.throwIfAborted();
      const bytes = blobs.get(key);
      return bytes && { bytes: bytes.byteLength, body: inPieces(bytes, signal) };
    },
    async has(key) {
      check(key);
      return blobs.has(key);
    },
    async *list(prefix) {
      yield* [...blobs.keys()].filter((key) => key.startsWith(prefix)).sort();
    },
    async *entries(prefix) {
      for (const key of [...blobs.keys()].filter((one) => one.startsWith(prefix)).sort()) {
        const bytes = blobs.get(key);
        if (bytes) yield { key, bytes: bytes.byteLength, storedAt: times.get(key)! };
      }
    },
    async delete(key) {
      check(key);
      blobs.delete(key);
    },
    ...faults,
  };
}

async function* inPieces(bytes: Uint8Array, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += 1 << 16) {
    signal?.throwIfAborted();
    yield bytes.subarray(at, at + (1 << 16));
  }
}

function check(key: string): void {
  const legal = key.split("/").every((part) => /^[!-[\]-~]+$/.test(part) && part !== "." && part !== "..");
  if (!legal) throw new SlessError("invalid_request", { cause: `${JSON.stringify(key)} is no object key` });
}
