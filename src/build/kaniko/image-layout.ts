import { createReadStream } from "node:fs";
import { lstat, readFile, realpath } from "node:fs/promises";
import { join } from "node:path";
import { messageOf, SlessError } from "../../errors/index.ts";
import { type BlobFile, digestOf, isDigest } from "../../registry/index.ts";
import type { Descriptor, ImageIndex, ImageManifest } from "../layer/index.ts";

/** An image in an OCI layout: a folder with `index.json` and `blobs/sha256/` (OCI image specification, "image layout"). */
export interface LaidOutImage {
  readonly manifest: { readonly mediaType: string; readonly bytes: Uint8Array };
  /** The configuration and the layers, in the manifest's order. */
  readonly blobs: readonly BlobFile[];
}

/** Of an index or a manifest. */
const JSON_MAX_BYTES = 4 * 1024 * 1024;

/**
 * Reads the one image of a layout. Commands of a user ran beside the folder, so nothing in it is trusted: links are
 * not followed, and what is no plain file is not opened.
 *
 * @throws SlessError `image_layout_invalid`
 */
export async function readImageLayout(layout: string): Promise<LaidOutImage> {
  const folder = await realpath(layout).catch((error: unknown) => {
    throw invalid(layout, messageOf(error));
  });
  const index = parsed<ImageIndex>(await readSmall(folder, "index.json"), folder, "index.json");
  const images = Array.isArray(index.manifests) ? index.manifests : [];
  const [descriptor, ...others] = images;
  if (!descriptor || others.length > 0) throw invalid(folder, `it holds ${images.length} images; one is expected`);
  const bytes = await readSmall(folder, blobPath(folder, descriptor.digest));
  if (digestOf(bytes) !== descriptor.digest) throw invalid(folder, `${descriptor.digest} holds other bytes`);
  const manifest = parsed<ImageManifest>(bytes, folder, descriptor.digest);
  if (!manifest.config || !Array.isArray(manifest.layers))
    throw invalid(folder, `${descriptor.digest} is no manifest of an image`);
  const blobs = await Promise.all([manifest.config, ...manifest.layers].map((each) => blobFile(folder, each)));
  const mediaType = descriptor.mediaType ?? manifest.mediaType ?? "";
  return { manifest: { mediaType, bytes }, blobs: unique(blobs) };
}

/** A layer that adds nothing may stand in an image twice. */
function unique(blobs: readonly BlobFile[]): BlobFile[] {
  return [...new Map(blobs.map((blob) => [blob.digest, blob])).values()];
}

function blobPath(folder: string, digest: unknown): string {
  if (!isDigest(digest)) throw invalid(folder, `${JSON.stringify(digest)?.slice(0, 100)} is no digest`);
  return join("blobs", "sha256", digest.slice("sha256:".length));
}

async function blobFile(folder: string, { digest }: Descriptor): Promise<BlobFile> {
  const { path, size } = await plainFile(folder, blobPath(folder, digest));
  return { digest, size, read: (from) => createReadStream(path, { start: from }) };
}

async function readSmall(folder: string, name: string): Promise<Uint8Array> {
  const { path, size } = await plainFile(folder, name);
  if (size > JSON_MAX_BYTES) throw invalid(folder, `${name} is larger than ${JSON_MAX_BYTES} bytes`);
  return readFile(path);
}

/** A pipe would be waited for without end, and a link may lead to what only this process may read. */
async function plainFile(folder: string, name: string): Promise<{ path: string; size: number }> {
  const path = join(folder, name);
  try {
    const stat = await lstat(path);
    if (stat.isFile() && (await realpath(path)) === path) return { path, size: stat.size };
  } catch (error) {
    throw invalid(folder, messageOf(error));
  }
  throw invalid(folder, `${name} is no plain file`);
}

function parsed<T>(bytes: Uint8Array, folder: string, name: string): T {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString("utf8"));
    if (value !== null && typeof value === "object" && !Array.isArray(value)) return value as T;
  } catch {
    // Told below; the parser's own words show a part of the file.
  }
  throw invalid(folder, `${name} is no JSON object`);
}

function invalid(layout: string, cause: string): SlessError {
  return new SlessError("image_layout_invalid", { layout, cause });
}
