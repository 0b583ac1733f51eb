import { gunzipSync, zstdCompressSync } from "node:zlib";
import { makeLayer } from "../../src/build/layer/index.ts";
import { digestOf, MEDIA_TYPES, type RegistryClient } from "../../src/registry/index.ts";

export interface BaseImageOptions {
  /** Text of its one file, so that another text is another image. Default `base`. */
  readonly content?: string;
  /** Default that of this machine. */
  readonly architecture?: string;
  /** How its layer is packed; default gzip. */
  readonly packed?: "gzip" | "zstd";
}

/** Pushes a small image that functions can stand on, and gives its digest. */
export async function pushBaseImage(
  client: RegistryClient,
  repository: string,
  tag: string,
  {
    content = "base",
    packed = "gzip",
    architecture = process.arch === "arm64" ? "arm64" : "amd64",
  }: BaseImageOptions = {},
): Promise<string> {
  const layer = await makeLayer([{ path: "etc/base", content: new TextEncoder().encode(content) }]);
  const config = json({
    architecture,
    os: "linux",
    config: { Env: ["PATH=/usr/bin:/bin"], Cmd: ["sh"] },
    rootfs: { type: "layers", diff_ids: [layer.diffId] },
    history: [{ created_by: "base" }],
  });
  const packedBytes = packed === "gzip" ? layer.bytes : zstdCompressSync(gunzipSync(layer.bytes));
  const blob = { digest: digestOf(packedBytes), bytes: packedBytes };
  await client.putBlob(repository, blob);
  await client.putBlob(repository, { digest: digestOf(config), bytes: config });
  const mediaType = MEDIA_TYPES.ociManifest;
  const bytes = json({
    schemaVersion: 2,
    mediaType,
    config: { mediaType: MEDIA_TYPES.ociConfig, digest: digestOf(config), size: config.byteLength },
    layers: [
      {
        mediaType: MEDIA_TYPES.ociLayer.replace("gzip", packed),
        digest: blob.digest,
        size: blob.bytes.byteLength,
      },
    ],
  });
  return client.putManifest(repository, tag, { mediaType, bytes });
}

function json(value: object): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}
