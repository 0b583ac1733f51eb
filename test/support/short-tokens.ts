import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import type { TestUser } from "./htpasswd.ts";
import { httpServer } from "./http-server.ts";
import type { TokenIssuer } from "./token-server.ts";

export interface ShortTokens extends TokenIssuer {
  /** How long a registry takes what is given out now. */
  validSeconds: number;
  /** What clients are told of it. */
  saidSeconds: number;
  /** No token is given any more. */
  isDown: boolean;
  /** Scopes of each token that was given, in order. */
  readonly given: string[][];
  /** The last one. */
  last: string;
}

/** Registries take a token for so long after its end, for clocks that are not set right. */
const LEEWAY_SECONDS = 60;

/**
 * A token service whose tokens end when a test wants it, which those of a real one do not within minutes; the registry that
 * checks them is real. The user may do everything, whoever brings no password may pull from `public/…`.
 */
export async function shortTokens({ username, password }: TestUser): Promise<ShortTokens> {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const key = { ...publicKey.export({ format: "jwk" }), kid: "short", alg: "ES256", use: "sig" };
  const basic = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
  const server = await httpServer(({ url = "", headers }, answer) => {
    const scopes = new URL(url, server.origin).searchParams.getAll("scope");
    const isUser = headers.authorization === basic;
    const isRefused = tokens.isDown || (headers.authorization !== undefined && !isUser);
    if (isRefused) return void answer.writeHead(tokens.isDown ? 503 : 401).end();
    tokens.given.push(scopes);
    const access = scopes.map(accessOf).filter(isUser ? () => true : isPublic);
    tokens.last = jwt({ ...claims(), sub: username, access }, key.kid, privateKey);
    answer.writeHead(200, { "content-type": "application/json" });
    answer.end(JSON.stringify({ token: tokens.last, expires_in: tokens.saidSeconds }));
  });
  const tokens: ShortTokens = {
    ...{ realm: `${server.origin}/token`, service: "test-registry", issuer: "short-issuer", jwks: { keys: [key] } },
    ...{ validSeconds: 300, saidSeconds: 300, isDown: false, given: [], last: "" },
  };
  const claims = () => {
    const now = Math.floor(Date.now() / 1_000);
    const { issuer: iss, service: aud, validSeconds } = tokens;
    return { iss, aud, nbf: now, iat: now, exp: now + validSeconds - LEEWAY_SECONDS };
  };
  return tokens;
}

function jwt(claims: object, kid: string, key: KeyObject): string {
  const parts = [{ typ: "JWT", alg: "ES256", kid }, claims];
  const text = parts.map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
  return `${text}.${sign("sha256", Buffer.from(text), { key, dsaEncoding: "ieee-p1363" }).toString("base64url")}`;
}

interface Access {
  readonly type: string;
  readonly name: string;
  readonly actions: readonly string[];
}

/** `repository:team/base:pull,push` */
function accessOf(scope: string): Access {
  const [type = "", name = "", actions = ""] = scope.split(":");
  return { type, name, actions: actions.split(",") };
}

function isPublic({ name, actions }: Access): boolean {
  return name.startsWith("public/") && actions.join() === "pull";
}
