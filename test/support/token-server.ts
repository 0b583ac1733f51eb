import { createPrivateKey } from "node:crypto";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildServer } from "../servers/build.ts";
import { makeCertificates } from "./certificates.ts";
import { eventually } from "./eventually.ts";
import { freePort } from "./free-ports.ts";
import { htpasswd, type TestUser } from "./htpasswd.ts";
import { openServerProcesses } from "./kubernetes/server-processes.ts";
import { removeFolder } from "./remove-folder.ts";

/** What a registry must know of a token service to believe its tokens. */
export interface TokenIssuer {
  /** Where clients ask for tokens. */
  readonly realm: string;
  readonly service: string;
  readonly issuer: string;
  /** Its key, for distribution 3. */
  readonly jwks: { readonly keys: readonly object[] };
  /** Its key, for registry 2.8. */
  readonly certificate?: string;
}

export interface TokenServer extends TokenIssuer {
  close(): Promise<void>;
}

/**
 * A real token service on loopback, that of the Docker project: whoever has a password may do everything to repositories
 * below a name like the user's, `team/…`, and nothing to others.
 */
export async function openTokenServer(users: readonly TestUser[]): Promise<TokenServer> {
  const program = await buildServer("token-server");
  const folder = await mkdtemp(join(tmpdir(), "sless-tokens-"));
  const port = await freePort();
  const { cert: certificate, key } = makeCertificates();
  const sec1 = createPrivateKey(key).export({ type: "sec1", format: "pem" });
  await writeFile(join(folder, "key.pem"), sec1);
  await writeFile(join(folder, "users"), await htpasswd(users));
  const issuer = "test-issuer";
  const flags = { issuer, addr: `127.0.0.1:${port}`, realm: "test", key: "key.pem", passwd: join(folder, "users") };
  const processes = await openServerProcesses(folder);
  const args = Object.entries(flags).flatMap(([name, value]) => [`-${name}`, value]);
  processes.server("token-server", program, args).start();
  const realm = `http://127.0.0.1:${port}/token/`;
  const service = "test-registry";
  const tokenFor = async ({ username, password }: TestUser) => {
    await processes.check();
    const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
    const answer = await fetch(`${realm}?service=${service}`, { headers: { authorization } }).catch(() => undefined);
    return (await answer?.json()) as { access_token: string } | undefined;
  };
  const token = await eventually("the token service answers", () => tokenFor(users[0]!), Boolean);
  const close = async () => {
    await processes.close();
    await removeFolder(folder);
  };
  return { realm, service, issuer, certificate, jwks: { keys: [keyIn(token!.access_token)] }, close };
}

/** It shows its key, under the name that it gives it, in each token. */
function keyIn(token: string): object {
  const [header = ""] = token.split(".");
  return (JSON.parse(Buffer.from(header, "base64url").toString()) as { jwk: object }).jwk;
}
