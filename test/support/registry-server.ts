import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildServer } from "../servers/build.ts";
import { eventually } from "./eventually.ts";
import { freePort } from "./free-ports.ts";
import { htpasswd, type TestUser } from "./htpasswd.ts";
import { openServerProcesses } from "./kubernetes/server-processes.ts";
import { removeFolder } from "./remove-folder.ts";
import type { TokenIssuer } from "./token-server.ts";

/** `registry` is distribution 3, `docker-registry` the 2.8 of Debian. */
export type RegistryProgram = "registry" | "docker-registry";

export interface RegistryServer {
  /** `127.0.0.1:<port>`; without TLS. */
  readonly host: string;
  stop(): Promise<void>;
  start(): Promise<void>;
  close(): Promise<void>;
}

export interface RegistryServerOptions {
  /** Default `registry`. */
  readonly program?: RegistryProgram;
  /** Basic authentication for this user; default: everybody may do everything. */
  readonly user?: TestUser;
  /** Instead: who brings a token of this service. */
  readonly tokens?: TokenIssuer;
}

/** A real registry on loopback, over a folder of its own. */
export async function openRegistryServer(options: RegistryServerOptions = {}): Promise<RegistryServer> {
  const program = await buildServer(options.program ?? "registry");
  const folder = await mkdtemp(join(tmpdir(), "sless-registry-"));
  const port = await freePort();
  const host = `127.0.0.1:${port}`;
  const auth = await authSettings(folder, options);
  const settings = {
    version: 0.1,
    log: { level: "warn", accesslog: { disabled: true } },
    storage: {
      filesystem: { rootdirectory: join(folder, "data") },
      delete: { enabled: true },
      maintenance: { uploadpurging: { enabled: false } },
    },
    http: { addr: host, secret: "test" },
    ...(auth ? { auth } : {}),
  };
  // JSON is YAML.
  await writeFile(join(folder, "config.yml"), JSON.stringify(settings));
  const processes = await openServerProcesses(folder);
  const server = processes.server("registry", program, ["serve", join(folder, "config.yml")]);
  const start = async () => {
    server.start();
    const answers = async () => {
      await processes.check();
      return fetch(`http://${host}/v2/`).then(
        () => true,
        () => false,
      );
    };
    await eventually("the registry answers", answers, (isThere) => isThere);
  };
  await start();
  return {
    host,
    start,
    stop: () => server.stop("SIGKILL"),
    async close() {
      await processes.close();
      await removeFolder(folder);
    },
  };
}

async function authSettings(folder: string, { user, tokens, program }: RegistryServerOptions) {
  if (user) {
    await writeFile(join(folder, "htpasswd"), await htpasswd([user]));
    return { htpasswd: { realm: "test", path: join(folder, "htpasswd") } };
  }
  if (!tokens) return undefined;
  const { realm, service, issuer, jwks, certificate } = tokens;
  const isOld = program === "docker-registry";
  const trusted = join(folder, "trusted");
  await writeFile(trusted, isOld ? certificate! : JSON.stringify(jwks));
  return { token: { realm, service, issuer, [isOld ? "rootcertbundle" : "jwks"]: trusted } };
}
