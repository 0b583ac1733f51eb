import { expect, it } from "vitest";
import { effectiveReplicas, type ObjectOf, type TriggerSpec } from "../../src/apis/index.ts";

const apiVersion = "sless.kube5s.ru/v1alpha1";
const metadata = {
  name: "hello",
  namespace: "default",
  uid: "u-1",
  resourceVersion: "1",
  generation: 1,
  creationTimestamp: "2026-01-01T00:00:00Z",
};
const func = (replicas?: number): ObjectOf<"Function"> => ({
  apiVersion,
  kind: "Function",
  metadata,
  spec: { runtime: "python3.11", ...(replicas !== undefined && { replicas }) },
});
const trigger = (spec: Partial<TriggerSpec>, warm = false, leaving = false): ObjectOf<"Trigger"> => ({
  apiVersion,
  kind: "Trigger",
  metadata: { ...metadata, ...(leaving && { deletionTimestamp: metadata.creationTimestamp }) },
  spec: { type: "http", functionRef: "hello", ...spec },
  ...(warm && { status: { warm } }),
});
const off = { enabled: false };
const cron = { type: "cron", schedule: "@hourly" } as const;

it.each([
  ["nothing said is one", func(), [], 1],
  ["what the spec says", func(3), [trigger({})], 3],
  ["none with all triggers disabled", func(3), [trigger(off)], 0],
  ["a disabled trigger that is being deleted counts no more", func(3), [trigger(off, false, true)], 3],
  ["of none one, while a cron trigger keeps it warm", func(0), [trigger({}), trigger(cron, true)], 1],
  ["of none none, when nothing keeps it warm", func(0), [trigger(cron)], 0],
  ["no more of several for being kept warm", func(3), [trigger(cron, true)], 3],
  ["a disabled cron trigger keeps nothing warm", func(0), [trigger({}), trigger({ ...cron, ...off }, true)], 0],
  ["nor does one that is being deleted", func(0), [trigger(cron, true, true)], 0],
  ["nor one that is of type cron no longer", func(0), [trigger({}, true)], 0],
])("%s", (_name, object, triggers, expected) => {
  expect(effectiveReplicas(object, triggers)).toBe(expected);
});
