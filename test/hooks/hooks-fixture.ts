import type { IncomingHttpHeaders } from "node:http";
import { onTestFinished } from "vitest";
import { keyOf, type ObjectOf } from "../../src/apis/index.ts";
import { createHooks, type DeliveryOutcome, type HooksDeps } from "../../src/hooks/index.ts";
import { manualClock } from "../support/manual-clock.ts";
import { memoryStore } from "../support/memory-store.ts";
import { github } from "./sign.ts";

export const KEY = { namespace: "default", name: "main" };
/** Address of those who send deliveries. */
export const FORGE = "192.0.2.1";
export const TOKEN = "s3cr3t-of-the-forge";
export const PUSH = JSON.stringify({ ref: "refs/heads/main" });

/** Hooks over a store, with a clock that stands still, and a repository `main` that takes deliveries. */
export async function hooksFixture(overrides: Partial<HooksDeps> = {}) {
  const clock = manualClock();
  const store = await memoryStore();
  const secrets = new Map<string, string>([["default/hook/token", TOKEN]]);
  const reads: string[] = [];
  const hinted: string[] = [];
  const outcomes: DeliveryOutcome[] = [];
  const logged: { level: "debug" | "warn"; fields: object; message: string }[] = [];
  const log = (level: "debug" | "warn") => (fields: object, message: string) => {
    logged.push({ level, fields, message });
  };
  const hooks = createHooks({
    store,
    readSecret: async (namespace, name, key) => {
      reads.push(`${namespace}/${name}/${key}`);
      return secrets.get(`${namespace}/${name}/${key}`);
    },
    hint: ({ metadata }) => void hinted.push(keyOf(metadata)),
    clock,
    log: { debug: log("debug"), warn: log("warn") },
    onDelivery: (outcome) => void outcomes.push(outcome),
    ...overrides,
  });
  onTestFinished(() => hooks.close());
  const repository = async (name: string, spec: object): Promise<ObjectOf<"Repository">> =>
    store.create(
      { kind: "Repository", metadata: { name, namespace: "default" }, spec: { url: "https://git.example/r", ...spec } },
      { owner: "api" },
    );
  await repository("main", { ref: { branch: "main" }, webhookSecretRef: { name: "hook" } });
  const deliver = (headers: IncomingHttpHeaders, body: string | Buffer = PUSH, key = KEY) =>
    hooks.receive(key, { headers, from: FORGE, body: () => pieces(body) });
  /** A delivery of GitHub, signed with the token. */
  const push = (body: string = PUSH, key = KEY) => deliver(github(TOKEN, body), body, key);
  return { hooks, clock, store, secrets, reads, hinted, outcomes, logged, repository, deliver, push };
}

export async function* pieces(body: string | Buffer): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(body);
  for (let start = 0; start < bytes.length; start += 64 * 1024) yield bytes.subarray(start, start + 64 * 1024);
}
