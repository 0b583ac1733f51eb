import { describe, expect, it, onTestFinished } from "vitest";
import { cachedStore, createInformer, type Informer } from "../../src/controller/index.ts";
import type { ResourceStore } from "../../src/resources/index.ts";
import { eventually } from "../support/eventually.ts";
import { functionIntent } from "../support/function-intent.ts";
import { memoryStore } from "../support/memory-store.ts";

const KEY = { namespace: "demo", name: "hello" };
const API = { owner: "api" } as const;

/** A store whose gets are counted, a cache of it, and watches that tell nothing while they are held. */
async function world() {
  const store = await memoryStore();
  let gets = 0;
  let open = Promise.withResolvers<void>();
  open.resolve();
  const counted: ResourceStore = {
    ...store,
    get(kind, key) {
      gets += 1;
      return store.get(kind, key);
    },
    async *watch(kind, options) {
      for await (const event of store.watch(kind, options)) {
        await open.promise;
        yield event;
      }
    },
  };
  const informer: Informer<"Function"> = createInformer(counted, "Function", { backOff: { baseMs: 0 } });
  const abort = new AbortController();
  const ended = informer.start(abort.signal);
  onTestFinished(async () => {
    open.resolve();
    abort.abort();
    await ended;
  });
  return {
    store,
    informer,
    cached: cachedStore(counted, { Function: informer }),
    gets: () => gets,
    hold() {
      open = Promise.withResolvers();
    },
    release: () => open.resolve(),
  };
}

describe("a store with informers", () => {
  it("reads what is in memory and asks the store nothing", async () => {
    const { cached, gets } = await world();
    expect(await cached.get("Function", KEY)).toBeUndefined();
    const created = await cached.create(functionIntent("demo", "hello"), API);
    expect(await cached.get("Function", KEY)).toEqual(created);
    const ready = await cached.updateStatus(created, { phase: "Ready" });
    expect(await cached.get("Function", KEY)).toEqual(ready);
    expect(gets()).toBe(0);
  });

  it("a kind without an informer is read from the store", async () => {
    const { cached, gets } = await world();
    await cached.create({ ...functionIntent("demo", "hello"), kind: "Service" }, API);
    expect(await cached.get("Service", KEY)).toMatchObject({ kind: "Service" });
    expect(gets()).toBe(1);
  });

  const writes: Record<string, (cached: ResourceStore) => Promise<unknown>> = {
    "an apply": (cached) => cached.apply(functionIntent("demo", "hello", { replicas: 7 }), { owner: "sync" }),
    "a patch": (cached) => cached.patch("Function", KEY, { spec: { replicas: 7 } }, API),
  };
  it.each(Object.entries(writes))("%s is read back before the watch tells it", async (_name, write) => {
    const { cached, hold, gets } = await world();
    await cached.create(functionIntent("demo", "hello"), API);
    hold();
    await write(cached);
    expect((await cached.get("Function", KEY))?.spec.replicas).toBe(7);
    expect(gets()).toBe(0);
  });

  it("after a deletion the object does not come back from memory", async () => {
    const { cached, hold, release, gets, informer } = await world();
    await cached.create(functionIntent("demo", "hello"), API);
    hold();
    expect(await cached.delete("Function", KEY)).toBe("deleted");
    expect(informer.get(KEY)).toBeDefined();
    expect(await cached.get("Function", KEY)).toBeUndefined();
    expect(gets()).toBe(1);
    release();
    await eventually(
      "the deletion is known",
      () => informer.get(KEY),
      (object) => object === undefined,
    );
    expect(await cached.get("Function", KEY)).toBeUndefined();
    expect(gets()).toBe(1);
  });

  it("a deletion counts also while older changes of the object are still on their way", async () => {
    const { cached, store, hold, informer } = await world();
    const { metadata } = await cached.create(functionIntent("demo", "hello"), API);
    hold();
    const patched = await store.patch("Function", KEY, { spec: { replicas: 3 } }, API);
    await cached.delete("Function", KEY, { uid: metadata.uid });
    informer.observe(patched);
    expect(await cached.get("Function", KEY)).toBeUndefined();
  });

  it("an object that waits for its finalizers is read as terminating, and as gone after the last one", async () => {
    const { cached, hold } = await world();
    const metadata = { finalizers: ["sless.kube5s.ru/cleanup"] };
    await cached.create(functionIntent("demo", "hello", { metadata }), API);
    hold();
    expect(await cached.delete("Function", KEY)).toBe("terminating");
    expect((await cached.get("Function", KEY))?.metadata.deletionTimestamp).toBeDefined();
    await cached.patch("Function", KEY, { metadata: { finalizers: [] } }, { owner: "reconciler" });
    expect(await cached.get("Function", KEY)).toBeUndefined();
  });

  it("a new object in the place of a deleted one is read at once", async () => {
    const { cached, hold } = await world();
    await cached.create(functionIntent("demo", "hello"), API);
    hold();
    await cached.delete("Function", KEY);
    const next = await cached.create(functionIntent("demo", "hello", { replicas: 4 }), API);
    expect(await cached.get("Function", KEY)).toEqual(next);
  });

  it("a conflict makes the next read a fresh one, and only that", async () => {
    const { cached, store, hold, gets } = await world();
    const created = await cached.create(functionIntent("demo", "hello"), API);
    hold();
    const changed = await store.patch("Function", KEY, { spec: { replicas: 5 } }, API);
    expect((await cached.get("Function", KEY))?.spec.replicas).toBe(1);
    await expect(cached.updateStatus(created, { phase: "Ready" })).rejects.toMatchObject({ code: "conflict" });
    expect(await cached.get("Function", KEY)).toEqual(changed);
    expect(await cached.get("Function", KEY)).toEqual(changed);
    expect(gets()).toBe(1);
  });

  it("an object that somebody deleted meanwhile is read as gone after a write did not find it", async () => {
    const { cached, store, hold, gets } = await world();
    const created = await cached.create(functionIntent("demo", "hello"), API);
    hold();
    await store.delete("Function", KEY);
    await expect(cached.updateStatus(created, { phase: "Ready" })).rejects.toMatchObject({ code: "not_found" });
    expect(await cached.get("Function", KEY)).toBeUndefined();
    expect(gets()).toBe(1);
  });

  it("others' writes are seen once the watch tells them", async () => {
    const { cached, store, gets } = await world();
    await cached.create(functionIntent("demo", "hello"), API);
    await store.patch("Function", KEY, { spec: { replicas: 9 } }, API);
    await eventually(
      "the change is in memory",
      () => cached.get("Function", KEY),
      (object) => object?.spec.replicas === 9,
    );
    expect(gets()).toBe(0);
  });
});
