import { isIP } from "node:net";
import { NAMESPACE_MAX_LENGTH, NAMESPACE_PATTERN } from "../apis/index.ts";
import { SlessError } from "../errors/index.ts";
import { buildEnvironment, type Environment } from "./build-environment.ts";

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
}

/** A text turned into a value, or what is wrong with it. */
type Parsed<T> = { readonly value: T } | { readonly fault: string };

/**
 * Reads flags and environment once; an empty variable counts as unset. The only reader of the environment.
 *
 * @throws SlessError `settings_invalid` that lists every fault, each with the name of its flag or variable; values of
 *   secrets are not shown.
 */
export function readSettings(env: Environment, flags: SettingFlags = {}): Settings {
  const faults: string[] = [];
  function read<T>(
    variable: string,
    flag: keyof SettingFlags | undefined,
    parse: (text: string) => Parsed<T>,
    fallback: T,
  ): T {
    const given = flag === undefined ? undefined : flags[flag];
    const text = given ?? (env[variable] || undefined);
    if (text === undefined) return fallback;
    const parsed = parse(text);
    if ("value" in parsed) return parsed.value;
    faults.push(`${given === undefined ? variable : `--${flag}`} ${parsed.fault}`);
    return fallback;
  }

  const port = read("PORT", "port", parsePort, DEFAULT_PORT);
  const settings: Settings = {
    port,
    data: read("SLESS_DATA", "data", parseFolder, DEFAULT_DATA),
    endpoint: read("SLESS_ENDPOINT", "endpoint", parseEndpoint, `http://127.0.0.1:${port}`),
    token: read<string | undefined>("SLESS_API_TOKEN", "token", parseToken, undefined),
    namespace: read("SLESS_NAMESPACE", "namespace", parseNamespace, "default"),
    log: Object.freeze({
      level: read("LOG_LEVEL", undefined, oneOf(LOG_LEVELS), "warn"),
      format: read("LOG_FORMAT", undefined, oneOf(LOG_FORMATS), "text"),
    }),
    color: isColorAllowed(env),
    path: env.PATH ?? "",
    home: env.HOME || undefined,
    gitNetworks: read("SLESS_GIT_NETWORKS", undefined, parseNetworks, []),
    buildEnvironment: buildEnvironment(env),
  };
  if (faults.length > 0) throw new SlessError("settings_invalid", { cause: faults.join("; ") });
  return Object.freeze(settings);
}

/** The environment does not forbid colours; to be asked before the settings are read, for their own errors. */
export function isColorAllowed(env: Environment): boolean {
  return !env.NO_COLOR;
}

function parsePort(text: string): Parsed<number> {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  return port <= 65535 ? { value: port } : { fault: `"${text}" is no port: use 1 to 65535, or 0 for any free one` };
}

function parseFolder(text: string): Parsed<string> {
  if (text === "") return { fault: "is empty: name a folder" };
  return text.includes("\0") ? { fault: "holds a zero byte: name a folder" } : { value: text };
}

function parseEndpoint(text: string): Parsed<string> {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !["http:", "https:"].includes(url.protocol))
    return { fault: "is no http(s) address: write for example http://127.0.0.1:9090" };
  if (url.username || url.password) return { fault: "holds a credential: put it into SLESS_API_TOKEN" };
  return { value: `${url.origin}${url.pathname}`.replace(/\/+$/, "") };
}

function parseToken(text: string): Parsed<string> {
  // Printable ASCII is all that a header may carry; the value itself is never shown.
  return /^[\x21-\x7e]+$/.test(text) ? { value: text } : { fault: "holds characters that no token has" };
}

function parseNamespace(text: string): Parsed<string> {
  return text.length <= NAMESPACE_MAX_LENGTH && new RegExp(NAMESPACE_PATTERN).test(text)
    ? { value: text }
    : { fault: `"${text}" is no namespace: use lower-case letters, digits and "-", at most ${NAMESPACE_MAX_LENGTH}` };
}

function parseNetworks(text: string): Parsed<readonly string[]> {
  const networks = text.split(/[\s,]+/).filter(Boolean);
  const wrong = networks.find((network) => !isNetwork(network));
  return wrong === undefined
    ? { value: Object.freeze(networks) }
    : { fault: `"${wrong}" is no network: write for example 10.0.0.0/8 or fd00::/8` };
}

function isNetwork(text: string): boolean {
  const [, address = "", bits] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const version = isIP(address);
  return version !== 0 && Number(bits ?? 0) <= (version === 4 ? 32 : 128);
}

function oneOf<T extends string>(values: readonly T[]): (text: string) => Parsed<T> {
  return (text) => {
    const value = values.find((known) => known === text.toLowerCase());
    return value ? { value } : { fault: `"${text}" is none of ${values.join(", ")}` };
  };
}
