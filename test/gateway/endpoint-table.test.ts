import { expect, it, onTestFinished } from "vitest";
import { keyOf, type ObjectIntent, type TriggerSpec } from "../../src/apis/index.ts";
import { createInformer } from "../../src/controller/index.ts";
import { createEndpointTable, type Endpoint, type EndpointTable } from "../../src/gateway/index.ts";
import { eventually } from "../support/eventually.ts";
import { memoryStore } from "../support/memory-store.ts";

const HELLO = { namespace: "default", name: "hello" };

/** A table that follows a store as the server's does. */
async function followingTable(): Promise<{ table: EndpointTable; store: Awaited<ReturnType<typeof memoryStore>> }> {
  const store = await memoryStore();
  const abort = new AbortController();
  const functions = createInformer(store, "Function");
  const services = createInformer(store, "Service");
  const triggers = createInformer(store, "Trigger", {
    indexes: { functionRef: ({ metadata, spec }) => [`${metadata.namespace}/${spec.functionRef}`] },
  });
  const informers = [functions, services, triggers];
  const running = informers.map((informer) => informer.start(abort.signal));
  onTestFinished(async () => {
    abort.abort();
    await Promise.all(running);
  });
  await Promise.all(informers.map((informer) => informer.synced()));
  const triggersOf = (key: { namespace: string; name: string }) => triggers.byIndex("functionRef", keyOf(key));
  return { store, table: createEndpointTable({ functions, services, triggersOf }) };
}

const fn = (spec: object = {}): ObjectIntent => ({
  kind: "Function",
  metadata: HELLO,
  spec: { runtime: "python3.11", ...spec },
});
const service = (spec: object = {}): ObjectIntent => ({ ...fn(spec), kind: "Service" });
const trigger = (name: string, spec: Partial<TriggerSpec>): ObjectIntent => ({
  kind: "Trigger",
  metadata: { name, namespace: "default" },
  spec: { functionRef: "hello", type: "http", ...spec },
});
const cron: Partial<TriggerSpec> = { type: "cron", schedule: "@hourly" };

const cases: Record<string, { objects: ObjectIntent[]; expected: Partial<Endpoint> }> = {
  "a function without a trigger is there for sless alone": {
    objects: [fn()],
    expected: { public: false, replicas: 1, timeoutSec: 30 },
  },
  "a function with an http trigger is reachable": {
    objects: [fn({ timeoutSec: 5, replicas: 3 }), trigger("a", {})],
    expected: { public: true, replicas: 3, timeoutSec: 5 },
  },
  "a cron trigger makes no function reachable": {
    objects: [fn(), trigger("a", cron)],
    expected: { public: false, replicas: 1 },
  },
  "a disabled http trigger closes the way and leaves the others": {
    objects: [fn(), trigger("a", { enabled: false }), trigger("b", cron)],
    expected: { public: false, replicas: 1 },
  },
  "with all triggers disabled it is scaled to zero": {
    objects: [fn({ replicas: 2 }), trigger("a", { enabled: false }), trigger("b", { ...cron, enabled: false })],
    expected: { public: false, replicas: 0 },
  },
  "a trigger of another function counts for nothing": {
    objects: [fn(), trigger("a", { functionRef: "other" })],
    expected: { public: false },
  },
  "a service is reachable without a trigger and has no time limit": {
    objects: [service()],
    expected: { public: true, replicas: 1, timeoutSec: 0 },
  },
  "a service with all triggers disabled is scaled to zero": {
    objects: [service({ timeoutSec: 7 }), trigger("a", { enabled: false })],
    expected: { public: true, replicas: 0, timeoutSec: 7 },
  },
  "replicas 0 is kept": { objects: [service({ replicas: 0 })], expected: { replicas: 0 } },
};

it.each(Object.entries(cases))("%s", async (_name, { objects, expected }) => {
  const { store, table } = await followingTable();
  for (const object of objects) await store.create(object, { owner: "api" });
  const kind = objects[0]?.kind as Endpoint["workload"]["kind"];
  const seen = await eventually(
    "the table follows",
    () => table.find(HELLO),
    (found) => Object.entries(expected).every(([field, value]) => found?.[field as keyof Endpoint] === value),
  );
  expect(seen?.workload).toEqual({ kind, ...HELLO });
});

it("what is deleted or being deleted is not found", async () => {
  const { store, table } = await followingTable();
  await store.create(
    { ...service(), metadata: { ...HELLO, finalizers: ["sless.kube5s.ru/cleanup"] } },
    { owner: "api" },
  );
  await eventually(
    "it is there",
    () => table.find(HELLO),
    (found) => found !== undefined,
  );
  expect(await store.delete("Service", HELLO)).toBe("terminating");
  await eventually(
    "it is gone",
    () => table.find(HELLO),
    (found) => found === undefined,
  );
  expect(table.find({ namespace: "default", name: "nobody" })).toBeUndefined();
});
