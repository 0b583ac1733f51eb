import { describe, expect, it, onTestFinished } from "vitest";
import { createInformer, type Informer, type InformerOptions } from "../../src/controller/index.ts";
import { SlessError } from "../../src/errors/index.ts";
import type { ResourceStore } from "../../src/resources/index.ts";
import { eventually } from "../support/eventually.ts";
import { functionIntent } from "../support/function-intent.ts";
import { interruptible } from "../support/interruptible-store.ts";
import { manualClock } from "../support/manual-clock.ts";
import { memoryStore } from "../support/memory-store.ts";

type Options = InformerOptions<"Function", "runtime">;
const indexes: Options["indexes"] = { runtime: ({ spec }) => [spec.runtime] };
const owner = { owner: "api" } as const;

async function follow(store: Pick<ResourceStore, "list" | "watch">, options: Options = {}) {
  const informer = createInformer<"Function", "runtime">(store, "Function", { indexes, ...options });
  const events: string[] = [];
  informer.onEvent(
    (type, { metadata, spec }, before) =>
      void events.push(`${type} ${metadata.name} ${before ? `${before.spec.replicas}→` : ""}${spec.replicas}`),
  );
  const abort = new AbortController();
  const ended = informer.start(abort.signal);
  const stop = async () => {
    abort.abort();
    await ended;
  };
  onTestFinished(stop);
  return { informer, events, stop };
}

function namesOf(informer: Informer<"Function", "runtime">): string[] {
  return informer
    .list()
    .map(({ metadata }) => metadata.name)
    .sort();
}

describe("informer", () => {
  it("holds what was there and every change after", async () => {
    const store = await memoryStore();
    await store.create(functionIntent("demo", "before"), owner);
    const { informer, events } = await follow(store);
    await informer.synced();
    expect(namesOf(informer)).toEqual(["before"]);
    const { metadata } = await store.create(functionIntent("other", "hello"), owner);
    await store.patch("Function", metadata, { spec: { replicas: 2 } }, owner);
    await store.delete("Function", { namespace: "demo", name: "before" });
    await eventually(
      "all events came",
      () => events,
      ({ length }) => length === 4,
    );
    expect(events).toEqual(["ADDED before 1", "ADDED hello 1", "MODIFIED hello 1→2", "DELETED before 1→1"]);
    expect(informer.get("other/hello")).toEqual(await store.get("Function", metadata));
    expect(informer.get(metadata)?.spec.replicas).toBe(2);
    expect(informer.list("demo")).toEqual([]);
  });

  it("indexes follow every change", async () => {
    const store = await memoryStore();
    const { informer } = await follow(store);
    const { metadata } = await store.create(functionIntent("demo", "hello"), owner);
    await store.create(functionIntent("demo", "other", { runtime: "go1.23" }), owner);
    await eventually(
      "both are there",
      () => namesOf(informer),
      ({ length }) => length === 2,
    );
    expect(informer.byIndex("runtime", "python3.11")).toHaveLength(1);
    await store.patch("Function", metadata, { spec: { runtime: "go1.23" } }, owner);
    await eventually(
      "both are Go",
      () => informer.byIndex("runtime", "go1.23"),
      ({ length }) => length === 2,
    );
    expect(informer.byIndex("runtime", "python3.11")).toEqual([]);
    await store.delete("Function", metadata);
    await eventually(
      "one is left",
      () => informer.byIndex("runtime", "go1.23"),
      ({ length }) => length === 1,
    );
  });

  it("a late listener hears of all that is there", async () => {
    const store = await memoryStore();
    await store.create(functionIntent("demo", "hello"), owner);
    const { informer } = await follow(store);
    await informer.synced();
    const heard: string[] = [];
    const unlisten = informer.onEvent((type, { metadata }) => void heard.push(`${type} ${metadata.name}`));
    expect(heard).toEqual(["ADDED hello"]);
    unlisten();
    await store.create(functionIntent("demo", "next"), owner);
    await eventually(
      "next is there",
      () => namesOf(informer),
      ({ length }) => length === 2,
    );
    expect(heard).toEqual(["ADDED hello"]);
  });

  it("a listener that throws hurts nobody", async () => {
    const store = await memoryStore();
    const { informer, events } = await follow(store);
    informer.onEvent(() => {
      throw new Error("boom");
    });
    await store.create(functionIntent("demo", "a"), owner);
    await store.create(functionIntent("demo", "b"), owner);
    await eventually(
      "both events came",
      () => events,
      ({ length }) => length === 2,
    );
  });

  it("an interrupted watch is listed again and what was missed is told once", async () => {
    const store = await memoryStore();
    await store.create(functionIntent("demo", "gone"), owner);
    const changed = await store.create(functionIntent("demo", "changed"), owner);
    await store.create(functionIntent("demo", "same"), owner);
    const { faulty, interrupt } = interruptible(store);
    const clock = manualClock();
    const { informer, events } = await follow(faulty, { clock });
    await informer.synced();
    events.length = 0;
    interrupt(new SlessError("storage_unavailable"));
    await eventually("it waits for its back-off", clock.timers, ({ length }) => length === 1);
    await store.delete("Function", { namespace: "demo", name: "gone" });
    await store.patch("Function", changed.metadata, { spec: { replicas: 2 } }, owner);
    await store.patch("Function", changed.metadata, { spec: { replicas: 3 } }, owner);
    await store.create(functionIntent("demo", "new"), owner);
    clock.advance(1000);
    await eventually(
      "the changes came",
      () => events,
      ({ length }) => length === 3,
    );
    expect(events.sort()).toEqual(["ADDED new 1", "DELETED gone 1→1", "MODIFIED changed 1→3"]);
    await store.create(functionIntent("demo", "later"), owner);
    await eventually(
      "it watches again",
      () => events,
      ({ length }) => length === 4,
    );
  });

  it("a watch that is too old is listed again", async () => {
    const store = await memoryStore();
    const { faulty, interrupt } = interruptible(store);
    const { informer } = await follow(faulty, { backOff: { baseMs: 1 } });
    await informer.synced();
    interrupt(new SlessError("conflict", { what: "The watched Function list" }));
    await store.create(functionIntent("demo", "hello"), owner);
    await eventually(
      "hello is there",
      () => namesOf(informer),
      ({ length }) => length === 1,
    );
  });

  it("a store that fails at first is tried until it answers", async () => {
    const store = await memoryStore();
    await store.create(functionIntent("demo", "hello"), owner);
    let failures = 3;
    const failing: Pick<ResourceStore, "list" | "watch"> = {
      ...store,
      list: (...request) => {
        if (failures-- > 0) throw new SlessError("storage_unavailable");
        return store.list(...request);
      },
    };
    const { informer } = await follow(failing, { backOff: { baseMs: 1 } });
    await informer.synced();
    expect(namesOf(informer)).toEqual(["hello"]);
  });

  it("stopping before the first list rejects who waits for it", async () => {
    const store = await memoryStore();
    const gate = Promise.withResolvers<never>();
    const { informer, stop } = await follow({ ...store, list: () => gate.promise });
    const stopped = stop();
    await expect(informer.synced()).rejects.toThrow();
    gate.reject(new Error("too late"));
    await stopped;
  });

  it("an object that this process wrote is there at once, and older news do not take it back", async () => {
    const store = await memoryStore();
    const first = await store.create(functionIntent("demo", "hello"), owner);
    const gate = Promise.withResolvers<void>();
    const late: typeof store = {
      ...store,
      async *watch(kind, options) {
        await gate.promise;
        yield* store.watch(kind, options);
      },
    };
    const { informer, events } = await follow(late);
    await informer.synced();
    const second = await store.patch("Function", first.metadata, { spec: { replicas: 2 } }, owner);
    const third = await store.patch("Function", first.metadata, { spec: { replicas: 3 } }, owner);
    informer.observe(third);
    informer.observe(second);
    informer.observe(first);
    expect(informer.get("demo/hello")).toBe(third);
    await store.create(functionIntent("demo", "later"), owner);
    gate.resolve();
    await eventually(
      "later is there",
      () => namesOf(informer),
      ({ length }) => length === 2,
    );
    expect(events).toEqual(["ADDED hello 1", "MODIFIED hello 1→3", "ADDED later 1"]);
  });

  it("observing an object that is gone meanwhile does not bring it back", async () => {
    const store = await memoryStore();
    const { informer, events } = await follow(store);
    const created = await store.create(functionIntent("demo", "hello"), owner);
    await store.delete("Function", created.metadata);
    await eventually(
      "the deletion came",
      () => events,
      ({ length }) => length === 2,
    );
    informer.observe(created);
    expect(informer.get("demo/hello")).toBeUndefined();
  });
});
