import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type LayerEntry, makeLayer } from "../../src/build/layer/index.ts";
import { digestOf, MEDIA_TYPES } from "../../src/registry/index.ts";

export interface WrittenLayout {
  /** Of the image. */
  readonly digest: string;
  readonly layers: readonly string[];
}

/** Writes an image of these layers as an OCI layout, as an image builder leaves it. */
export async function writeImageLayout(
  folder: string,
  layers: readonly (readonly LayerEntry[])[],
): Promise<WrittenLayout> {
  await mkdir(join(folder, "blobs", "sha256"), { recursive: true });
  const put = async (mediaType: string, bytes: Uint8Array) => {
    const digest = digestOf(bytes);
    await writeFile(join(folder, "blobs", "sha256", digest.slice("sha256:".length)), bytes);
    return { mediaType, digest, size: bytes.byteLength };
  };
  const json = (value: object) => new TextEncoder().encode(JSON.stringify(value));
  const made = await Promise.all(layers.map(makeLayer));
  const stored = await Promise.all(made.map(({ bytes }) => put(MEDIA_TYPES.ociLayer, bytes)));
  const rootfs = { type: "layers", diff_ids: made.map(({ diffId }) => diffId) };
  const config = await put(MEDIA_TYPES.ociConfig, json({ os: "linux", architecture: "amd64", config: {}, rootfs }));
  const image = { schemaVersion: 2, mediaType: MEDIA_TYPES.ociManifest, config, layers: stored };
  const descriptor = await put(MEDIA_TYPES.ociManifest, json(image));
  await writeFile(join(folder, "oci-layout"), '{"imageLayoutVersion":"1.0.0"}');
  await writeFile(join(folder, "index.json"), json({ schemaVersion: 2, manifests: [descriptor] }));
  return { digest: descriptor.digest, layers: stored.map(({ digest }) => digest) };
}
