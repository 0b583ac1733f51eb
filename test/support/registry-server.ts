import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { buildServer } from "../servers/build.ts";
import { eventually } from "./eventually.ts";
import { freePorts } from "./kubernetes/free-ports.ts";
import { openServerProcesses } from "./kubernetes/server-processes.ts";

const run = promisify(execFile);

export interface RegistryServer {
  /** `127.0.0.1:<port>`; without TLS. */
  readonly host: string;
  stop(): Promise<void>;
  start(): Promise<void>;
  close(): Promise<void>;
}

export interface RegistryServerOptions {
  /** Basic authentication for this user; default: everybody may do everything. */
  readonly user?: { readonly username: string; readonly password: string };
}

/** A real registry (distribution) on loopback, over a folder of its own. */
export async function openRegistryServer({ user }: RegistryServerOptions = {}): Promise<RegistryServer> {
  const program = await buildServer("registry");
  const folder = await mkdtemp(join(tmpdir(), "sless-registry-"));
  const [port] = await freePorts(1);
  const host = `127.0.0.1:${port}`;
  const auth = user && { htpasswd: { realm: "test", path: join(folder, "htpasswd") } };
  if (user) await writeFile(join(folder, "htpasswd"), `${user.username}:${await bcrypt(user.password)}\n`);
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
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Debian's perl has the only bcrypt that is on every machine; it is the one form that the registry takes. */
async function bcrypt(password: string): Promise<string> {
  const { stdout } = await run("perl", ["-e", "print crypt($ARGV[0], q($2y$05$abcdefghijklmnopqrstuu))", password]);
  return stdout;
}
