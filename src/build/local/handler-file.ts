import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { Runtime } from "../../runtimes/index.ts";
import { BuildFault } from "./build-fault.ts";

/**
 * Refuses a source without the file that the entry point names.
 *
 * @throws BuildFault `source_missing`
 */
export async function checkHandlerFile(
  source: string,
  entrypoint: string,
  runtime: Pick<Runtime, "handlerExtensions">,
): Promise<void> {
  const module = entrypoint.slice(0, Math.max(entrypoint.lastIndexOf("."), entrypoint.lastIndexOf(":")));
  const bases = module.includes("/") ? [module] : [module, module.replaceAll(".", "/")];
  const extensions = runtime.handlerExtensions;
  const files = bases.flatMap((base) => [base, ...extensions.map((extension) => base + extension)]);
  // A folder is a package: what it needs inside is the language's affair.
  const found = await Promise.all(files.map((file) => stat(join(source, file)).catch(() => undefined)));
  if (found.some((one) => one?.isFile() || one?.isDirectory())) return;
  const wanted = extensions.map((extension) => module + extension).join(" or ");
  throw new BuildFault("source_missing", {
    cause: `${wanted}, which spec.entrypoint ${entrypoint} names, is not in the source`,
  });
}
