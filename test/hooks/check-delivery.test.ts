import { createHmac } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkDelivery } from "../../src/hooks/check-delivery.ts";
import { hasProof, proofsOf } from "../../src/hooks/proofs.ts";
import { github, signature, standardWebhook } from "./sign.ts";

const NOW = new Date("2026-03-01T12:00:00Z");
const SECRET = "It's a Secret to Everybody";
const WHSEC = "whsec_dGVzdHRlc3R0ZXN0dGVzdHRlc3R0ZXN0dGVzdHRlc3Q=";
const BODY = '{"ref":"refs/heads/main"}';

interface Case {
  readonly headers: IncomingHttpHeaders;
  readonly body?: string | Buffer;
  readonly payload?: string;
  readonly secrets?: readonly string[];
}

function isProved({ headers, body = BODY, payload, secrets = [SECRET, "another"] }: Case): boolean {
  const check = checkDelivery(
    proofsOf(headers, NOW),
    secrets.map((secret) => Buffer.from(secret)),
  );
  for (const byte of Buffer.from(body)) check.update(Uint8Array.of(byte));
  return check.isProved(payload);
}

it("GitHub's documented example is proved", () => {
  const headers = {
    "x-hub-signature-256": "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
  };
  expect(isProved({ headers, body: "Hello, World!" })).toBe(true);
});

it("the example of Standard Webhooks is proved", () => {
  const headers = {
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  };
  const proofs = proofsOf(headers, new Date(1_614_265_330_000));
  const check = checkDelivery(proofs, [Buffer.from("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")]);
  check.update(Buffer.from('{"test": 2432232314}'));
  expect(check.isProved(undefined)).toBe(true);
});

const hex = signature(SECRET, BODY);
const sha1 = createHmac("sha1", SECRET).update(BODY).digest("hex");
const signed = standardWebhook(WHSEC, BODY, NOW);
const withWhsec = [WHSEC, "another"];
const form = (payload: string) => new URLSearchParams({ payload }).toString();

const PROVED: Record<string, Case> = {
  "GitHub's signature": { headers: github(SECRET, BODY) },
  "GitHub's signature of a form": { headers: github(SECRET, form(BODY)), body: form(BODY), payload: BODY },
  "GitHub's signature of a body of no encoding": {
    headers: github(SECRET, Buffer.from([0, 255, 128])),
    body: Buffer.from([0, 255, 128]),
  },
  "GitHub's signature of nothing": { headers: github(SECRET, ""), body: "" },
  "upper-case hex": { headers: { "x-hub-signature-256": `sha256=${hex.toUpperCase()}` } },
  "the second secret": { headers: github("another", BODY) },
  "a SHA-1 beside the SHA-256": { headers: { "x-hub-signature": `sha1=${sha1}`, ...github(SECRET, BODY) } },
  "Bitbucket's signature": { headers: { "x-hub-signature": `sha256=${hex}` } },
  "Gitea's signature": { headers: { "x-gitea-signature": hex, "x-gogs-signature": hex } },
  "Gitea's signature of the payload of a form": {
    headers: { "x-gitea-signature": hex },
    body: form(BODY),
    payload: BODY,
  },
  "Forgejo's signature": { headers: { "x-forgejo-signature": hex } },
  "a plain HMAC": { headers: { "x-signature": `sha256=${hex}` } },
  "GitLab's token": { headers: { "x-gitlab-token": SECRET } },
  "GitLab's token beyond ASCII": {
    headers: { "x-gitlab-token": Buffer.from("schlüssel").toString("latin1") },
    secrets: ["schlüssel"],
  },
  "GitLab's token beside a signature by a key that is not known": { headers: { "x-gitlab-token": SECRET, ...signed } },
  "GitLab's signing token": { headers: signed, secrets: withWhsec },
  "GitLab's signing token, the second of two signatures": {
    headers: {
      ...signed,
      "webhook-signature": `v1,${Buffer.alloc(32).toString("base64")} ${signed["webhook-signature"]}`,
    },
    secrets: withWhsec,
  },
  "a wrong header beside a right one": { headers: { "x-gitea-signature": "0".repeat(64), ...github(SECRET, BODY) } },
};
it.each(Object.entries(PROVED))("%s proves a delivery", (_name, delivery) => {
  expect(isProved(delivery)).toBe(true);
});

const NOT_PROVED: Record<string, Case> = {
  "a signature by another secret": { headers: github("wrong", BODY) },
  "a signature by no secret": { headers: github("", BODY) },
  "a signature of a longer body": { headers: github(SECRET, `${BODY} `) },
  "a signature of a truncated body": { headers: github(SECRET, BODY), body: BODY.slice(0, -1) },
  "a signature of the same text in another encoding": {
    headers: github(SECRET, '{"ref":"é"}'),
    body: Buffer.from('{"ref":"é"}', "utf16le"),
  },
  "the same JSON in other words": { headers: github(SECRET, BODY), body: `${BODY}\n` },
  "a signature of the payload, where the body is no form": { headers: github(SECRET, "x"), body: BODY },
  "a token that is a beginning of the secret": { headers: { "x-gitlab-token": SECRET.slice(0, -1) } },
  "a token that is the secret and more": { headers: { "x-gitlab-token": `${SECRET}!` } },
  "a token in another case": { headers: { "x-gitlab-token": SECRET.toUpperCase() } },
  "a signing token's signature of another message": {
    headers: { ...signed, "webhook-id": "msg_2" },
    secrets: withWhsec,
  },
  ...Object.fromEntries(
    ["whsec_", "whsec_***", "whsec_=", "whsec_not in base64", "whsec_\ud83d\ude00"].map((secret): [string, Case] => [
      `a signature by the key that a decoder makes of ${secret}`,
      { headers: standardWebhook(secret, BODY, NOW), secrets: [secret] },
    ]),
  ),
  "a signing token's signature of another time": {
    headers: { ...signed, "webhook-timestamp": String(Number(signed["webhook-timestamp"]) + 1) },
    secrets: withWhsec,
  },
};
it.each(Object.entries(NOT_PROVED))("%s proves nothing", (_name, delivery) => {
  expect(isProved(delivery)).toBe(false);
});

const NO_PROOF: Record<string, IncomingHttpHeaders> = {
  "no header": {},
  "an empty signature, as Gitea sends it without a secret": {
    "x-gitea-signature": "",
    "x-hub-signature-256": "sha256=",
  },
  "the same header twice": { "x-hub-signature-256": `sha256=${hex}, sha256=${hex}` },
  "a SHA-1": { "x-hub-signature": `sha1=${sha1}` },
  "hex that is too short": { "x-hub-signature-256": `sha256=${hex.slice(2)}` },
  "hex that is too long": { "x-hub-signature-256": `sha256=${hex}00` },
  "base64 instead of hex": { "x-signature": Buffer.from(hex, "hex").toString("base64") },
  "another algorithm": { "x-signature": `sha512=${hex}${hex}` },
  "an empty token": { "x-gitlab-token": "" },
  "a signed message without its id": { ...signed, "webhook-id": undefined },
  "a signed message without a time": { ...signed, "webhook-timestamp": "now" },
  "a signed message of an hour ago": standardWebhook(WHSEC, BODY, new Date(NOW.getTime() - 3_600_000)),
  "a signed message of an hour from now": standardWebhook(WHSEC, BODY, new Date(NOW.getTime() + 3_600_000)),
  "a signature of another version": {
    ...signed,
    "webhook-signature": signed["webhook-signature"]!.replace("v1", "v2"),
  },
};
it.each(Object.entries(NO_PROOF))("%s is no proof at all", (_name, headers) => {
  expect(hasProof(proofsOf(headers, NOW))).toBe(false);
});

describe("whatever comes", () => {
  const names = [...Object.keys(signed), "x-hub-signature-256", "x-signature", "x-gitea-signature", "x-gitlab-token"];
  const headers = fc.dictionary(fc.constantFrom(...names), fc.string({ unit: "binary", maxLength: 80 }));
  it("is no proof without the secret, and never an error", () => {
    fc.assert(
      fc.property(headers, fc.uint8Array({ maxLength: 200 }), (given, body) => {
        const check = checkDelivery(proofsOf(given, NOW), [Buffer.from("a secret that nobody guesses")]);
        check.update(body);
        expect(check.isProved(undefined)).toBe(false);
      }),
    );
  });

  it("a body in whatever pieces is proved by its signature, and by that of no other body", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 50 })), fc.uint8Array(), (pieces, other) => {
        const body = Buffer.concat(pieces);
        const proved = (signedBody: Buffer) => {
          const check = checkDelivery(proofsOf(github(SECRET, signedBody), NOW), [Buffer.from(SECRET)]);
          for (const piece of pieces) check.update(piece);
          return check.isProved(undefined);
        };
        expect(proved(body)).toBe(true);
        expect(proved(Buffer.from(other))).toBe(body.equals(other));
      }),
    );
  });
});
