import type { DesiredSource } from "../plan/index.ts";
import type { GitObjects, StoredFile } from "../source/index.ts";

/** Files are read together up to this many bytes: each reading may be a process of its own. */
const BATCH_BYTES = 2 * 1024 * 1024;

/**
 * The files of a source, read when their turn comes: of those of a batch, in the order of their paths, only one is in
 * memory however large the source is.
 *
 * @throws SlessError `object_missing`, also while they are read
 */
export async function storedFiles(git: GitObjects, { files }: DesiredSource): Promise<StoredFile[]> {
  const sizes = await git.sizes([...new Set(files.map(({ id }) => id))]);
  let latest: { readonly batch: Batch; readonly contents: Promise<Map<string, Uint8Array>> } | undefined;
  const read = async (id: string, batch: Batch): Promise<Uint8Array> => {
    if (latest?.batch !== batch) latest = { batch, contents: git.blobs([...batch.ids]) };
    return (await latest.contents).get(id)!;
  };
  let batch: Batch = { ids: new Set(), bytes: 0 };
  return [...files]
    .sort((a, b) => (a.path < b.path ? -1 : 1))
    .map(({ path, mode, id }) => {
      const size = sizes.get(id)!;
      if (batch.bytes > 0 && batch.bytes + size > BATCH_BYTES) batch = { ids: new Set(), bytes: 0 };
      batch.ids.add(id);
      batch.bytes += size;
      const own = batch;
      return {
        ...{ path, mode, id, size },
        read: () => read(id, own),
        async *stream() {
          yield await read(id, own);
        },
      };
    });
}

interface Batch {
  readonly ids: Set<string>;
  bytes: number;
}
