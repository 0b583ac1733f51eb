import { createHmac } from "node:crypto";

/** Hex HMAC-SHA256, as a forge signs. */
export function signature(secret: string | Buffer, body: string | Buffer): string {
  return createHmac("sha256", secret).update(body).digest("hex");
}

export const github = (secret: string, body: string | Buffer) => ({
  "x-hub-signature-256": `sha256=${signature(secret, body)}`,
});

/** Headers of GitLab's signing token (`whsec_…`). */
export function standardWebhook(secret: string, body: string, sentAt: Date, id = "msg_1"): Record<string, string> {
  const timestamp = String(Math.floor(sentAt.getTime() / 1_000));
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const digest = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
  return { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": `v1,${digest}` };
}
