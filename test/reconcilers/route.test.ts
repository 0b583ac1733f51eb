import { expect, it } from "vitest";
import { keyOf } from "../../src/apis/index.ts";
import { SlessError } from "../../src/errors/index.ts";
import type { ResourceStore } from "../../src/resources/index.ts";
import { eventually } from "../support/eventually.ts";
import { type MemoryRoutes, memoryRoutes } from "../support/memory-routes.ts";
import { memoryStore } from "../support/memory-store.ts";
import { createFunction, KEY, reconcilersWorld } from "./reconcilers-world.ts";

const API = { owner: "api" } as const;

async function openWorld(routes: MemoryRoutes = memoryRoutes()) {
  const store = await memoryStore();
  const world = reconcilersWorld(store, { routes });
  return { store, routes, start: world.start };
}

function createTrigger(store: ResourceStore, name: string, spec: object = {}) {
  const metadata = { namespace: KEY.namespace, name };
  return store.create({ kind: "Trigger", metadata, spec: { type: "http", functionRef: KEY.name, ...spec } }, API);
}

const until = (routes: MemoryRoutes, expected: string[]) =>
  eventually(
    `routes are ${expected}`,
    () => routes.list().map(keyOf).sort(),
    (seen) => `${seen}` === `${expected}`,
  );

it("a function has a route from its first enabled http trigger to the end of its last", async () => {
  const { store, routes, start } = await openWorld();
  const { idle } = await start();
  await createFunction(store);
  await createTrigger(store, "tick", { type: "cron", schedule: "* * * * *" });
  await idle();
  expect(routes.list()).toEqual([]);
  await createTrigger(store, "one");
  await createTrigger(store, "two");
  await until(routes, ["demo/hello"]);
  await store.patch("Trigger", { ...KEY, name: "one" }, { spec: { enabled: false } }, API);
  await idle();
  expect(routes.writes.count).toBe(1);
  await until(routes, ["demo/hello"]);
  await store.delete("Trigger", { ...KEY, name: "two" });
  await until(routes, []);
  await store.patch("Trigger", { ...KEY, name: "one" }, { spec: { enabled: true } }, API);
  await until(routes, ["demo/hello"]);
});

it("a service has a route without a trigger, for as long as it is there", async () => {
  const { store, routes, start } = await openWorld();
  await start();
  await store.create({ kind: "Service", metadata: KEY, spec: { runtime: "python3.11" } }, API);
  await until(routes, ["demo/hello"]);
  await store.delete("Service", KEY);
  await until(routes, []);
});

it("a trigger that points elsewhere takes its route along", async () => {
  const { store, routes, start } = await openWorld();
  await start();
  await createFunction(store);
  await store.create({ kind: "Function", metadata: { ...KEY, name: "bye" }, spec: { runtime: "python3.11" } }, API);
  await createTrigger(store, "one");
  await until(routes, ["demo/hello"]);
  await store.patch("Trigger", { ...KEY, name: "one" }, { spec: { functionRef: "bye" } }, API);
  await until(routes, ["demo/bye"]);
});

it("a route that somebody takes away comes back", async () => {
  const { store, routes, start } = await openWorld();
  await start();
  await createFunction(store);
  await createTrigger(store, "one");
  await until(routes, ["demo/hello"]);
  routes.takeAway(KEY);
  await until(routes, ["demo/hello"]);
  expect(routes.writes.count).toBe(2);
});

it("what lost its reason while nobody watched is withdrawn at the start", async () => {
  const { routes, start } = await openWorld();
  await routes.publish(KEY);
  await start();
  await until(routes, []);
});

it("a route that cannot be had is told by the trigger, and by no address", async () => {
  let isRefused = true;
  const kept = memoryRoutes();
  const routes: MemoryRoutes = {
    ...kept,
    async publish(target) {
      if (isRefused) throw new SlessError("cluster_unavailable", { cause: "etcd is slow" });
      return kept.publish(target);
    },
  };
  const { store, start } = await openWorld(routes);
  await start();
  await createFunction(store);
  await createTrigger(store, "one");
  const read = async () => (await store.get("Trigger", { ...KEY, name: "one" }))?.status;
  const refused = await eventually(
    "the refusal is told",
    read,
    (seen) => seen?.conditions?.[0]?.reason === "RouteFailed",
  );
  expect(refused).toMatchObject({ active: false, conditions: [{ status: "False" }, { type: "Reconciling" }] });
  expect(refused?.url).toBeUndefined();
  expect(refused?.conditions?.[0]?.message).toContain("etcd is slow");
  isRefused = false;
  await eventually("it goes on by itself", read, (seen) => seen?.active === true);
});
