import { DEFAULT_ENTRYPOINT } from "../apis/index.ts";
import type { Runtime } from "../runtimes/index.ts";
import { resolveBelow } from "./paths.ts";

/**
 * What is missing for an entry point, in words; undefined when a file that can hold it is in the source. The module
 * may be a path (`src/handler.handle`), dotted (`app.handler.handle`) or a package (`handler/index.js`,
 * `handler/__init__.py`).
 *
 * @param has whether the source has a file at this path
 */
export function missingHandler(
  entrypoint: string | undefined,
  runtime: Pick<Runtime, "handlerExtensions">,
  has: (path: string) => boolean,
): string | undefined {
  const entry = entrypoint ?? DEFAULT_ENTRYPOINT;
  const module = entry.slice(0, Math.max(entry.lastIndexOf("."), entry.lastIndexOf(":")));
  for (const candidate of candidatesOf(module, runtime.handlerExtensions)) if (has(candidate)) return undefined;
  const wanted = runtime.handlerExtensions.map((extension) => module + extension);
  const either = wanted.length > 1 ? `one of ${wanted.join(", ")}` : wanted.join();
  return `The entry point ${entry} needs ${either}, which is not in the source`;
}

/** The likeliest first: most sources have it, and there are thousands. */
function* candidatesOf(module: string, extensions: readonly string[]): Generator<string> {
  for (const written of [module, module.replaceAll(".", "/")]) {
    const base = resolveBelow("", written);
    if (base === undefined) continue;
    for (const extension of extensions) {
      yield base + extension;
      if (base.endsWith(extension)) yield base;
      yield `${base}/index${extension}`;
      yield `${base}/__init__${extension}`;
    }
  }
}
