/**
 * A runtime as `runtimes/<name>/runtime.yaml` describes it; docs/runtimes.md has the fields and the contract of the
 * server. Command parts and environment values may hold the placeholders of `PLACEHOLDERS`.
 */
export interface Runtime {
  /** `python3.11`; the folder's name. */
  readonly name: string;
  /** `python`, `node`, `go`: for people and for grouping. */
  readonly language: string;
  /** Base image for clusters, `docker.io/library/python:3.11-slim`. */
  readonly baseImage: string;
  /** Compiled languages on clusters: what the program runs on; without it, `baseImage`. */
  readonly runImage?: string;
  /** Files of `baseImage` that `runImage` is given too, absolute (`/etc/ssl/certs/ca-certificates.crt`). */
  readonly runFiles?: readonly string[];
  readonly interpreter: InterpreterWanted;
  /** Folder with the runtime's own files (the server), absolute: the runtime's folder or the one its `server` names. */
  readonly folder: string;
  /** sha256 (hex) over `runtime.yaml` and the server's files: part of every build key. */
  readonly digest: string;
  /** Files that decide the dependencies, by name, in the root of the source; sorted. */
  readonly dependencyFiles: readonly string[];
  /**
   * The first whose `when` files are all there is run with `{deps}` as its working directory, which holds copies of
   * the dependency files and nothing else; what it writes there are the dependencies. None fits = nothing to install.
   */
  readonly install: readonly { readonly when: readonly string[]; readonly command: readonly string[] }[];
  /**
   * Compiled languages: run with `{source}` as its working directory, which it leaves as it is; writes the program
   * into `{out}`. The entry point is then part of the build key.
   */
  readonly build?: { readonly command: readonly string[] };
  /**
   * Name of the folder of `{deps}` to which the image must hold a link of the same name beside `source/`
   * (`node_modules`: ES modules look for packages nowhere else).
   */
  readonly linkDeps?: string;
  /**
   * Small files by name that the image must hold beside `source/` (`package.json`: without it the folders above the
   * image would decide whether a `.js` is an ES module).
   */
  readonly imageFiles?: Readonly<Record<string, string>>;
  /** Extensions of handler files, best first (`.py`; `.js`, `.mjs`, `.cjs`): `handler.handle` needs `handler` + one of them. */
  readonly handlerExtensions: readonly string[];
  /** Starts the server with `{source}` as its working directory. `env` stands below the user's own variables. */
  readonly start: { readonly command: readonly string[]; readonly env: Readonly<Record<string, string>> };
  /** Environment for install and build commands, beside PATH (the interpreter's folder first), HOME and the like. */
  readonly buildEnv: Readonly<Record<string, string>>;
}

export interface InterpreterWanted {
  /** Version wanted, `3.11`: every version that begins with these numbers is exact. */
  readonly version: string;
  /** Oldest version that the server runs on; what is older is never taken. */
  readonly minimum: string;
  /** Program names, best first: `python3.11`, `python3`. */
  readonly commands: readonly string[];
  /** Folders of version managers, looked through after PATH; `~` is the home, `*` one segment with the version in it. */
  readonly folders: readonly string[];
  readonly versionArgs: readonly string[];
  /**
   * Regular expression over the output: the first group is the version; a group named `path`, where there is one, is
   * the real program behind a version manager's shim.
   */
  readonly versionPattern: string;
  /** What a person runs to install it. */
  readonly install: string;
}

/**
 * What commands may name: `{interpreter}` (absolute path of the program found), `{runtime}` (folder of the runtime's
 * own files), `{source}` (the unpacked source), `{deps}` (folder of the installed dependencies), `{out}` (folder of
 * the image, which holds `source/`), `{entrypoint}` (`handler.handle`). What a replica is given at its start (its
 * memory, its limits) comes in its environment.
 */
export const PLACEHOLDERS = ["interpreter", "runtime", "source", "deps", "out", "entrypoint"] as const;
export type Placeholder = (typeof PLACEHOLDERS)[number];

/** Placeholders that have a value when the command runs. */
export const PLACEHOLDERS_OF = {
  install: ["interpreter", "runtime", "deps"],
  build: ["interpreter", "runtime", "source", "out", "entrypoint"],
  start: ["interpreter", "runtime", "source", "deps", "out"],
} as const satisfies Record<string, readonly Placeholder[]>;

/** An interpreter on this machine. */
export interface Interpreter {
  /** Absolute path. */
  readonly path: string;
  /** Version it reports, `3.11.7`. */
  readonly version: string;
  /** It is the version that the runtime names. */
  readonly exact: boolean;
}
