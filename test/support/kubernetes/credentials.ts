import { createHmac, generateKeyPairSync, randomBytes, timingSafeEqual } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stringify } from "yaml";
import { makeCertificates } from "../certificates.ts";

/** What outlives a restart of the servers. All files stand in `folder`. */
export interface Credentials {
  readonly ca: string;
  readonly adminToken: string;
  /** Signs the tokens of users. */
  readonly userKey: string;
  /** Tokens of the servers; each also has `<name>.kubeconfig`. */
  readonly serverTokens: Readonly<Record<ServerUser, string>>;
}

type ServerUser = "kube-controller-manager" | "kube-scheduler" | "kwok";

const SERVER_USERS: Readonly<Record<ServerUser, { readonly user: string; readonly group?: string }>> = {
  "kube-controller-manager": { user: "system:kube-controller-manager" },
  "kube-scheduler": { user: "system:kube-scheduler" },
  kwok: { user: "kwok", group: "system:masters" },
};

/** Makes keys, certificates, tokens and kubeconfigs. */
export async function makeCredentials(folder: string, url: string): Promise<Credentials> {
  const { ca, cert, key } = makeCertificates();
  const accounts = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const adminToken = randomToken();
  const serverTokens = Object.fromEntries(Object.keys(SERVER_USERS).map((name) => [name, randomToken()])) as Record<
    ServerUser,
    string
  >;
  const rows = Object.entries(SERVER_USERS).map(
    ([name, { user, group }]) => `${serverTokens[name as ServerUser]},${user},${name}${group ? `,"${group}"` : ""}`,
  );
  const files = {
    "ca.crt": ca,
    "server.crt": cert,
    "server.key": key,
    "accounts.key": accounts.privateKey.export({ type: "sec1", format: "pem" }) as string,
    "accounts.pub": accounts.publicKey.export({ type: "spki", format: "pem" }) as string,
    "tokens.csv": [`${adminToken},admin,admin,"system:masters"`, ...rows, ""].join("\n"),
    "admin.kubeconfig": kubeconfig(url, join(folder, "ca.crt"), adminToken),
    ...Object.fromEntries(
      Object.entries(serverTokens).map(([name, token]) => [
        `${name}.kubeconfig`,
        kubeconfig(url, join(folder, "ca.crt"), token),
      ]),
    ),
  };
  await Promise.all(Object.entries(files).map(([name, text]) => writeFile(join(folder, name), text, { mode: 0o600 })));
  return { ca, adminToken, userKey: randomToken(), serverTokens };
}

function randomToken(): string {
  return randomBytes(16).toString("hex");
}

/** A kubeconfig with one context; without `token` and `caFile`, as API servers take it for a webhook. */
export function kubeconfig(server: string, caFile?: string, token?: string): string {
  return stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "test", cluster: { server, ...(caFile ? { "certificate-authority": caFile } : {}) } }],
    users: [{ name: "test", user: token ? { token } : {} }],
    contexts: [{ name: "test", context: { cluster: "test", user: "test" } }],
    "current-context": "test",
  });
}

export interface User {
  readonly user: string;
  readonly groups: readonly string[];
}

/** A token that holds the user and is signed, so that whoever has the key reads it without a list of tokens. */
export function signUser(user: User, key: string): string {
  const text = Buffer.from(JSON.stringify(user)).toString("base64url");
  return `user.${text}.${signature(text, key)}`;
}

/** The user of a token by `signUser`; undefined for every other token. */
export function readUser(token: string, key: string): User | undefined {
  const [kind, text = "", signed = ""] = token.split(".");
  const expected = Buffer.from(signature(text, key));
  const given = Buffer.from(signed);
  if (kind !== "user" || given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
  return JSON.parse(Buffer.from(text, "base64url").toString()) as User;
}

function signature(text: string, key: string): string {
  return createHmac("sha256", key).update(text).digest("base64url");
}
