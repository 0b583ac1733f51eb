import { hashFields } from "../../apis/index.ts";
import { SlessError } from "../../errors/index.ts";

/** A value of a secret by its key; undefined when it is not there. */
export type ReadSecret = (namespace: string, name: string, key: string) => Promise<string | undefined>;

/** How a repository is reached. */
export interface Access {
  /** Value of the `Authorization` header. */
  readonly authorization: string | undefined;
  /** Certificates in PEM form that are trusted beside the machine's own. */
  readonly ca: string | undefined;
  /** What must not be seen in a message. */
  readonly secrets: readonly string[];
  /** Differs when anything above does. */
  readonly identity: string;
}

/** GitHub, Gitea and GitLab take a token with any name; GitLab wants this one for tokens of OAuth. */
const TOKEN_USER = "oauth2";

export const NO_ACCESS: Access = { authorization: undefined, ca: undefined, secrets: [], identity: "" };

/**
 * Reads `token`, or `username` and `password`, and `ca.crt` of a secret. A token with a user name is sent as its
 * password.
 *
 * @throws SlessError `credentials_missing` when the secret has none of them, or half of them
 */
export async function readAccess(readSecret: ReadSecret, namespace: string, name: string): Promise<Access> {
  const keys = ["username", "password", "token", "ca.crt"];
  const [user, password, token, ca] = await Promise.all(
    keys.map(async (key) => (await readSecret(namespace, name, key))?.replace(/\r?\n$/, "") || undefined),
  );
  const secret = token ?? password;
  const username = user ?? (token === undefined ? undefined : TOKEN_USER);
  const isHalf = (secret === undefined) !== (username === undefined);
  if (isHalf || (secret === undefined && ca === undefined))
    throw new SlessError("credentials_missing", { secret: name });
  const basic = Buffer.from(`${username}:${secret}`).toString("base64");
  return {
    authorization: secret === undefined ? undefined : `Basic ${basic}`,
    ca,
    secrets: secret === undefined ? [] : [secret, basic],
    identity: hashFields([username ?? "", secret ?? "", ca ?? ""]),
  };
}

const SHOWN_MAX = 300;

/** What a server or git said, as it may stand in a message: bounded, one line, without what is secret. */
export function shownCause(text: string, { secrets }: Pick<Access, "secrets">): string {
  const redacted = secrets.reduce((shown, secret) => shown.replaceAll(secret, "***"), text);
  const line = redacted.replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, " ").trim();
  return line.length > SHOWN_MAX ? `${line.slice(0, SHOWN_MAX)}…` : line;
}
