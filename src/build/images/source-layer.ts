import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { BuildRequest } from "../builder.ts";
import { type Layer, type LayerEntry, type LayerFile, makeLayer, makeLayerFile } from "../layer/index.ts";
import type { SourceDeps } from "../open-source.ts";
import { IMAGE_PATHS } from "../plan/index.ts";
import { inLayer } from "./server-layers.ts";
import { entriesBelow, readSource } from "./source-files.ts";

/** A source of so many bytes becomes a layer in memory, which is quicker. */
const IN_MEMORY_BYTES = 1 << 20;

/**
 * Gives `use` the layer of a source, with what stands beside it; a large one is in a file that goes afterwards.
 *
 * @throws what `openSource` and `use` throw
 */
export async function withSourceLayer<T>(
  request: Pick<BuildRequest, "sourceKey" | "sourceDigest">,
  beside: readonly LayerEntry[],
  signal: AbortSignal,
  deps: SourceDeps,
  use: (layer: Layer | LayerFile) => Promise<T>,
): Promise<T> {
  const path = join(deps.temporary, `layer-${randomUUID()}`);
  try {
    return await use(await sourceLayer(request, beside, path, signal, deps));
  } finally {
    await rm(path, { force: true });
  }
}

async function sourceLayer(
  request: Pick<BuildRequest, "sourceKey" | "sourceDigest">,
  beside: readonly LayerEntry[],
  path: string,
  signal: AbortSignal,
  deps: SourceDeps,
): Promise<Layer | LayerFile> {
  const source = await readSource(request, deps, signal);
  try {
    const entries = [...(await entriesBelow(inLayer(IMAGE_PATHS.source), source.files)), ...beside];
    const bytes = source.files.reduce((sum, { size }) => sum + size, 0);
    return await (bytes <= IN_MEMORY_BYTES ? makeLayer(entries) : makeLayerFile(entries, path));
  } finally {
    await source.close();
  }
}
