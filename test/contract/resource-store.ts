import { describe, expect, it } from "vitest";
import type { Kind, ObjectIntent, ObjectOf, WorkloadStatus } from "../../src/apis/index.ts";
import type { ResourceStore, WatchEvent } from "../../src/resources/index.ts";
import { functionIntent } from "../support/function-intent.ts";
import { fieldOwnerModel } from "./field-owner-model.ts";
import type { OpenedStore } from "./opened-store.ts";

/** What every ResourceStore does; where there was a choice, it is what a Kubernetes API server does. */
export function resourceStoreContract(open: () => Promise<OpenedStore>): void {
  describe("objects", () => objectContract(open));
  describe("updates", () => updateContract(open));
  describe("field owners", () => ownerContract(open));
  describe("field owners in a model", () => fieldOwnerModel(open));
  describe("deletion", () => deletionContract(open));
  describe("lists and watches", () => watchContract(open));
}

const FINALIZERS = ["sless.kube5s.ru/cleanup"];

function objectContract(open: () => Promise<OpenedStore>): void {
  it("a created object has its identity, version 1 of its spec and the schema's defaults", async () => {
    const { store, namespace } = await open();
    const created = await store.create(functionIntent(namespace, "hello"), { owner: "api" });
    expect(created).toMatchObject({
      apiVersion: "sless.kube5s.ru/v1alpha1",
      kind: "Function",
      metadata: { name: "hello", namespace, generation: 1 },
      spec: { runtime: "python3.11", entrypoint: "handler.handle", memoryMB: 128, timeoutSec: 30, replicas: 1 },
    });
    expect(created.metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
    expect(created.metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(created.status).toBeUndefined();
    expect(await store.get("Function", { namespace, name: "hello" })).toEqual(created);
  });

  it("what does not exist is undefined", async () => {
    const { store, namespace } = await open();
    expect(await store.get("Function", { namespace, name: "hello" })).toBeUndefined();
  });

  it("a name is free in another namespace and of another kind, and taken otherwise", async () => {
    const { store, namespace, otherNamespace } = await open();
    const intent = functionIntent(namespace, "hello");
    await store.create(intent, { owner: "api" });
    await store.create(functionIntent(otherNamespace, "hello"), { owner: "api" });
    await store.create({ ...intent, kind: "Service" }, { owner: "api" });
    await expect(store.create(intent, { owner: "sync" })).rejects.toMatchObject({ code: "already_exists" });
  });

  const refused: Record<string, (intent: ObjectIntent<"Function">) => void> = {
    "a name that is no DNS label": ({ metadata }) => (metadata.name = "Hello_World"),
    "a name that is too long": ({ metadata }) => (metadata.name = "a".repeat(53)),
    "a label that is none": ({ metadata }) => (metadata.labels = { "a b": "c" }),
    "a label value with a space": ({ metadata }) => (metadata.labels = { a: "b c" }),
    "a finalizer that is no name": ({ metadata }) => (metadata.finalizers = ["clean up"]),
    "a missing field": ({ spec }) => delete spec.runtime,
    "a value out of range": ({ spec }) => (spec.memoryMB = 1),
    "a value of another type": ({ spec }) => Object.assign(spec, { env: { A: 1 } }),
    "a field that breaks a rule between fields": ({ spec }) => (spec.env = { PORT: "80" }),
  };
  it.each(Object.entries(refused))("%s is refused and nothing is written", async (_name, spoil) => {
    const { store, namespace } = await open();
    const intent = functionIntent(namespace, "hello");
    spoil(intent);
    await expect(store.create(intent, { owner: "api" })).rejects.toMatchObject({ code: "invalid_request" });
    await expect(store.apply(intent, { owner: "sync" })).rejects.toMatchObject({ code: "invalid_request" });
    expect((await store.list("Function", { namespace })).items).toEqual([]);
  });
}

function updateContract(open: () => Promise<OpenedStore>): void {
  it("the generation moves with the spec, the version with every change", async () => {
    const { store, namespace } = await open();
    const key = { namespace, name: "hello" };
    const created = await store.create(functionIntent(namespace, "hello"), { owner: "api" });
    const labelled = await store.patch("Function", key, { metadata: { labels: { a: "b" } } }, { owner: "api" });
    const scaled = await store.patch("Function", key, { spec: { replicas: 3 } }, { owner: "api" });
    expect([created, labelled, scaled].map(({ metadata }) => metadata.generation)).toEqual([1, 1, 2]);
    expect(new Set([created, labelled, scaled].map(({ metadata }) => metadata.resourceVersion)).size).toBe(3);
    expect(scaled.metadata).toMatchObject({ uid: created.metadata.uid, labels: { a: "b" } });
  });

  it("a merge patch sets, removes with null and leaves the rest", async () => {
    const { store, namespace } = await open();
    const key = { namespace, name: "hello" };
    const metadata = { labels: { a: "1", b: "2" }, annotations: { c: "3" } };
    await store.create(functionIntent(namespace, "hello", { metadata, env: { A: "1", B: "2" } }), { owner: "api" });
    const patched = await store.patch(
      "Function",
      key,
      { metadata: { labels: { a: null, d: "4" } }, spec: { env: { A: null, C: "3" }, memoryMB: 256 } },
      { owner: "api" },
    );
    expect(patched.metadata).toMatchObject({ labels: { b: "2", d: "4" }, annotations: { c: "3" } });
    expect(patched.metadata.labels).not.toHaveProperty("a");
    expect(patched.spec).toMatchObject({ env: { B: "2", C: "3" }, memoryMB: 256, runtime: "python3.11" });
    expect(patched.spec.env).not.toHaveProperty("A");
    const reset = await store.patch("Function", key, { spec: { memoryMB: null } }, { owner: "api" });
    expect(reset.spec.memoryMB).toBe(128);
  });

  it("a patch that changes nothing writes nothing", async () => {
    const { store, namespace } = await open();
    const created = await lookedAt(store, await store.create(functionIntent(namespace, "hello"), { owner: "api" }));
    const same = await store.patch(
      "Function",
      created.metadata,
      { metadata: { labels: { gone: null } }, spec: { memoryMB: 128 } },
      { owner: "sync" },
    );
    expect(same).toEqual(created);
  });

  it("a patch that does not fit the schema changes nothing", async () => {
    const { store, namespace } = await open();
    const created = await store.create(functionIntent(namespace, "hello"), { owner: "api" });
    const patch = store.patch("Function", created.metadata, { spec: { memoryMB: 1 } }, { owner: "api" });
    await expect(patch).rejects.toMatchObject({ code: "invalid_request" });
    expect(await store.get("Function", created.metadata)).toEqual(created);
  });

  it("a patch of an older version or of another life is a conflict, of nothing is not found", async () => {
    const { store, namespace } = await open();
    const key = { namespace, name: "hello" };
    const patch = (options: { uid?: string; resourceVersion?: string }) =>
      store.patch("Function", key, { spec: { memoryMB: 512 } }, { owner: "api", ...options });
    await expect(patch({})).rejects.toMatchObject({ code: "not_found" });
    const first = await store.create(functionIntent(namespace, "hello"), { owner: "api" });
    await store.patch("Function", key, { spec: { replicas: 2 } }, { owner: "api" });
    await expect(patch({ resourceVersion: first.metadata.resourceVersion })).rejects.toMatchObject({
      code: "conflict",
    });
    await store.delete("Function", key);
    await store.create(functionIntent(namespace, "hello"), { owner: "api" });
    await expect(patch({ uid: first.metadata.uid })).rejects.toMatchObject({ code: "conflict" });
    expect((await store.get("Function", key))?.spec.memoryMB).toBe(128);
  });

  it("a status is written apart from the spec and replaces the one before", async () => {
    const { store, namespace } = await open();
    const created = await store.create(functionIntent(namespace, "hello"), { owner: "api" });
    const built = await store.updateStatus(created, { phase: "Building", message: "installing" });
    expect(built).toMatchObject({ spec: created.spec, status: { phase: "Building", message: "installing" } });
    expect(built.metadata.generation).toBe(1);
    const ready = await store.updateStatus(built, { phase: "Ready" });
    expect(ready.status).toEqual({ phase: "Ready" });
    const patched = await store.patch("Function", created.metadata, { spec: { replicas: 2 } }, { owner: "api" });
    expect(patched.status).toEqual({ phase: "Ready" });
  });

  it("an object with a changed spec passed to a status update changes the status alone", async () => {
    const { store, namespace } = await open();
    const created = await store.create(functionIntent(namespace, "hello"), { owner: "api" });
    const changed = { ...created, spec: { ...created.spec, memoryMB: 512 } };
    const updated = await store.updateStatus(changed, { phase: "Ready" });
    expect(updated.spec.memoryMB).toBe(128);
  });

  it("a status bears the longest result of a job, also where JSON needs six characters for one", async () => {
    const { store, namespace } = await open();
    const intent = {
      kind: "FunctionJob" as const,
      metadata: { namespace, name: "report" },
      spec: { functionRef: "hello" },
    };
    const created = await store.create<"FunctionJob">(intent, { owner: "api" });
    const message = "\u0001é\n".repeat(16_384);
    await store.updateStatus<"FunctionJob">(created, { phase: "Succeeded", message });
    expect((await store.get("FunctionJob", created.metadata))?.status?.message).toBe(message);
  });

  it("a status that does not fit its schema is refused", async () => {
    const { store, namespace } = await open();
    const created = await store.create(functionIntent(namespace, "hello"), { owner: "api" });
    const invalid = { phase: "Ready", replicas: "2" } as unknown as WorkloadStatus;
    await expect(store.updateStatus(created, invalid)).rejects.toMatchObject({ code: "invalid_request" });
    expect(await store.get("Function", created.metadata)).toEqual(created);
  });

  it("an equal status is not written, one over a stale version is a conflict", async () => {
    const { store, namespace } = await open();
    const created = await store.create(functionIntent(namespace, "hello"), { owner: "api" });
    const first = await store.updateStatus(created, { phase: "Ready" });
    expect(await store.updateStatus(first, { phase: "Ready" })).toEqual(first);
    await expect(store.updateStatus(created, { phase: "Failed" })).rejects.toMatchObject({ code: "conflict" });
    await store.delete("Function", created.metadata);
    await expect(store.updateStatus(first, { phase: "Failed" })).rejects.toMatchObject({ code: "not_found" });
  });
}

/** With a first status: the one that the CRD gives an object before that is written down with the next write. */
function lookedAt(store: ResourceStore, object: ObjectOf<"Function">): Promise<ObjectOf<"Function">> {
  return store.updateStatus(object, { observedGeneration: object.metadata.generation });
}

function ownerContract(open: () => Promise<OpenedStore>): void {
  it("an apply creates, and the same apply again writes nothing", async () => {
    const { store, namespace } = await open();
    const intent = functionIntent(namespace, "hello", { env: { A: "1" }, metadata: { labels: { a: "b" } } });
    const created = await lookedAt(store, await store.apply(intent, { owner: "sync" }));
    expect(created).toMatchObject({ metadata: { generation: 1, labels: { a: "b" } }, spec: { memoryMB: 128 } });
    expect(await store.apply(intent, { owner: "sync" })).toEqual(created);
  });

  it("a status that is written leaves every field its owners", async () => {
    const { store, namespace } = await open();
    const marks = { labels: { a: "b" }, annotations: { c: "d" } };
    const intent = functionIntent(namespace, "hello", { metadata: { ...marks, finalizers: FINALIZERS } });
    await lookedAt(store, await store.apply(intent, { owner: "sync" }));
    const { metadata } = await store.apply(functionIntent(namespace, "hello"), { owner: "sync" });
    expect(metadata.labels ?? {}).toEqual({});
    expect(metadata.annotations ?? {}).toEqual({});
    expect(metadata.finalizers ?? []).toEqual([]);
  });

  it("a field that an owner leaves out goes and its default returns", async () => {
    const { store, namespace } = await open();
    const metadata = { labels: { a: "1" }, annotations: { b: "2" } };
    const full = functionIntent(namespace, "hello", { memoryMB: 512, env: { A: "1", B: "2" }, metadata });
    await store.apply(full, { owner: "sync" });
    const fewer = await store.apply(functionIntent(namespace, "hello", { env: { A: "1" } }), { owner: "sync" });
    expect(fewer.spec).toMatchObject({ memoryMB: 128, env: { A: "1" } });
    expect(fewer.spec.env).not.toHaveProperty("B");
    expect(fewer.metadata.labels ?? {}).toEqual({});
    expect(fewer.metadata.annotations ?? {}).toEqual({});
    const none = await store.apply(functionIntent(namespace, "hello"), { owner: "sync" });
    expect(none.spec).not.toHaveProperty("env");
  });

  it("a field of somebody else stays when an owner never had it or no longer names it", async () => {
    const { store, namespace } = await open();
    await store.apply(functionIntent(namespace, "hello", { env: { A: "1" } }), { owner: "sync" });
    await store.patch("Function", { namespace, name: "hello" }, { spec: { replicas: 3 } }, { owner: "api" });
    const after = await store.apply(functionIntent(namespace, "hello"), { owner: "sync" });
    expect(after.spec.replicas).toBe(3);
    expect(after.spec).not.toHaveProperty("env");
  });

  it("an apply holds for the object that was seen, or for none at all", async () => {
    const { store, namespace } = await open();
    const intent = functionIntent(namespace, "hello");
    const unseen = { owner: "sync", uid: "aa0b5f0a-6c0c-4b5e-8a56-0f4f3cf0f3a1", resourceVersion: "1" } as const;
    await expect(store.apply(intent, unseen)).rejects.toMatchObject({ code: "conflict" });
    const { uid, resourceVersion } = (await store.apply(intent, { owner: "sync", absent: true })).metadata;
    await expect(store.apply(intent, { owner: "sync", absent: true })).rejects.toMatchObject({ code: "conflict" });
    const other = functionIntent(namespace, "hello", { memoryMB: 512 });
    const changed = await store.apply(other, { owner: "sync", uid, resourceVersion });
    expect(changed.spec.memoryMB).toBe(512);
    const stale = { owner: "sync", uid, resourceVersion } as const;
    await expect(store.apply(intent, stale)).rejects.toMatchObject({ code: "conflict" });
    expect(await store.get("Function", { namespace, name: "hello" })).toEqual(changed);
  });

  it("an owner is told which fields it applied and still has", async () => {
    const { store, namespace } = await open();
    const key = { namespace, name: "hello" };
    const applied = () => store.appliedFields("Function", key, "sync");
    expect(await applied()).toEqual([]);
    await store.apply(functionIntent(namespace, "hello", { env: { A: "1", B: "2" }, replicas: 2 }), { owner: "sync" });
    expect(await applied()).toEqual(["env", "replicas", "runtime"]);
    await store.patch("Function", key, { spec: { replicas: 3, memoryMB: 256 } }, { owner: "api" });
    expect(await applied()).toEqual(["env", "runtime"]);
    await store.patch("Function", key, { spec: { timeoutSec: 5 } }, { owner: "sync" });
    expect(await applied()).toEqual(["env", "runtime"]);
  });

  it("an equal value has two owners and goes with the second", async () => {
    const { store, namespace } = await open();
    const intent = functionIntent(namespace, "hello", { memoryMB: 512 });
    const bare = functionIntent(namespace, "hello");
    await store.apply(intent, { owner: "sync" });
    await store.apply(intent, { owner: "reconciler" });
    expect((await store.apply(bare, { owner: "sync" })).spec.memoryMB).toBe(512);
    expect((await store.apply(bare, { owner: "reconciler" })).spec.memoryMB).toBe(128);
  });

  it("an apply of another value takes the field over from whoever applied or patched it", async () => {
    const { store, namespace } = await open();
    const key = { namespace, name: "hello" };
    const bare = functionIntent(namespace, "hello");
    await store.apply(functionIntent(namespace, "hello", { memoryMB: 256, timeoutSec: 5 }), { owner: "reconciler" });
    await store.patch("Function", key, { spec: { timeoutSec: 6 } }, { owner: "api" });
    await store.apply(functionIntent(namespace, "hello", { memoryMB: 512, timeoutSec: 7 }), { owner: "sync" });
    expect((await store.apply(bare, { owner: "reconciler" })).spec).toMatchObject({ memoryMB: 512, timeoutSec: 7 });
    expect((await store.apply(bare, { owner: "sync" })).spec).toMatchObject({ memoryMB: 128, timeoutSec: 30 });
  });

  it("a patch takes a field from the owner that applied it", async () => {
    const { store, namespace } = await open();
    const key = { namespace, name: "hello" };
    await store.apply(functionIntent(namespace, "hello", { memoryMB: 256 }), { owner: "sync" });
    await store.patch("Function", key, { spec: { memoryMB: 512 } }, { owner: "api" });
    const after = await store.apply(functionIntent(namespace, "hello"), { owner: "sync" });
    expect(after.spec.memoryMB).toBe(512);
  });

  it("maps of two owners merge by leaf", async () => {
    const { store, namespace } = await open();
    await store.apply(functionIntent(namespace, "hello", { env: { A: "1" } }), { owner: "sync" });
    const both = await store.apply(functionIntent(namespace, "hello", { env: { B: "2" } }), { owner: "reconciler" });
    expect(both.spec.env).toEqual({ A: "1", B: "2" });
    const one = await store.apply(functionIntent(namespace, "hello"), { owner: "sync" });
    expect(one.spec.env).toEqual({ B: "2" });
  });

  it("a map is emptied by an apply that names it empty", async () => {
    const { store, namespace } = await open();
    await store.apply(functionIntent(namespace, "hello", { env: { A: "1" } }), { owner: "sync" });
    const emptied = await store.apply(functionIntent(namespace, "hello", { env: {} }), { owner: "sync" });
    expect(emptied.spec.env ?? {}).toEqual({});
  });

  it("a map that somebody created is emptied by who took over its last field", async () => {
    const { store, namespace } = await open();
    await store.create(functionIntent(namespace, "hello", { env: { A: "1" } }), { owner: "api" });
    await store.apply(functionIntent(namespace, "hello", { env: { A: "2" } }), { owner: "sync" });
    const emptied = await store.apply(functionIntent(namespace, "hello"), { owner: "sync" });
    expect(emptied.spec.env ?? {}).toEqual({});
  });

  it("an apply with a UID meets only that life of the object", async () => {
    const { store, namespace } = await open();
    const intent = functionIntent(namespace, "hello", { memoryMB: 256 });
    const created = await store.apply(intent, { owner: "sync" });
    const { uid } = created.metadata;
    await store.apply(functionIntent(namespace, "hello", { memoryMB: 512 }), { owner: "sync", uid });
    await store.delete("Function", created.metadata);
    await expect(store.apply(intent, { owner: "sync", uid })).rejects.toMatchObject({ code: "conflict" });
    await store.apply(intent, { owner: "sync" });
    await expect(store.apply(intent, { owner: "sync", uid })).rejects.toMatchObject({ code: "conflict" });
  });

  it("an apply keeps the status", async () => {
    const { store, namespace } = await open();
    const created = await store.apply(functionIntent(namespace, "hello"), { owner: "sync" });
    await store.updateStatus(created, { phase: "Ready" });
    const applied = await store.apply(functionIntent(namespace, "hello", { memoryMB: 256 }), { owner: "sync" });
    expect(applied).toMatchObject({ metadata: { generation: 2 }, status: { phase: "Ready" } });
  });
}

function deletionContract(open: () => Promise<OpenedStore>): void {
  it("an object without finalizers goes at once, and is absent after", async () => {
    const { store, namespace } = await open();
    const { metadata } = await store.create(functionIntent(namespace, "hello"), { owner: "api" });
    expect(await store.delete("Function", metadata)).toBe("deleted");
    expect(await store.get("Function", metadata)).toBeUndefined();
    expect(await store.delete("Function", metadata)).toBe("absent");
  });

  it("an object with finalizers is terminating until the last one is removed", async () => {
    const { store, namespace } = await open();
    const metadata = { finalizers: [...FINALIZERS, "example.com/other"] };
    const { metadata: key } = await store.create(functionIntent(namespace, "hello", { metadata }), { owner: "api" });
    expect(await store.delete("Function", key)).toBe("terminating");
    const marked = await store.get("Function", key);
    expect(marked?.metadata.deletionTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(await store.delete("Function", key)).toBe("terminating");
    expect(await store.get("Function", key)).toEqual(marked);
    await store.patch("Function", key, { metadata: { finalizers: FINALIZERS } }, { owner: "reconciler" });
    expect(await store.get("Function", key)).toBeDefined();
    await store.patch("Function", key, { metadata: { finalizers: [] } }, { owner: "reconciler" });
    expect(await store.get("Function", key)).toBeUndefined();
  });

  it("a terminating object takes changes of spec and status, and no new finalizer", async () => {
    const { store, namespace } = await open();
    const metadata = { finalizers: FINALIZERS };
    const { metadata: key } = await store.create(functionIntent(namespace, "hello", { metadata }), { owner: "api" });
    await store.delete("Function", key);
    const patched = await store.patch("Function", key, { spec: { replicas: 0 } }, { owner: "api" });
    expect((await store.updateStatus(patched, { message: "draining" })).status?.message).toBe("draining");
    const added = { metadata: { finalizers: [...FINALIZERS, "example.com/other"] } };
    const refused = store.patch("Function", key, added, { owner: "api" });
    await expect(refused).rejects.toMatchObject({ code: "invalid_request" });
    await expect(store.create(functionIntent(namespace, "hello"), { owner: "api" })).rejects.toMatchObject({
      code: "already_exists",
    });
  });

  it("a deletion of another life or an older version is a conflict", async () => {
    const { store, namespace } = await open();
    const first = await store.create(functionIntent(namespace, "hello"), { owner: "api" });
    await store.delete("Function", first.metadata);
    const second = await store.create(functionIntent(namespace, "hello"), { owner: "api" });
    expect(second.metadata.uid).not.toBe(first.metadata.uid);
    const key = { namespace, name: "hello" };
    const conflict = { code: "conflict" };
    await expect(store.delete("Function", key, { uid: first.metadata.uid })).rejects.toMatchObject(conflict);
    await store.patch("Function", key, { spec: { replicas: 2 } }, { owner: "api" });
    const { resourceVersion } = second.metadata;
    await expect(store.delete("Function", key, { resourceVersion })).rejects.toMatchObject(conflict);
    expect(await store.delete("Function", key, { uid: second.metadata.uid })).toBe("deleted");
  });
}

function watchContract(open: () => Promise<OpenedStore>): void {
  it("a list holds what matches namespace and labels, in order", async () => {
    const { store, namespace, otherNamespace } = await open();
    for (const [name, tier] of Object.entries({ c: "web", a: "web", "a-2": "job", b: "web" }))
      await store.create(functionIntent(namespace, name, { metadata: { labels: { tier, x: "y" } } }), { owner: "api" });
    await store.create(functionIntent(otherNamespace, "d", { metadata: { labels: { tier: "web" } } }), {
      owner: "api",
    });
    const names = async (options: object) =>
      (await store.list("Function", options)).items.map(({ metadata }) => metadata.name);
    expect(await names({ namespace })).toEqual(["a", "a-2", "b", "c"]);
    expect(await names({ namespace, labels: { tier: "web", x: "y" } })).toEqual(["a", "b", "c"]);
    expect(await names({ namespace, labels: { tier: "none" } })).toEqual([]);
    expect(await names({})).toEqual(expect.arrayContaining(["a", "b", "c", "d"]));
    expect((await store.list("Service", { namespace })).items).toEqual([]);
  });

  it("pages hold a namespace by name, each object once, whatever comes and goes between them", async () => {
    const { store, namespace, otherNamespace } = await open();
    const create = (within: string, name: string) => store.create(functionIntent(within, name), { owner: "api" });
    for (const name of ["c", "a", "e", "a-2", "b"]) await create(namespace, name);
    await create(otherNamespace, "d");
    const page = async (token?: string) => {
      const paged = { namespace, limit: 2, ...(token !== undefined && { continue: token }) };
      const { items, next } = await store.page("Function", paged);
      return { names: items.map(({ metadata }) => metadata.name), next };
    };
    const first = await page();
    expect(first.names).toEqual(["a", "a-2"]);
    await store.delete("Function", { namespace, name: "a" });
    await create(namespace, "a-1");
    const second = await page(first.next);
    expect(second.names).toEqual(["b", "c"]);
    expect(await page(second.next)).toEqual({ names: ["e"], next: undefined });
    expect(await store.page("Service", { namespace, limit: 2 })).toEqual({ items: [] });
    const whole = await store.page("Function", { namespace, limit: 5 });
    expect(whole).toEqual({ items: (await store.list("Function", { namespace })).items });
  });

  it.each(["?", "bm90IGEgbmFtZQ", Buffer.from('{"v":"meta.k8s.io/v1","rv":1,"start":"../d"}').toString("base64url")])(
    "a page after %s is an invalid request",
    async (token) => {
      const { store, namespace } = await open();
      await store.create(functionIntent(namespace, "a"), { owner: "api" });
      const page = store.page("Function", { namespace, limit: 1, continue: token });
      await expect(page).rejects.toMatchObject({ code: "invalid_request", message: expect.stringMatching(/continue/) });
    },
  );

  it("a watch from a list's version tells every later change once and in order", async () => {
    const { store, namespace } = await open();
    await store.create(functionIntent(namespace, "before"), { owner: "api" });
    const { resourceVersion: from } = await store.list("Function", { namespace });
    const created = await store.create(functionIntent(namespace, "hello"), { owner: "api" });
    const events = await watching(store, { namespace, from }, async (next) => {
      const first = await next();
      const patched = await store.patch("Function", created.metadata, { spec: { replicas: 2 } }, { owner: "api" });
      const second = await next();
      await store.updateStatus(patched, { phase: "Ready" });
      const third = await next();
      await store.delete("Function", created.metadata);
      return [first, second, third, await next()];
    });
    expect(events.map(({ type, object }) => `${type} ${object.spec.replicas} ${object.status?.phase}`)).toEqual([
      "ADDED 1 undefined",
      "MODIFIED 2 undefined",
      "MODIFIED 2 Ready",
      "DELETED 2 Ready",
    ]);
    expect(new Set(events.map(({ object }) => object.metadata.resourceVersion)).size).toBe(4);
  });

  it("a watch goes on from the version of an event", async () => {
    const { store, namespace } = await open();
    const { resourceVersion: from } = await store.list("Function", { namespace });
    for (const name of ["a", "b", "c"]) await store.create(functionIntent(namespace, name), { owner: "api" });
    const [a] = await watching(store, { namespace, from }, async (next) => [await next()]);
    const resumed = { namespace, from: a!.object.metadata.resourceVersion };
    const rest = await watching(store, resumed, async (next) => [await next(), await next()]);
    expect(rest.map(({ object }) => object.metadata.name)).toEqual(["b", "c"]);
  });

  it("an object that begins or ceases to match a watch's labels is added or deleted", async () => {
    const { store, namespace } = await open();
    const { resourceVersion: from } = await store.list("Function", { namespace });
    const { metadata } = await store.create(functionIntent(namespace, "hello"), { owner: "api" });
    const label = (tier: string) =>
      store.patch("Function", metadata, { metadata: { labels: { tier } } }, { owner: "api" });
    await label("web");
    await label("job");
    const events = await watching(store, { namespace, from, labels: { tier: "web" } }, async (next) => [
      await next(),
      await next(),
    ]);
    expect(events.map(({ type }) => type)).toEqual(["ADDED", "DELETED"]);
  });

  it("the end of a terminating object is one deletion", async () => {
    const { store, namespace } = await open();
    const metadata = { finalizers: FINALIZERS };
    const { metadata: key } = await store.create(functionIntent(namespace, "hello", { metadata }), { owner: "api" });
    const { resourceVersion: from } = await store.list("Function", { namespace });
    await store.delete("Function", key);
    await store.patch("Function", key, { metadata: { finalizers: null } }, { owner: "reconciler" });
    await store.create(functionIntent(namespace, "next"), { owner: "api" });
    const events = await watching(store, { namespace, from }, async (next) => [
      await next(),
      await next(),
      await next(),
    ]);
    expect(events.map(({ type, object }) => `${type} ${object.metadata.name}`)).toEqual([
      "MODIFIED hello",
      "DELETED hello",
      "ADDED next",
    ]);
  });

  it("a watch ends when its signal aborts", async () => {
    const { store, namespace } = await open();
    const { resourceVersion: from } = await store.list("Function", { namespace });
    const abort = new AbortController();
    const seen: WatchEvent<"Function">[] = [];
    const ended = (async () => {
      for await (const event of store.watch("Function", { namespace, from, signal: abort.signal })) seen.push(event);
    })();
    abort.abort();
    await ended;
    expect(seen.filter(({ type }) => type !== "BOOKMARK")).toEqual([]);
  });
}

type ObjectEvent<K extends Kind> = { type: string; object: ObjectOf<K> };

/** Runs `body` with a function that gives the next event of a watch, bookmarks aside; ends the watch after. */
async function watching<T>(
  store: ResourceStore,
  options: { namespace?: string; from: string; labels?: Record<string, string> },
  body: (next: () => Promise<ObjectEvent<"Function">>) => Promise<T>,
): Promise<T> {
  const abort = new AbortController();
  const events = store.watch("Function", { ...options, signal: abort.signal })[Symbol.asyncIterator]();
  const next = async (): Promise<ObjectEvent<"Function">> => {
    const { value, done } = await events.next();
    if (done) throw new Error("the watch ended");
    return value.type === "BOOKMARK" ? next() : value;
  };
  try {
    return await body(next);
  } finally {
    abort.abort();
  }
}
