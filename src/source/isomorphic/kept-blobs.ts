import type { ObjectId } from "../git-reader.ts";

/** Together. */
const KEPT_MAX_BYTES = 32 << 20;
const BLOB_MAX_BYTES = 64 << 10;

/** Small blobs that were read to tell their sizes, for whoever asks for them next. */
export interface KeptBlobs {
  add(id: ObjectId, content: Uint8Array): void;
  /** Those of the ids that are kept; they are kept no longer. */
  take(ids: readonly ObjectId[]): Map<ObjectId, Uint8Array>;
  clear(): void;
}

export function keepBlobs(): KeptBlobs {
  const kept = new Map<ObjectId, Uint8Array>();
  let bytes = 0;
  return {
    add(id, content) {
      if (content.length > BLOB_MAX_BYTES || bytes + content.length > KEPT_MAX_BYTES || kept.has(id)) return;
      kept.set(id, content);
      bytes += content.length;
    },
    take(ids) {
      const taken = new Map<ObjectId, Uint8Array>();
      for (const id of ids) {
        const content = kept.get(id);
        if (content === undefined) continue;
        kept.delete(id);
        bytes -= content.length;
        taken.set(id, content);
      }
      return taken;
    },
    clear() {
      kept.clear();
      bytes = 0;
    },
  };
}
