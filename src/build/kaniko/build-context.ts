import { pipeline } from "node:stream";
import { createGzip } from "node:zlib";
import { type Pack, pack } from "tar-stream";
import { addEntry, type LayerEntry } from "../layer/index.ts";

/**
 * A build's files as a gzipped tar, piece by piece: the Dockerfile first, then the files as they come, each folder
 * before what is in it. No more than a few files are in memory.
 *
 * @param files paths without `..`; none of them is `Dockerfile`
 * @throws what reading the files throws
 */
export async function* buildContext(dockerfile: string, files: AsyncIterable<LayerEntry>): AsyncGenerator<Uint8Array> {
  const archive = pack();
  const gzip = createGzip({ level: 6 });
  let fault: unknown;
  pipeline(archive, gzip, () => undefined);
  const filled = fill(archive, dockerfile, files).catch((error: unknown) => {
    fault = error;
    gzip.destroy(error as Error);
  });
  try {
    for await (const chunk of gzip) yield chunk as Uint8Array;
    await filled;
  } catch (error) {
    throw fault ?? error;
  } finally {
    gzip.destroy();
    archive.destroy();
  }
}

async function fill(archive: Pack, dockerfile: string, files: AsyncIterable<LayerEntry>): Promise<void> {
  await addEntry(archive, { path: "Dockerfile", content: Buffer.from(dockerfile) });
  const folders = new Set<string>();
  for await (const file of files) {
    for (const folder of foldersOf(file)) {
      if (folders.has(folder)) continue;
      folders.add(folder);
      await addEntry(archive, { path: folder, folder: true });
    }
    if (!("folder" in file)) await addEntry(archive, file);
  }
  archive.finalize();
}

/** Outermost first; a folder is one of them itself. */
function foldersOf(entry: LayerEntry): string[] {
  const parts = entry.path.split("/");
  const depth = "folder" in entry ? parts.length : parts.length - 1;
  return Array.from({ length: depth }, (_, index) => parts.slice(0, index + 1).join("/"));
}
