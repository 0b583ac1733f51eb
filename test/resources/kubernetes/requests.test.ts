import { expect, it } from "vitest";
import type { SentRequest } from "../../../src/kubernetes/index.ts";
import { clusterStore } from "../../support/cluster-store.ts";
import { functionIntent } from "../../support/function-intent.ts";
import { describeOnCluster } from "../../support/kubernetes/index.ts";

describeOnCluster("requests and fields of the store on an API server", (cluster) => {
  async function opened() {
    const sent: SentRequest[] = [];
    const { store, client } = clusterStore(cluster(), { onSent: (request) => sent.push(request) });
    const namespace = await cluster().createNamespace("requests");
    return { store, client, namespace, sent, verbs: () => sent.splice(0).map(({ method }) => method) };
  }
  const path = (namespace: string, name = "hello") =>
    `/apis/sless.kube5s.ru/v1alpha1/namespaces/${namespace}/functions/${name}`;

  it("every call is one request, and an equal status none", async () => {
    const { store, namespace, verbs } = await opened();
    const key = { namespace, name: "hello" };
    const created = await store.apply(functionIntent(namespace, "hello"), { owner: "sync", absent: true });
    expect(verbs()).toEqual(["PATCH"]);
    const { uid } = created.metadata;
    await store.apply(functionIntent(namespace, "hello", { replicas: 2 }), { owner: "sync", uid });
    expect(verbs()).toEqual(["PATCH"]);
    const present = await store.patch("Function", key, { spec: { replicas: 3 } }, { owner: "api", uid });
    expect(verbs()).toEqual(["PATCH"]);
    const ready = await store.updateStatus(present, { phase: "Ready" });
    expect(verbs()).toEqual(["PUT"]);
    expect(await store.updateStatus(ready, { phase: "Ready" })).toBe(ready);
    expect(verbs()).toEqual([]);
    await store.appliedFields("Function", key, "sync");
    await store.delete("Function", key, { uid });
    expect(verbs()).toEqual(["GET", "DELETE"]);
  });

  it("objects come without their managedFields, also from lists and watches", async () => {
    const { store, namespace } = await opened();
    const { resourceVersion: from } = await store.list("Function", { namespace });
    const created = await store.apply(functionIntent(namespace, "hello"), { owner: "sync" });
    const { items } = await store.list("Function", { namespace });
    expect(items).toEqual([created]);
    const abort = new AbortController();
    for await (const event of store.watch("Function", { namespace, from, signal: abort.signal })) {
      expect(event).toEqual({ type: "ADDED", object: created });
      abort.abort();
    }
    expect(created.metadata).not.toHaveProperty("managedFields");
  });

  it("a list of more objects than a page holds each of them once, in order", async () => {
    const { store, namespace, verbs } = await opened();
    const names = Array.from({ length: 620 }, (_, n) => `f${String(n).padStart(4, "0")}`);
    const write = (name: string) => store.apply(functionIntent(namespace, name, { replicas: 0 }), { owner: "sync" });
    for (let at = 0; at < names.length; at += 62) await Promise.all(names.slice(at, at + 62).map(write));
    verbs();
    const { items } = await store.list("Function", { namespace });
    expect(items.map(({ metadata }) => metadata.name)).toEqual(names);
    expect(verbs()).toEqual(["GET", "GET"]);
    // A page costs itself alone, however many objects there are.
    const first = await store.page("Function", { namespace, limit: 20 });
    const second = await store.page("Function", { namespace, limit: 600, continue: first.next! });
    expect([...first.items, ...second.items]).toEqual(items);
    expect(second.next).toBeUndefined();
    expect(verbs()).toEqual(["GET", "GET"]);
  });

  it("what others set survives every write of ours", async () => {
    const { store, namespace } = await opened();
    const key = { namespace, name: "hello" };
    const intent = functionIntent(namespace, "hello", { memoryMB: 256, metadata: { labels: { team: "a" } } });
    await store.apply(intent, { owner: "sync" });
    const foreign = {
      metadata: {
        labels: { "example.com/cost": "42" },
        annotations: { "example.com/note": "hands off" },
        finalizers: ["example.com/guard"],
      },
      spec: { env: { FOREIGN: "1" }, replicas: 5 },
    };
    await cluster().request("PATCH", `${path(namespace)}?fieldManager=somebody`, {
      contentType: "application/merge-patch+json",
      body: foreign,
    });
    const stays = {
      metadata: { ...foreign.metadata, labels: expect.objectContaining(foreign.metadata.labels) },
      spec: expect.objectContaining({ replicas: 5, env: expect.objectContaining({ FOREIGN: "1" }) }),
    };
    const applied = await store.apply(functionIntent(namespace, "hello", { env: { A: "1" } }), { owner: "sync" });
    expect(applied).toMatchObject(stays);
    expect(applied.metadata.labels).not.toHaveProperty("team");
    const change = { metadata: { labels: { mine: "1" } }, spec: { env: { B: "2" } } };
    const patched = await store.patch("Function", key, change, { owner: "api" });
    expect(patched).toMatchObject(stays);
    const { labels: _, annotations: __, finalizers: ___, ...bare } = patched.metadata;
    const told = await store.updateStatus({ kind: "Function", metadata: bare }, { phase: "Ready" });
    expect(told).toMatchObject({ ...stays, status: { phase: "Ready" } });
    expect(told.spec).toEqual(patched.spec);
  });

  it("each writer has a field manager of its own", async () => {
    const { store, namespace } = await opened();
    const created = await store.apply(functionIntent(namespace, "hello"), { owner: "sync" });
    await store.apply(functionIntent(namespace, "hello", { env: { A: "1" } }), { owner: "approval" });
    const patched = await store.patch("Function", created.metadata, { spec: { memoryMB: 512 } }, { owner: "api" });
    await store.updateStatus(patched, { phase: "Ready" });
    const { body } = await cluster().request("GET", path(namespace));
    const managers = body.metadata.managedFields.map(
      ({ manager, operation, subresource = "" }: Record<string, string>) => `${manager} ${operation} ${subresource}`,
    );
    expect(managers.sort()).toEqual([
      "sless-api Update ",
      "sless-approval Apply ",
      "sless-reconciler Update status",
      "sless-sync Apply ",
    ]);
  });

  it("of many who create one object at the same time one does", async () => {
    const { store, namespace } = await opened();
    const writes = Array.from({ length: 8 }, (_, n) =>
      store.apply(functionIntent(namespace, "hello", { replicas: n }), { owner: "sync", absent: true }),
    );
    const outcomes = await Promise.allSettled(writes);
    const refused = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason.code] : []));
    expect(refused).toEqual(Array.from({ length: 7 }, () => "conflict"));
  });

  it("a map is not emptied of what somebody puts into it at that moment", async () => {
    const { store, namespace } = await opened();
    const key = { namespace, name: "hello" };
    await store.create(functionIntent(namespace, "hello", { env: { A: "1" } }), { owner: "api" });
    await store.apply(functionIntent(namespace, "hello", { env: { A: "2" } }), { owner: "sync" });
    const [emptied] = await Promise.all([
      store.apply(functionIntent(namespace, "hello"), { owner: "sync" }),
      store.patch("Function", key, { spec: { env: { B: "3" } } }, { owner: "api" }),
    ]);
    expect(emptied.spec.env ?? {}).not.toHaveProperty("A");
    expect((await store.get("Function", key))?.spec.env).toEqual({ B: "3" });
  });
});
