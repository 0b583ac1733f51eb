import { rename, rm } from "node:fs/promises";

/**
 * Gives a finished folder its name, at once also where a folder has it already. That one is at `aside` then, on the same
 * disk, in the place of what was there: processes that work in it keep their files.
 */
export async function replaceFolder(draft: string, place: string, aside: string): Promise<void> {
  await rm(aside, { recursive: true, force: true });
  await rename(place, aside).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
  await rename(draft, place);
}
