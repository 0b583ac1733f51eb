import { expect, it } from "vitest";
import { API_VERSION, effectiveReplicas, isReachable, type ObjectOf } from "../../src/apis/index.ts";
import { endpointObjects } from "../../src/app/cluster/endpoint-objects.ts";
import type { WatchEvent } from "../../src/resources/index.ts";
import { memoryStore } from "../support/memory-store.ts";

const HELLO = { namespace: "default", name: "hello" };
const LARGE = "x".repeat(30_000);

it("objects are told without what a gateway does not read, and mean the same to it", async () => {
  const store = await memoryStore();
  const env = Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`E${index}`, LARGE]));
  const annotations = { "example.com/x": LARGE };
  const fn = {
    kind: "Function",
    metadata: { ...HELLO, annotations },
    spec: { runtime: "python3.11", env, replicas: 0 },
  } as const;
  const trigger = {
    kind: "Trigger",
    metadata: { ...HELLO, annotations },
    spec: { type: "cron", functionRef: "hello", schedule: "* * * * *", eventJSON: `"${LARGE}"`, preWarmSeconds: 5 },
  } as const;
  const { resourceVersion: from } = await store.list("Function");
  const first = await store.create(fn, { owner: "api" });
  const made = await store.create(trigger, { owner: "api" });
  const warm = (await store.updateStatus<"Trigger">(made as ObjectOf<"Trigger">, {
    warm: true,
    active: true,
  })) as ObjectOf<"Trigger">;
  const objects = endpointObjects(store);
  const [seen] = (await objects.list("Function")).items;
  const [seenTrigger] = (await objects.list("Trigger")).items;
  for (const one of [seen, seenTrigger]) expect(JSON.stringify(one).length).toBeLessThan(1_000);
  expect(seen).toMatchObject({ apiVersion: API_VERSION, kind: "Function", metadata: HELLO, spec: { replicas: 0 } });
  expect(effectiveReplicas(seen!, [seenTrigger!])).toBe(effectiveReplicas(first as ObjectOf<"Function">, [warm]));
  expect(isReachable("Function", [seenTrigger!])).toBe(isReachable("Function", [warm]));

  const stop = new AbortController();
  const events: WatchEvent<"Function">[] = [];
  for await (const event of objects.watch("Function", { from, signal: stop.signal })) {
    events.push(event);
    if (event.type !== "BOOKMARK") stop.abort();
  }
  expect(events.at(-1)).toMatchObject({ type: "ADDED", object: seen });
});
