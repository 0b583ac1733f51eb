import type { Runtime } from "../runtimes/index.ts";
import { BuildFault } from "./build-fault.ts";

/**
 * Refuses a source without the file that the entry point names.
 *
 * @param has whether the source has a file or a folder at this path
 * @throws BuildFault `source_missing`
 */
export async function checkHandlerFile(
  entrypoint: string,
  runtime: Pick<Runtime, "handlerExtensions">,
  has: (path: string) => boolean | Promise<boolean>,
): Promise<void> {
  const module = entrypoint.slice(0, Math.max(entrypoint.lastIndexOf("."), entrypoint.lastIndexOf(":")));
  const bases = module.includes("/") ? [module] : [module, module.replaceAll(".", "/")];
  const extensions = runtime.handlerExtensions;
  // A folder is a package: what it needs inside is the language's affair.
  const files = bases.flatMap((base) => [base, ...extensions.map((extension) => base + extension)]);
  for (const file of files) if (await has(file)) return;
  const wanted = extensions.map((extension) => module + extension).join(" or ");
  throw new BuildFault("source_missing", {
    cause: `${wanted}, which spec.entrypoint ${entrypoint} names, is not in the source`,
  });
}

/** A missing handler is the fault of one entry point, not of the source that others may share. */
export function failureId(key: string, entrypoint: string | undefined): string {
  return entrypoint === undefined ? key : `${key} ${entrypoint}`;
}
