import { blobBatches, sizesInBulk } from "../desired/index.ts";
import type { DesiredSource } from "../plan/index.ts";
import type { GitObjects, ObjectId, StoredFile } from "../source/index.ts";

/** Files are read together up to this many bytes: each reading may be a process of its own. */
const BATCH_BYTES = 2 * 1024 * 1024;

/**
 * The files of a source, read when their turn comes: of those of a batch, in the order of their paths, only one is in
 * memory however large the source is.
 *
 * @throws SlessError `object_missing`, also while they are read
 */
export async function storedFiles(git: GitObjects, { files }: DesiredSource): Promise<StoredFile[]> {
  const ordered = [...files].sort((a, b) => (a.path < b.path ? -1 : 1));
  const ids = new Set(ordered.map(({ id }) => id));
  const sizes = await sizesInBulk(git, [...ids]);
  const batchOf = new Map<ObjectId, readonly ObjectId[]>();
  for (const batch of blobBatches(ids, sizes, BATCH_BYTES)) for (const id of batch) batchOf.set(id, batch);
  let latest:
    | { readonly batch: readonly ObjectId[]; readonly contents: Promise<Map<ObjectId, Uint8Array>> }
    | undefined;
  const read = async (id: ObjectId): Promise<Uint8Array> => {
    const batch = batchOf.get(id)!;
    if (latest?.batch !== batch) latest = { batch, contents: git.blobs(batch) };
    return (await latest.contents).get(id)!;
  };
  return ordered.map(({ path, mode, id }) => ({
    ...{ path, mode, id, size: sizes.get(id)! },
    read: () => read(id),
    async *stream() {
      yield await read(id);
    },
  }));
}
