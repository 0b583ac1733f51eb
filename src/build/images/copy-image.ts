import { RegistryError, type StoredManifest } from "../../registry/index.ts";
import {
  type BaseImage,
  bringBlob,
  type ImageIndex,
  type ImageTarget,
  imageManifestOf,
  isIndex,
  parseJson,
  putTags,
} from "../layer/index.ts";

/**
 * The very same image in another repository; within one registry no blob moves.
 *
 * @returns its digest
 * @throws RegistryError; code `MANIFEST_UNKNOWN` or `BLOB_UNKNOWN` when some of it is gone
 */
export async function copyImage(from: BaseImage, target: ImageTarget): Promise<string> {
  const image = await manifestOf(from, from.digest);
  await bringParts(image, from, target);
  return putTags(target, image);
}

async function bringParts(image: StoredManifest, from: BaseImage, target: ImageTarget): Promise<void> {
  if (isIndex(image)) {
    const { manifests } = parseJson<ImageIndex>(image.bytes, `the index ${image.digest}`);
    for (const { digest } of manifests) {
      const child = await manifestOf(from, digest);
      await bringParts(child, from, target);
      await target.client.putManifest(target.repository, digest, child);
    }
    return;
  }
  const { config, layers } = imageManifestOf(image);
  const isFar = from.host !== target.client.host;
  // From another registry one at a time: its limits are for all.
  if (isFar) for (const blob of [config, ...layers]) await bringBlob(blob, from, target);
  else await Promise.all([config, ...layers].map((blob) => bringBlob(blob, from, target)));
}

async function manifestOf({ client, host, repository }: BaseImage, digest: string): Promise<StoredManifest> {
  const stored = await client.manifest(repository, digest);
  if (stored) return stored;
  throw new RegistryError(404, "MANIFEST_UNKNOWN", `${host}/${repository}@${digest} is gone`);
}
