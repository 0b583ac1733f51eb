import { delimiter, dirname, isAbsolute, join } from "node:path";
import { expandEnv, type Interpreter, type Runtime } from "../../runtimes/index.ts";

export interface EnvironmentOptions {
  /** A PATH value. */
  readonly path: string;
  /** Folders whose programs builds do not see. */
  readonly excluded: readonly string[];
  /** Home and caches of builds lie here. */
  readonly folder: string;
  /** Proxies, certificates, registries: see `buildSettings`. */
  readonly passThrough: Readonly<Record<string, string>>;
}

/** The whole environment of an install or build command; nothing of the server's own. */
export function buildEnvironment(
  runtime: Runtime,
  interpreter: Interpreter,
  tmp: string,
  options: EnvironmentOptions,
): Record<string, string> {
  const cache = join(options.folder, "cache");
  return {
    // The interpreter's own folder comes first: dependencies are installed with the one that serves.
    PATH: [dirname(interpreter.path), ...searchPath(options)].join(delimiter),
    HOME: join(options.folder, "home"),
    TMPDIR: tmp,
    LANG: "C.UTF-8",
    PIP_CACHE_DIR: join(cache, "pip"),
    npm_config_cache: join(cache, "npm"),
    GOCACHE: join(cache, "go-build"),
    GOPATH: join(cache, "go"),
    GOMODCACHE: join(cache, "go-mod"),
    ...options.passThrough,
    ...expandEnv(runtime.buildEnv, { interpreter: interpreter.path, runtime: runtime.folder }),
  };
}

function searchPath({ path, excluded }: EnvironmentOptions): string[] {
  const isExcluded = (folder: string) => excluded.some((root) => `${folder}/`.startsWith(root.replace(/\/*$/, "/")));
  return path.split(delimiter).filter((folder) => isAbsolute(folder) && !isExcluded(folder));
}
