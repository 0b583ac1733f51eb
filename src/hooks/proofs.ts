import type { IncomingHttpHeaders } from "node:http";

/** What the head of a delivery offers as proof that its sender knows the secret. Any of it is enough. */
export interface Proofs {
  /** HMAC-SHA256 of the body, each from a header of its own. */
  readonly digests: readonly Buffer[];
  /** HMAC-SHA256 of the body with something before it (Standard Webhooks, which GitLab signs by). */
  readonly signed: { readonly prefix: string; readonly digests: readonly Buffer[] } | undefined;
  /** The secret itself, as GitLab sends it. */
  readonly token: Buffer | undefined;
}

/** GitHub; Bitbucket (where GitHub has SHA-1, which proves nothing here); Flux's generic-hmac; Gitea; Forgejo; Gogs. */
const DIGEST_HEADERS = [
  "x-hub-signature-256",
  "x-hub-signature",
  "x-signature",
  "x-gitea-signature",
  "x-forgejo-signature",
  "x-gogs-signature",
];
const DIGEST = /^(?:sha256=)?([0-9a-f]{64})$/i;
const SIGNATURE = /^v1,([A-Za-z0-9+/]{43}=)$/;
/** A sender changes its secret between two of them. */
const SIGNATURES_MAX = 4;
/** Longer than what was signed is under way, and clocks may differ; what is older may be a copy. */
const SIGNED_MAX_MS = 15 * 60_000;

/** Reads what proofs there are; a header that comes twice, and one that is not of its form, is none. */
export function proofsOf(headers: IncomingHttpHeaders, now: Date): Proofs {
  const digests = DIGEST_HEADERS.flatMap((name) => digestIn(textOf(headers, name)));
  const token = textOf(headers, "x-gitlab-token");
  // Node reads a byte of a header as a character.
  return { digests, signed: signedIn(headers, now), token: token ? Buffer.from(token, "latin1") : undefined };
}

export function hasProof({ digests, signed, token }: Proofs): boolean {
  return digests.length > 0 || signed !== undefined || token !== undefined;
}

function digestIn(value: string | undefined): Buffer[] {
  const hex = DIGEST.exec(value ?? "")?.[1];
  return hex === undefined ? [] : [Buffer.from(hex, "hex")];
}

/** https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md */
function signedIn(headers: IncomingHttpHeaders, now: Date): Proofs["signed"] {
  const id = textOf(headers, "webhook-id");
  const timestamp = textOf(headers, "webhook-timestamp");
  if (!id || !timestamp || !/^\d{1,12}$/.test(timestamp)) return undefined;
  if (Math.abs(now.getTime() - Number(timestamp) * 1_000) > SIGNED_MAX_MS) return undefined;
  const parts = (textOf(headers, "webhook-signature") ?? "").split(" ").slice(0, SIGNATURES_MAX);
  const digests = parts.flatMap((part) => {
    const base64 = SIGNATURE.exec(part)?.[1];
    return base64 === undefined ? [] : [Buffer.from(base64, "base64")];
  });
  return digests.length === 0 ? undefined : { prefix: `${id}.${timestamp}.`, digests };
}

function textOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "string" ? value : undefined;
}
