import { isSlessError, SlessError } from "../../errors/index.ts";
import { isRegistryError, type RegistryClient } from "../../registry/index.ts";
import { type LaidOutImage, readImageLayout } from "./image-layout.ts";

export interface PushRequest {
  /** Folder of an OCI layout that holds one image. */
  readonly layout: string;
  readonly registry: RegistryClient;
  readonly repository: string;
  readonly tag: string;
  /** Repositories of the same registry that may have layers of it, such as its base's: those are not sent. */
  readonly mountFrom: readonly string[];
}

/** Codes of a registry that lost a blob between being asked for it and being told of the image that holds it. */
const LOST = ["BLOB_UNKNOWN", "MANIFEST_BLOB_UNKNOWN"];

/**
 * Pushes the image of a layout; what the registry has is not sent, layers are read as they are sent.
 *
 * @returns digest of the image
 * @throws SlessError `image_layout_invalid`; `image_push_failed` with the registry's words
 */
export async function pushLayout(request: PushRequest): Promise<string> {
  const image = await readImageLayout(request.layout);
  try {
    return await push(image, request).catch((error: unknown) => {
      if (isRegistryError(error) && LOST.includes(error.code)) return push(image, request);
      throw error;
    });
  } catch (error) {
    if (!isRegistryError(error) || isSlessError(error)) throw error;
    const destination = `${request.registry.host}/${request.repository}:${request.tag}`;
    throw new SlessError("image_push_failed", { destination, cause: error.message }, { cause: error });
  }
}

async function push({ manifest, blobs }: LaidOutImage, request: PushRequest): Promise<string> {
  const { registry, repository, tag, mountFrom } = request;
  const others = mountFrom.filter((each) => each !== repository);
  // One after the other: a layer is read from the disk once, and the registry's answer is about the one that failed.
  for (const blob of blobs) await registry.putBlobFile(repository, blob, others);
  return registry.putManifest(repository, tag, manifest);
}
