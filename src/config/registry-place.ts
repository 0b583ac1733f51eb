import type { Parsed } from "./setting-reader.ts";

/** Where images go: `registry.example.org/functions`. */
export interface RegistryPlace {
  /** With its port. */
  readonly host: string;
  /** What every repository's name begins with: empty, or ending in `/`. */
  readonly prefix: string;
}

/** What references of images take for a host: with a dot, a port, or `localhost`. */
const HOST = /^(?:localhost|[a-z0-9-]+(?:\.[a-z0-9-]+)+|\[[0-9a-f:]+\]|[a-z0-9-]+(?=:))(?::\d{1,5})?$/i;
/** A component of a repository's name: https://github.com/opencontainers/distribution-spec/blob/main/spec.md#pulling-manifests */
const COMPONENT = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$/;
/** Names have at most 255 characters, and sless adds some of its own. */
const PREFIX_MAX = 100;

export function parseRegistryPlace(text: string): Parsed<RegistryPlace> {
  const [host = "", ...path] = text.split("/");
  if (!isHost(host)) return noHost(text);
  const prefix = path.map((component) => `${component}/`).join("");
  if (!path.every((component) => COMPONENT.test(component)) || prefix.length > PREFIX_MAX) {
    return {
      fault: `"${text.slice(0, 100)}" is no place in a registry: write for example registry.example.org/functions, in lower case`,
    };
  }
  return { value: Object.freeze({ host: host.toLowerCase(), prefix }) };
}

export function parseRegistryHost(text: string): Parsed<string> {
  return isHost(text) ? { value: text.toLowerCase() } : noHost(text);
}

function isHost(text: string): boolean {
  const [, port = "443"] = /:(\d+)$/.exec(text) ?? [];
  return HOST.test(text) && Number(port) >= 1 && Number(port) <= 65_535;
}

function noHost(text: string): { readonly fault: string } {
  // What stands before it may be a password.
  if (text.includes("@"))
    return { fault: "holds a credential or a digest: name the host alone; credentials come from a docker config" };
  return {
    fault: `"${text.slice(0, 100)}" is no host of a registry: write for example 127.0.0.1:5000, without http://`,
  };
}
