import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { Runtime } from "../../runtimes/index.ts";
import { checkHandlerFile } from "../handler-file.ts";

/**
 * Refuses an unpacked source without the file that the entry point names.
 *
 * @throws BuildFault `source_missing`
 */
export async function checkHandlerInFolder(
  source: string,
  entrypoint: string,
  runtime: Pick<Runtime, "handlerExtensions">,
): Promise<void> {
  await checkHandlerFile(entrypoint, runtime, async (path) => {
    const found = await stat(join(source, path)).catch(() => undefined);
    return found?.isFile() === true || found?.isDirectory() === true;
  });
}
