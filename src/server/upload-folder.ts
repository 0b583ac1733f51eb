import { randomUUID } from "node:crypto";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isSlessError, messageOf, SlessError } from "../errors/index.ts";

/** Where uploads stay while they are read. */
export interface UploadFolder {
  /**
   * Writes a body to a file, gives that to `use`, and removes it whatever happens.
   *
   * @throws SlessError `storage_unavailable` when the disk refuses; and what the body and `use` throw
   */
  withFile<T>(body: AsyncIterable<Uint8Array>, use: (path: string) => Promise<T>): Promise<T>;
}

/**
 * Makes a folder that is this process's alone; what a process left in it that was killed is removed.
 *
 * @throws SlessError `storage_unavailable`
 */
export async function openUploadFolder(folder: string): Promise<UploadFolder> {
  try {
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw refused(`The folder ${folder}`, error);
  }
  return {
    async withFile(body, use) {
      const path = join(folder, randomUUID());
      try {
        await writeFile(path, body, { flag: "wx", mode: 0o600 }).catch((error: unknown) => {
          throw isSlessError(error) ? error : refused("The upload", error);
        });
        return await use(path);
      } finally {
        await rm(path, { force: true });
      }
    },
  };
}

function refused(what: string, error: unknown): SlessError {
  return new SlessError("storage_unavailable", { what, cause: messageOf(error) }, { cause: error });
}
