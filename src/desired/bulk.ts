import type { GitObjects, ObjectId } from "../source/index.ts";

/** So many ids per request: enough to keep git busy, few enough to let other work in between. */
const IDS = 512;
const BYTES = 8 * 1024 * 1024;

/** Sizes of many blobs. */
export async function sizesInBulk(git: GitObjects, ids: readonly ObjectId[]): Promise<Map<ObjectId, number>> {
  return ids.length === 0 ? new Map() : git.sizes([...new Set(ids)]);
}

/** Hands over the contents of blobs, one batch after the other, so that few are in memory at a time; waits for `use`. */
export async function readInBulk(
  git: GitObjects,
  ids: readonly ObjectId[],
  sizes: ReadonlyMap<ObjectId, number>,
  use: (id: ObjectId, bytes: Uint8Array) => unknown,
): Promise<void> {
  for (const batch of blobBatches(ids, sizes)) {
    for (const [id, bytes] of await git.blobs(batch)) await use(id, bytes);
  }
}

/** Blobs that are asked for at a time, in the order given: at most `maxBytes` of them, or one that is larger. */
export function* blobBatches(
  ids: Iterable<ObjectId>,
  sizes: ReadonlyMap<ObjectId, number>,
  maxBytes: number = BYTES,
): Generator<ObjectId[]> {
  let batch: ObjectId[] = [];
  let bytes = 0;
  for (const id of ids) {
    const size = sizes.get(id) ?? 0;
    if (batch.length > 0 && (batch.length >= IDS || bytes + size > maxBytes)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(id);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}
