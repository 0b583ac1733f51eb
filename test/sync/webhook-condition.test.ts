import { expect, it } from "vitest";
import { conditionsAfter, type ObjectOf, type RepositoryStatus } from "../../src/apis/index.ts";
import { SlessError } from "../../src/errors/index.ts";
import { lookAtWebhook } from "../../src/sync/webhook-condition.ts";

const THEN = "2026-01-01T00:00:00Z";
const NOW = "2026-01-02T00:00:00Z";
const ready = { type: "Ready", status: "True", reason: "Done", message: "", lastTransitionTime: THEN } as const;

function repository(secret?: string): ObjectOf<"Repository"> {
  return {
    metadata: { namespace: "demo", name: "site", generation: 3 },
    spec: { url: "/r", ...(secret && { webhookSecretRef: { name: secret } }) },
  } as ObjectOf<"Repository">;
}

const missing = async () => new SlessError("secret_missing", { secret: "hook", key: "token" });
const there = async () => undefined;

async function told(
  from: RepositoryStatus,
  webhookFault: (() => Promise<SlessError | undefined>) | undefined,
  secret?: string,
) {
  const withWebhook = await lookAtWebhook(repository(secret), webhookFault ? { webhookFault } : {});
  return withWebhook(from, NOW);
}
const webhookOf = ({ conditions }: RepositoryStatus) => conditions?.find(({ type }) => type === "WebhookReady");

it("a secret that is missing is told beside Ready, with what to do", async () => {
  const status = await told({ conditions: [ready] }, missing, "hook");
  expect(status.conditions?.[0]).toEqual(ready);
  expect(webhookOf(status)).toMatchObject({ status: "False", reason: "SecretMissing", lastTransitionTime: NOW });
  expect(webhookOf(status)?.message).toMatch(
    /Secret hook has no key token\. Write it with `sless secret set hook token=-`/,
  );
});

it("a secret that is there makes it true, and the same again changes nothing", async () => {
  const first = await told(await told({ conditions: [ready] }, missing, "hook"), there, "hook");
  expect(webhookOf(first)).toMatchObject({ status: "True", reason: "SecretFound" });
  expect(webhookOf(first)?.message).toContain("/hooks/demo/site");
  expect(await told(first, there, "hook")).toEqual(first);
});

it("it goes with the reference to the secret, and what never had one stays as it is", async () => {
  const before = await told({ conditions: [ready] }, there, "hook");
  expect(await told(before, there)).toEqual({ conditions: [ready] });
  expect(await told({}, there)).toEqual({});
});

it("a secret that cannot be read is no news", async () => {
  const before = await told({ conditions: [ready] }, there, "hook");
  const unreadable = async () => Promise.reject(new SlessError("cluster_unavailable", { cause: "away" }));
  expect(await told(before, unreadable, "hook")).toBe(before);
  expect(await told(before, undefined, "hook")).toBe(before);
});

it("a status that is made anew by a sync keeps it", async () => {
  const before = await told({ conditions: [ready] }, missing, "hook");
  const after = conditionsAfter(before.conditions, [{ ...ready, reason: "Again" }], NOW);
  expect(after.map(({ type }) => type)).toEqual(["Ready", "WebhookReady"]);
});
