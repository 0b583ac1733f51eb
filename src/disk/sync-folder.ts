import { open } from "node:fs/promises";

/** Makes the names in a folder durable: a file that is synced is lost all the same when the name that leads to it is. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
