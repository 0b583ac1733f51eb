/**
 * A runtime as `runtimes/<name>/runtime.yaml` describes it. Command parts may hold the placeholders
 * `{interpreter}` (absolute path of the program found), `{runtime}` (folder of the runtime's own files),
 * `{source}` (the unpacked source), `{deps}` (folder of the installed dependencies) and `{out}` (folder of the image).
 */
export interface Runtime {
  /** `python3.11`; the folder's name. */
  readonly name: string;
  /** `python`, `node`, `go`: for people and for grouping. */
  readonly language: string;
  /** Base image for clusters, `docker.io/library/python:3.11-slim`. */
  readonly baseImage: string;
  readonly interpreter: {
    /** Version wanted, `3.11`. */
    readonly version: string;
    /** Program names, best first: `python3.11`, `python3`. */
    readonly commands: readonly string[];
    readonly versionArgs: readonly string[];
    /** Regular expression whose first group is the version in the output. */
    readonly versionPattern: string;
    /** What a person runs to install it, per operating system or in general. */
    readonly install: string;
  };
  /** Folder with the runtime's own files (the server), absolute. */
  readonly folder: string;
  /** sha256 (hex) over the runtime's own files: part of every build key. */
  readonly digest: string;
  /** Files that decide the dependencies, by name, in the root of the source; sorted. */
  readonly dependencyFiles: readonly string[];
  /** First whose `when` files all exist is run in a folder that holds only the dependency files. Empty = nothing to install. */
  readonly install: readonly { readonly when: readonly string[]; readonly command: readonly string[] }[];
  /** Compiled languages: run in a copy of the source, writes the program into `{out}`. The entry point is then part of the build key. */
  readonly build?: { readonly command: readonly string[] };
  /** Extensions of handler files, best first (`.py`; `.js`, `.mjs`, `.cjs`): `handler.handle` needs `handler` + one of them. */
  readonly handlerExtensions: readonly string[];
  /** Starts the server; environment of `docs/runtimes.md`. */
  readonly start: { readonly command: readonly string[]; readonly env: Readonly<Record<string, string>> };
  /** Environment for install and build commands, beside PATH, HOME and the like. */
  readonly buildEnv: Readonly<Record<string, string>>;
}

/** An interpreter on this machine. */
export interface Interpreter {
  /** Absolute path. */
  readonly path: string;
  /** Version it reports, `3.11.7`. */
  readonly version: string;
  /** It is the version that the runtime names. */
  readonly exact: boolean;
}
