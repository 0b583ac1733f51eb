import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes a folder with those above it; one that is there stays as it is. Node's own recursive `mkdir` never ends where
 * the system says ENOENT of a folder whose parent is there, as `/proc` does.
 *
 * @param mode of each folder that is made, less the umask
 * @throws the system's error, of the folder that could not be made
 */
export function makeFolder(path: string, mode = 0o777): void {
  try {
    mkdirSync(path, mode);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (isFolder(path)) return;
    if (code !== "ENOENT" || isFolder(dirname(path))) throw error;
    makeFolder(dirname(path), mode);
    makeFolder(path, mode);
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
