import { SlessError } from "../errors/index.ts";

const BEARER = /^bearer +([\x21-\x7e]+) *$/i;

/** The token of an `Authorization` header. @throws SlessError `unauthenticated` when there is none */
export function bearerToken(authorization: string | undefined): string {
  if (authorization === undefined) throw new SlessError("unauthenticated", { cause: "it carries no bearer token" });
  const token = BEARER.exec(authorization)?.[1];
  if (token === undefined) throw new SlessError("unauthenticated", { cause: "its Authorization is no bearer token" });
  return token;
}
