import { expandCommand, expandEnv, type Runtime } from "../../runtimes/index.ts";
import { IMAGE_PATHS } from "./image-paths.ts";

/** Folders of a build context, beside the Dockerfile. */
export const CONTEXT_FOLDERS = { dependencies: "deps", source: "src", runtime: "runtime" } as const;

/** What a Dockerfile is made of. */
export interface DockerfileParts {
  readonly runtime: Pick<Runtime, "interpreter" | "build" | "buildEnv" | "runFiles">;
  /** What commands run on. */
  readonly base: string;
  /** What a compiled program runs on; default: `base`. */
  readonly runBase?: string | undefined;
  readonly install?: readonly string[] | undefined;
  readonly entrypoint: string;
  /** Addresses of proxies and package registries, in the environment of commands; no credentials: images show them. */
  readonly addresses: Readonly<Record<string, string>>;
}

/** Installs dependencies from their own files alone. The same parts make the same text. */
export function depsDockerfile(parts: DockerfileParts): string {
  return text([
    `FROM ${parts.base}`,
    "USER 0",
    ...serverIn(parts, parts.install),
    `COPY ${CONTEXT_FOLDERS.dependencies}/ ${IMAGE_PATHS.deps}/`,
    `WORKDIR ${IMAGE_PATHS.deps}`,
    run(parts.install ?? [], parts),
  ]);
}

/** Installs dependencies where the source stands, because they reach into it. */
export function sourceDockerfile(parts: DockerfileParts): string {
  return text([
    `FROM ${parts.base}`,
    "USER 0",
    ...serverIn(parts, parts.install),
    `COPY ${CONTEXT_FOLDERS.source}/ ${IMAGE_PATHS.source}/`,
    `WORKDIR ${IMAGE_PATHS.deps}`,
    `WORKDIR ${IMAGE_PATHS.source}`,
    run(parts.install ?? [], parts),
  ]);
}

/** Compiles a program, and leaves what compiled it behind. */
export function programDockerfile(parts: DockerfileParts): string {
  const { runtime, base, runBase = base, install } = parts;
  return text([
    `FROM ${base} AS build`,
    "USER 0",
    `COPY ${CONTEXT_FOLDERS.runtime}/ ${IMAGE_PATHS.runtime}/`,
    `WORKDIR ${IMAGE_PATHS.deps}`,
    ...(install ? [`COPY ${CONTEXT_FOLDERS.dependencies}/ ./`, run(install, parts)] : []),
    `WORKDIR ${OUT}`,
    `COPY ${CONTEXT_FOLDERS.source}/ ${IMAGE_PATHS.source}/`,
    `WORKDIR ${IMAGE_PATHS.source}`,
    run(runtime.build?.command ?? [], parts),
    `FROM ${runBase}`,
    "USER 0",
    ...(runtime.runFiles ?? []).map((file) => `COPY --from=build ${file} ${file}`),
    ...(install ? [`COPY --from=build ${IMAGE_PATHS.deps}/ ${IMAGE_PATHS.deps}/`] : []),
    `COPY --from=build ${OUT}/ ${IMAGE_PATHS.out}/`,
  ]);
}

/** Does a command or a value of the environment name the server's files? */
export function namesServer(parts: readonly string[]): boolean {
  return parts.some((part) => part.includes("{runtime}"));
}

/** What a compiler writes stands alone, so that it can be taken as a whole. */
const OUT = "/sless/out";
/** Homes and caches of commands; nothing of it stays in the image. */
const SCRATCH = "/tmp/sless-build";
const WITH_SCRATCH = `mkdir -p ${SCRATCH} && "$@"; code=$?; rm -rf ${SCRATCH}; exit $code`;

function serverIn({ runtime }: DockerfileParts, command: readonly string[] = []): string[] {
  const isNamed = namesServer([...command, ...Object.values(runtime.buildEnv)]);
  return isNamed ? [`COPY ${CONTEXT_FOLDERS.runtime}/ ${IMAGE_PATHS.runtime}/`] : [];
}

/** One step, so that nothing but what the command made is in its layer. */
function run(command: readonly string[], { runtime, entrypoint, addresses }: DockerfileParts): string {
  const [interpreter = ""] = runtime.interpreter.commands;
  const { source, deps, runtime: server } = IMAGE_PATHS;
  const placeholders = { interpreter, runtime: server, source, deps, out: OUT, entrypoint };
  const env = {
    HOME: SCRATCH,
    TMPDIR: SCRATCH,
    LANG: "C.UTF-8",
    PIP_CACHE_DIR: `${SCRATCH}/pip`,
    npm_config_cache: `${SCRATCH}/npm`,
    GOCACHE: `${SCRATCH}/go-build`,
    GOPATH: `${SCRATCH}/go`,
    ...addresses,
    ...expandEnv(runtime.buildEnv, placeholders),
  };
  const settings = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const expanded = expandCommand(command, placeholders);
  return `RUN ${JSON.stringify(["/bin/sh", "-c", WITH_SCRATCH, "sh", "env", ...settings, ...expanded])}`;
}

function text(lines: readonly string[]): string {
  return `${lines.join("\n")}\n`;
}
