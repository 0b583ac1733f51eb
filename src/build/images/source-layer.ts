import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { type Layer, type LayerEntry, type LayerFile, makeLayer, makeLayerFile } from "../layer/index.ts";
import { IMAGE_PATHS } from "../plan/index.ts";
import { inLayer } from "./server-layers.ts";
import { entriesBelow, type SourceFiles } from "./source-files.ts";

/** A source of so many bytes becomes a layer in memory, which is quicker. */
const IN_MEMORY_BYTES = 1 << 20;

/**
 * Gives `use` the layer of a source, with what stands beside it; a large one is in a file of `folder` that goes afterwards.
 *
 * @throws what reading the files and `use` throw; the system's error when the disk refuses
 */
export async function withSourceLayer<T>(
  { files }: Pick<SourceFiles, "files">,
  beside: readonly LayerEntry[],
  folder: string,
  use: (layer: Layer | LayerFile) => Promise<T>,
): Promise<T> {
  const entries = [...(await entriesBelow(inLayer(IMAGE_PATHS.source), files)), ...beside];
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  if (bytes <= IN_MEMORY_BYTES) return use(await makeLayer(entries));
  const path = join(folder, `layer-${randomUUID()}`);
  try {
    return await use(await makeLayerFile(entries, path));
  } finally {
    await rm(path, { force: true });
  }
}
