import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { Proofs } from "./proofs.ts";

export interface DeliveryCheck {
  /** The body, piece by piece. */
  update(chunk: Uint8Array): void;
  /**
   * Whether one of the proofs is by one of the secrets; to be asked once, after the whole body.
   *
   * @param payload the JSON text of a form, which Gitea signs instead of the form
   */
  isProved(payload: string | undefined): boolean;
}

/** What a Standard Webhooks secret begins with; the rest is its key in base64. */
const KEY_PREFIX = "whsec_";
const BASE64 = /^[A-Za-z0-9+/]{2,}={0,2}$/;
/** Nothing is signed by it. */
const NO_KEY = randomBytes(32);

/** Checks a delivery while it comes. Every proof is compared with every secret, whatever came of those before. */
export function checkDelivery(proofs: Proofs, secrets: readonly Buffer[]): DeliveryCheck {
  const { digests, signed, token } = proofs;
  const plain = digests.length > 0 ? secrets.map((secret) => createHmac("sha256", secret)) : [];
  const prefixed = signed
    ? secrets.map((secret) => createHmac("sha256", signingKey(secret)).update(signed.prefix))
    : [];
  return {
    update(chunk) {
      for (const hmac of plain) hmac.update(chunk);
      for (const hmac of prefixed) hmac.update(chunk);
    },
    isProved(payload) {
      const payloads = payload === undefined || digests.length === 0 ? [] : secrets.map(hmacOf(payload));
      const own = [...plain.map((hmac) => hmac.digest()), ...payloads];
      const isProved = [
        isAmong(digests, own),
        isAmong(
          signed?.digests ?? [],
          prefixed.map((hmac) => hmac.digest()),
        ),
        // Of one length, so that a comparison takes the same time whatever it is given.
        isAmong(token ? [sha256(token)] : [], secrets.map(sha256)),
      ];
      return isProved.includes(true);
    },
  };
}

function isAmong(given: readonly Buffer[], own: readonly Buffer[]): boolean {
  let found = false;
  for (const a of given) for (const b of own) found = timingSafeEqual(a, b) || found;
  return found;
}

const hmacOf = (text: string) => (secret: Buffer) => createHmac("sha256", secret).update(text).digest();
const sha256 = (data: Buffer) => createHash("sha256").update(data).digest();

function signingKey(secret: Buffer): Buffer {
  const text = secret.toString("utf8");
  if (!text.startsWith(KEY_PREFIX)) return secret;
  const base64 = text.slice(KEY_PREFIX.length);
  // Of anything else a decoder makes a short key, or an empty one that everybody has.
  return BASE64.test(base64) ? Buffer.from(base64, "base64") : NO_KEY;
}
