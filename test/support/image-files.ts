import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { extract } from "tar-stream";
import type { ImageConfig, ImageManifest } from "../../src/build/layer/index.ts";
import { parseImageReference, type RegistryClient } from "../../src/registry/index.ts";

export interface ImageFile {
  /** `drwxr-xr-x` as an octal number, `755`. */
  readonly mode: string;
  readonly type: string;
  /** Of a link its target. */
  readonly text: string;
  readonly bytes: Uint8Array;
  readonly uid: number;
}

export interface ReadImage {
  readonly config: ImageConfig;
  readonly manifest: ImageManifest;
  /** By path without the first slash, the layers put on each other. */
  readonly files: Readonly<Record<string, ImageFile>>;
}

/** What is in an image of one platform. */
export async function readImage(client: RegistryClient, imageRef: string): Promise<ReadImage> {
  const { repository, digest } = parseImageReference(imageRef);
  const stored = await client.manifest(repository, digest!);
  const manifest = JSON.parse(Buffer.from(stored!.bytes).toString()) as ImageManifest;
  const config = JSON.parse(Buffer.from((await client.blob(repository, manifest.config.digest))!).toString());
  const files: Record<string, ImageFile> = {};
  for (const layer of manifest.layers)
    Object.assign(files, await filesOf((await client.blob(repository, layer.digest))!));
  return { config, manifest, files };
}

async function filesOf(layer: Uint8Array): Promise<Record<string, ImageFile>> {
  const files: Record<string, ImageFile> = {};
  const reader = extract();
  reader.end(gunzipSync(layer));
  for await (const entry of reader) {
    const { name, mode = 0, type, linkname, uid = -1 } = entry.header;
    const bytes = await buffer(entry);
    const path = name.replace(/\/$/, "");
    files[path] = { mode: mode.toString(8), type: type ?? "", text: linkname ?? bytes.toString(), bytes, uid };
  }
  return files;
}
