import { isIP } from "node:net";
import type { Environment } from "./build-environment.ts";

/** A text turned into a value, or what is wrong with it. */
export type Parsed<T> = { readonly value: T } | { readonly fault: string };

/** What is wrong with the settings, each with the name of its flag or variable. */
export type Faults = string[];

/** Reads one setting: the flag stands above the variable, an empty variable counts as unset, a fault is noted. */
export type SettingReader<Flag extends string> = <T>(
  variable: string,
  flag: Flag | undefined,
  parse: (text: string) => Parsed<T>,
  fallback: T,
) => T;

export function settingReader<Flag extends string>(
  env: Environment,
  flags: Partial<Record<Flag, string>>,
  faults: Faults,
): SettingReader<Flag> {
  return (variable, flag, parse, fallback) => {
    const given = flag === undefined ? undefined : flags[flag];
    const text = given ?? (env[variable] || undefined);
    if (text === undefined) return fallback;
    const parsed = parse(text);
    if ("value" in parsed) return parsed.value;
    faults.push(`${given === undefined ? variable : `--${flag}`} ${parsed.fault}`);
    return fallback;
  };
}

export function parsePort(text: string): Parsed<number> {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  return port <= 65535 ? { value: port } : { fault: `"${text}" is no port: use 1 to 65535, or 0 for any free one` };
}

export function parseText(text: string): Parsed<string> {
  return text.includes("\0") ? { fault: "holds a zero byte" } : { value: text };
}

/** The http(s) address of a server that sless talks to, or that it has itself, perhaps with a path that it is below. */
export function parseEndpoint(text: string): Parsed<string> {
  return endpointIn(text, "leave it out (the command line's own goes into SLESS_API_TOKEN)");
}

/** The address of a sless server that is called: its paths begin at the root. */
export function parseOrigin(text: string): Parsed<string> {
  const parsed = parseEndpoint(text);
  if ("fault" in parsed) return parsed;
  const { origin } = new URL(text);
  return parsed.value === origin ? parsed : { fault: `holds a path: write ${origin}` };
}

/** The address of an S3 server. */
export function parseS3Endpoint(text: string): Parsed<string> {
  return endpointIn(text, "put it into S3_ACCESS_KEY and S3_SECRET_KEY");
}

function endpointIn(text: string, placeOfCredentials: string): Parsed<string> {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !["http:", "https:"].includes(url.protocol))
    return { fault: "is no http(s) address: write for example http://127.0.0.1:9090" };
  if (url.username || url.password) return { fault: `holds a credential: ${placeOfCredentials}` };
  return { value: `${url.origin}${url.pathname}`.replace(/\/+$/, "") };
}

export function parseNetworks(text: string): Parsed<readonly string[]> {
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

export function oneOf<T extends string>(values: readonly T[]): (text: string) => Parsed<T> {
  return (text) => {
    const value = values.find((known) => known === text.toLowerCase());
    return value ? { value } : { fault: `"${text}" is none of ${values.join(", ")}` };
  };
}

export function parsePositive(text: string): Parsed<number> {
  const value = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  return value > 0 ? { value } : { fault: `"${text}" is no whole number above 0` };
}

export function parseNames(text: string): Parsed<readonly string[]> {
  return { value: Object.freeze(text.split(/[\s,]+/).filter(Boolean)) };
}
