// Reads a large source out of a store, by the way that its arguments name, and tells how much memory that took.
import { join } from "node:path";
import { entriesBelow } from "../../src/build/images/source-files.ts";
import { makeLayerFile } from "../../src/build/layer/index.ts";
import { openSource } from "../../src/build/open-source.ts";
import { endProcess } from "../../src/cli/index.ts";
import { unpackArchive } from "../../src/source/index.ts";
import { openFilesystemStore } from "../../src/storage/filesystem/index.ts";
import { openS3Store } from "../../src/storage/s3/index.ts";

const { store, way, folder, sourceKey, sourceDigest } = JSON.parse(process.argv[2]!);
const objects = "bucket" in store ? await openS3Store(store) : await openFilesystemStore(store.folder);
const before = process.memoryUsage.rss();
let peak = before;
const look = () => {
  peak = Math.max(peak, process.memoryUsage.rss());
};
const looking = setInterval(look, 5);
const archive = await openSource(
  { sourceKey, sourceDigest },
  { objects, limits: { maxBytes: 1 << 30 }, temporary: folder },
  new AbortController().signal,
);
if (way === "folder") await unpackArchive(archive, join(folder, "out"));
else await makeLayerFile(await entriesBelow("source", archive.files), join(folder, "layer"));
const files = archive.files.length;
await archive.close();
look();
clearInterval(looking);
process.stdout.write(JSON.stringify({ files, grownMB: Math.round((peak - before) / 1e6) }));
await endProcess(0);
