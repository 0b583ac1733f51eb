import { type Dispatcher, request as send } from "undici";
import type { Clock } from "../controller/clock.ts";
import { messageOf } from "../errors/index.ts";
import { boundedText } from "./bounded-text.ts";
import { type Challenge, parseChallenge } from "./challenge.ts";
import type { RegistryCredentials } from "./docker-config.ts";
import { RegistryError, registryError } from "./registry-error.ts";

/** What a request may do: `repository:team/base:pull,push`. A mount needs a scope of both repositories. */
export type Scopes = readonly string[];

/** Headers that prove to one registry who asks. */
export interface Authorizer {
  headers(scopes: Scopes): Record<string, string>;
  /** Renews a token that has ended, where it is known who gives them: what has a body is not sent in vain. */
  prepare(scopes: Scopes): Promise<void>;
  /** Learns from a 401 what the registry wants; false when that is not to be had. */
  answer(challenge: string | readonly string[] | undefined, scopes: Scopes): Promise<boolean>;
}

interface Token {
  readonly text: string;
  readonly untilMs: number;
}

const TOKEN_SECONDS = 60;
/** A token is not used in its last seconds, in which it could end on the way. */
const SPARE_SECONDS = 10;
const ANSWER_MAX_BYTES = 1024 * 1024;
/** When there are more, those that have ended are looked for. */
const TOKENS_MAX = 500;

/** Or where they are read, each time that the registry asks who it is: they may have been renewed. */
export type CredentialSource = RegistryCredentials | (() => Promise<RegistryCredentials | undefined>) | undefined;

export function createAuthorizer(options: {
  readonly credentials: CredentialSource;
  readonly dispatcher: Dispatcher;
  readonly clock: Clock;
  /** A token service without TLS is asked only of a registry without TLS. */
  readonly isPlain: boolean;
}): Authorizer {
  const { dispatcher, clock, isPlain } = options;
  const tokens = new Map<string, Token>();
  let challenge: Challenge | undefined;
  let basic: string | undefined;

  async function fetchToken(
    { realm, service }: Challenge & { scheme: "bearer" },
    scopes: Scopes,
    credentials: RegistryCredentials | undefined,
  ): Promise<Token> {
    if (!isPlain && !realm.startsWith("https:"))
      throw new RegistryError(401, "UNAUTHORIZED", `the registry's token service ${new URL(realm).origin} has no TLS`);
    const response = credentials?.identityToken
      ? await askByRefreshToken(realm, service, scopes, credentials.identityToken, dispatcher)
      : await askByPassword(realm, service, scopes, basic, dispatcher);
    const text = await readText(response);
    if (response.statusCode >= 400) throw registryError(response.statusCode, text, "a token of the registry");
    const {
      token,
      access_token = token,
      expires_in = TOKEN_SECONDS,
    } = JSON.parse(text) as {
      token?: string;
      access_token?: string;
      expires_in?: number;
    };
    if (!access_token) throw new RegistryError(401, "UNAUTHORIZED", "the registry's token service gave no token");
    const seconds = Math.max(expires_in - SPARE_SECONDS, 1);
    return { text: access_token, untilMs: clock.monotonicMs() + seconds * 1_000 };
  }

  function liveToken(scopes: Scopes): Token | undefined {
    const token = tokens.get(scopes.join(" "));
    return token && token.untilMs > clock.monotonicMs() ? token : undefined;
  }

  /** Every repository has some of its own. */
  function forgetEnded(): void {
    for (const [scope, { untilMs }] of tokens) if (untilMs <= clock.monotonicMs()) tokens.delete(scope);
  }

  /** @returns false when there are no credentials for what is asked */
  async function meet(asked: Challenge, scopes: Scopes): Promise<boolean> {
    const credentials = typeof options.credentials === "function" ? await options.credentials() : options.credentials;
    basic = credentials && basicOf(credentials);
    if (asked.scheme === "basic") return basic !== undefined;
    try {
      const token = await fetchToken(asked, scopes, credentials);
      if (tokens.size >= TOKENS_MAX) forgetEnded();
      tokens.set(scopes.join(" "), token);
    } catch (error) {
      if (error instanceof RegistryError) throw error;
      throw new RegistryError(0, "", `the registry's token service did not answer: ${messageOf(error)}`, {
        cause: error,
      });
    }
    return true;
  }

  return {
    headers(scopes): Record<string, string> {
      if (challenge?.scheme === "basic" && basic) return { authorization: basic };
      const token = liveToken(scopes);
      return token ? { authorization: `Bearer ${token.text}` } : {};
    },
    async prepare(scopes) {
      if (challenge?.scheme === "bearer" && !liveToken(scopes)) await meet(challenge, scopes);
    },
    async answer(header, scopes) {
      challenge = parseChallenge(header);
      return challenge !== undefined && (await meet(challenge, scopes));
    },
  };
}

function basicOf({ username, password }: RegistryCredentials): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
}

function askByPassword(
  realm: string,
  service: string | undefined,
  scopes: Scopes,
  basic: string | undefined,
  dispatcher: Dispatcher,
) {
  const url = new URL(realm);
  if (service !== undefined) url.searchParams.set("service", service);
  for (const scope of scopes) url.searchParams.append("scope", scope);
  return send(url, { dispatcher, headers: { accept: "application/json", ...(basic ? { authorization: basic } : {}) } });
}

/** https://distribution.github.io/distribution/spec/auth/oauth/ */
function askByRefreshToken(
  realm: string,
  service: string | undefined,
  scopes: Scopes,
  refreshToken: string,
  dispatcher: Dispatcher,
) {
  const form = new URLSearchParams({
    grant_type: "refresh_token",
    service: service ?? "",
    client_id: "sless",
    scope: scopes.join(" "),
    refresh_token: refreshToken,
  });
  const headers = { accept: "application/json", "content-type": "application/x-www-form-urlencoded" };
  return send(realm, { method: "POST", dispatcher, headers, body: form.toString() });
}

async function readText({ body }: Dispatcher.ResponseData): Promise<string> {
  const { text, isWhole } = await boundedText(body, ANSWER_MAX_BYTES);
  if (!isWhole) throw new Error("its answer has no end");
  return text;
}
