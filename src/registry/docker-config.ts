import { SlessError } from "../errors/index.ts";

export interface RegistryCredentials {
  readonly username: string;
  readonly password: string;
  /** OAuth2 refresh token instead of a password, as `docker login` of some clouds leaves it. */
  readonly identityToken?: string;
}

interface Entry {
  readonly auth?: string;
  readonly username?: string;
  readonly password?: string;
  readonly identitytoken?: string;
}

const DOCKER_HUB_KEYS = ["https://index.docker.io/v1/", "index.docker.io", "registry-1.docker.io", "docker.io"];

/**
 * The credentials of a registry in a Docker `config.json` (`.dockerconfigjson` of a Secret); undefined when there are none.
 *
 * @throws SlessError `invalid_request` when the text is no such file; it shows nothing of it
 */
export function credentialsIn(dockerConfig: string, host: string): RegistryCredentials | undefined {
  const auths = authsOf(dockerConfig);
  const keys = host === "docker.io" ? DOCKER_HUB_KEYS : [host, `https://${host}`, `https://${host}/`, `http://${host}`];
  const entry = keys.map((key) => (Object.hasOwn(auths, key) ? auths[key] : undefined)).find(Boolean);
  return entry && fromEntry(entry);
}

function authsOf(text: string): Readonly<Record<string, Entry>> {
  try {
    const config = JSON.parse(text) as { auths?: Record<string, Entry> };
    const { auths = {} } = config;
    if (isMap(config) && isMap(auths)) return auths;
  } catch {
    // Its content is secret: not a word of it goes on.
  }
  throw new SlessError("invalid_request", { cause: "the registry's secret is no Docker config.json" });
}

function isMap(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function fromEntry({ auth, username, password, identitytoken }: Entry): RegistryCredentials | undefined {
  const [name = "", ...rest] = auth ? Buffer.from(auth, "base64").toString("utf8").split(":") : [];
  const credentials = { username: username ?? name, password: password ?? rest.join(":") };
  if (identitytoken) return { ...credentials, identityToken: identitytoken };
  return credentials.username === "" ? undefined : credentials;
}
