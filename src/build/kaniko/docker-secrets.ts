import type { ApiObject } from "../../kubernetes/index.ts";
import { credentialsIn } from "../../registry/index.ts";

export interface NamedSecret {
  readonly namespace: string;
  readonly name: string;
}

/** A Secret of type `kubernetes.io/dockerconfigjson`. */
export interface DockerSecret extends ApiObject {
  type?: string;
  /** Base64. */
  data?: Record<string, string>;
}

export const DOCKER_CONFIG_KEY = ".dockerconfigjson";

/**
 * What a docker config says of one registry and nothing else of it, as the text of another; undefined when it says
 * nothing, or is none.
 */
export function onlyHost(dockerConfig: string, host: string): string | undefined {
  try {
    const { username, password, identityToken } = credentialsIn(dockerConfig, host) ?? {};
    if (username === undefined) return undefined;
    const auth = Buffer.from(`${username}:${password}`).toString("base64");
    const entry = { auth, ...(identityToken === undefined ? {} : { identitytoken: identityToken }) };
    return JSON.stringify({ auths: { [host === "docker.io" ? "https://index.docker.io/v1/" : host]: entry } });
  } catch {
    return undefined;
  }
}

/** The text of the config that a Secret holds. */
export function dockerConfigIn({ data = {} }: DockerSecret): string | undefined {
  const config = data[DOCKER_CONFIG_KEY];
  return config === undefined ? undefined : Buffer.from(config, "base64").toString("utf8");
}
