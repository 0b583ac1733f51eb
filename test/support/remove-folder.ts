import { rm } from "node:fs/promises";

/** Removes a folder in which a process that is about to end may still write. */
export function removeFolder(path: string): Promise<void> {
  return rm(path, { recursive: true, force: true, maxRetries: 20 });
}
