import { randomUUID } from "node:crypto";
import { readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { ImageFolders } from "./image-folders.ts";

interface Removal {
  readonly images: ImageFolders;
  readonly folder: string;
  /** A build or a workload wants this image. */
  readonly isWanted: (key: string) => boolean;
}

/**
 * Removes an image, unless it is wanted: whoever asks for one says so before he looks whether it is there.
 *
 * @returns whether it is gone
 */
export async function removeImage(key: string, { images, folder, isWanted }: Removal): Promise<boolean> {
  if (isWanted(key)) return false;
  const place = images.folderOf(key);
  const doomed = join(folder, "tmp", `doomed-${randomUUID()}`);
  try {
    await rename(place, doomed);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return true;
    throw error;
  }
  // A build that did not find it may have made it anew: then that one stays.
  if (isWanted(key)) await rename(doomed, place).catch(() => undefined);
  await rm(doomed, { recursive: true, force: true });
  return !isWanted(key);
}

/** Bytes of the files below a folder; links count for nothing, and none is followed. */
export async function bytesBelow(folder: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
    const at = join(folder, entry.name);
    if (entry.isDirectory()) bytes += await bytesBelow(at);
    if (entry.isFile()) bytes += (await stat(at).catch(() => undefined))?.size ?? 0;
  }
  return bytes;
}
