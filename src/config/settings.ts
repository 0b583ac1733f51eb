import { delimiter, join } from "node:path";
import { isNamespaceName, NAMESPACE_MAX_LENGTH } from "../apis/index.ts";
import { SlessError } from "../errors/index.ts";
import { buildEnvironment, type Environment } from "./build-environment.ts";
import { type GarbageSettings, readGarbage } from "./garbage-settings.ts";
import { oneOf, type Parsed, parseNetworks, parseOrigin, parsePort, settingReader } from "./setting-reader.ts";

export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
export const LOG_FORMATS = ["text", "json"] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

export const DEFAULT_PORT = 9090;
export const DEFAULT_DATA = ".sless";

/** Everything that sless takes from its environment and from the flags that stand above it. Frozen. */
export interface Settings {
  /** TCP port of the embedded server; 0 = any free one. `PORT`, `--port`, default 9090. */
  readonly port: number;
  /** Data folder of the embedded mode as given, perhaps relative. `SLESS_DATA`, `--data`, default `.sless`. */
  readonly data: string;
  /** Origin of the server that the client verbs talk to, without a final slash. Default: the embedded server on `port`. */
  readonly endpoint: string;
  /** Bearer token of the client verbs. `SLESS_API_TOKEN`, `--token`. */
  readonly token: string | undefined;
  /** `SLESS_NAMESPACE`, `--namespace`, default `default`. */
  readonly namespace: string;
  /**
   * A cluster that is read directly instead of the server at `endpoint`: only when `--kubeconfig` or `--context` is given.
   * The file without `--kubeconfig`: the first of `KUBECONFIG`, else `~/.kube/config`.
   */
  readonly cluster: { readonly kubeconfig: string; readonly context: string | undefined } | undefined;
  /** Of the server's log; what happens to functions is told by the progress lines. Default `warn`, `text`. */
  readonly log: { readonly level: LogLevel; readonly format: LogFormat };
  /** Colours may be used where the output is a terminal (https://no-color.org). */
  readonly color: boolean;
  /** Folders in which interpreters and git are looked for. */
  readonly path: string;
  /** Home folder, where package managers find the user's own configuration; undefined when the environment has none. */
  readonly home: string | undefined;
  /**
   * Networks beside the public internet from which remote repositories may be fetched, in CIDR form or as single
   * addresses. `SLESS_GIT_NETWORKS`, with commas between them, default none.
   */
  readonly gitNetworks: readonly string[];
  readonly garbage: GarbageSettings;
  /** What dependency installs and builds may see of the environment. */
  readonly buildEnvironment: Readonly<Record<string, string>>;
}

/** Values from the command line; they stand above the environment. */
export interface SettingFlags {
  readonly port?: string;
  readonly data?: string;
  readonly endpoint?: string;
  readonly token?: string;
  readonly namespace?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
}

/**
 * Reads flags and environment once; an empty variable counts as unset. The only reader of the environment.
 *
 * @throws SlessError `settings_invalid` that lists every fault, each with the name of its flag or variable; values of
 *   secrets are not shown.
 */
export function readSettings(env: Environment, flags: SettingFlags = {}): Settings {
  const faults: string[] = [];
  const read = settingReader<keyof SettingFlags>(env, flags, faults);
  const port = read("PORT", "port", parsePort, DEFAULT_PORT);
  const settings: Settings = {
    port,
    data: read("SLESS_DATA", "data", parseFolder, DEFAULT_DATA),
    endpoint: read("SLESS_ENDPOINT", "endpoint", parseOrigin, `http://127.0.0.1:${port}`),
    token: read<string | undefined>("SLESS_API_TOKEN", "token", parseToken, undefined),
    namespace: read("SLESS_NAMESPACE", "namespace", parseNamespace, "default"),
    cluster: clusterOf(env, flags),
    log: Object.freeze({
      level: read("LOG_LEVEL", undefined, oneOf(LOG_LEVELS), "warn"),
      format: read("LOG_FORMAT", undefined, oneOf(LOG_FORMATS), "text"),
    }),
    color: isColorAllowed(env),
    path: env.PATH ?? "",
    home: env.HOME || undefined,
    gitNetworks: read("SLESS_GIT_NETWORKS", undefined, parseNetworks, []),
    garbage: readGarbage(read),
    buildEnvironment: buildEnvironment(env),
  };
  if (faults.length > 0) throw new SlessError("settings_invalid", { cause: faults.join("; ") });
  return Object.freeze(settings);
}

/** The environment does not forbid colours; to be asked before the settings are read, for their own errors. */
export function isColorAllowed(env: Environment): boolean {
  return !env.NO_COLOR;
}

function clusterOf(env: Environment, { kubeconfig, context }: SettingFlags): Settings["cluster"] {
  if (kubeconfig === undefined && context === undefined) return undefined;
  const [first] = (env.KUBECONFIG ?? "").split(delimiter).filter(Boolean);
  return Object.freeze({ kubeconfig: kubeconfig ?? first ?? join(env.HOME ?? "", ".kube/config"), context });
}

function parseFolder(text: string): Parsed<string> {
  if (text === "") return { fault: "is empty: name a folder" };
  return text.includes("\0") ? { fault: "holds a zero byte: name a folder" } : { value: text };
}

function parseToken(text: string): Parsed<string> {
  // Printable ASCII is all that a header may carry; the value itself is never shown.
  return /^[\x21-\x7e]+$/.test(text) ? { value: text } : { fault: "holds characters that no token has" };
}

function parseNamespace(text: string): Parsed<string> {
  return isNamespaceName(text)
    ? { value: text }
    : { fault: `"${text}" is no namespace: use lower-case letters, digits and "-", at most ${NAMESPACE_MAX_LENGTH}` };
}
