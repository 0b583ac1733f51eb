import { systemClock } from "../../src/controller/clock.ts";
import { type RegistryClient, registryClient } from "../../src/registry/index.ts";
import { openRegistryServer, type RegistryProgram, type RegistryServer } from "./registry-server.ts";
import { openTokenServer } from "./token-server.ts";

/** A registry, and how it learns who asks. */
export interface RegistryKind {
  readonly program: RegistryProgram;
  readonly login: "none" | "password" | "tokens";
}

/** Every program with every login; as tables of tests take it, with a name. */
export const REGISTRY_KINDS: readonly (readonly [name: string, kind: RegistryKind])[] = [
  ["distribution 3 without a login", { program: "registry", login: "none" }],
  ["distribution 3 with user and password", { program: "registry", login: "password" }],
  ["distribution 3 with a token service", { program: "registry", login: "tokens" }],
  ["registry 2.8 without a login", { program: "docker-registry", login: "none" }],
  ["registry 2.8 with user and password", { program: "docker-registry", login: "password" }],
  ["registry 2.8 with a token service", { program: "docker-registry", login: "tokens" }],
];

/** Who may do everything to the repositories below `team/`. */
export const TEAM = { username: "team", password: "s:e:c ret" };

export interface OpenedRegistry {
  readonly kind: RegistryKind;
  readonly server: RegistryServer;
  readonly host: string;
  /** A client with the credentials of `TEAM`, where they are needed; it goes with the registry. */
  readonly client: RegistryClient;
  close(): Promise<void>;
}

export async function openRegistryKind(kind: RegistryKind): Promise<OpenedRegistry> {
  const tokens = kind.login === "tokens" ? await openTokenServer([TEAM]) : undefined;
  const login = tokens ? { tokens } : kind.login === "password" ? { user: TEAM } : {};
  const server = await openRegistryServer({ program: kind.program, ...login });
  const client = teamClient(server.host, kind);
  const close = async () => {
    await client.close();
    await server.close();
    await tokens?.close();
  };
  return { kind, server, host: server.host, client, close };
}

/** Another client of the same user. */
export function teamClient(host: string, { login }: Pick<RegistryKind, "login">): RegistryClient {
  const credentials = login === "none" ? {} : { credentials: TEAM };
  return registryClient({ host, plainHttp: true, clock: systemClock, ...credentials });
}
