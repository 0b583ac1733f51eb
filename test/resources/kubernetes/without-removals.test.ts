import { expect, it } from "vitest";
import { FINALIZER } from "../../../src/apis/index.ts";
import { SlessError } from "../../../src/errors/index.ts";
import type { ApiObject } from "../../../src/kubernetes/index.ts";
import type { ResourceStore } from "../../../src/resources/index.ts";
import { installedKinds, releaseObjects, withoutRemovals } from "../../../src/resources/kubernetes/index.ts";
import { clusterStore } from "../../support/cluster-store.ts";
import { describeOnCluster } from "../../support/kubernetes/index.ts";
import { memoryStore } from "../../support/memory-store.ts";

const KEY = { namespace: "demo", name: "hello" };
const UNAVAILABLE = { code: "cluster_unavailable" };

/** A store with one function, and whether its kind is being removed. */
async function removableKind({ finalizers = [] as string[] } = {}) {
  const store = await memoryStore();
  let isRemoved = false;
  const guarded = withoutRemovals(store, {
    async assertStays() {
      if (isRemoved) throw new SlessError("cluster_unavailable", { cause: "it is being removed" });
    },
    installedAt: () => undefined,
  });
  const metadata = { ...KEY, finalizers };
  await store.create({ kind: "Function", metadata, spec: { runtime: "python3.11" } }, { owner: "sync" });
  const remove = () => {
    isRemoved = true;
  };
  return { store, guarded, remove };
}

/** The first event after a version. */
async function firstEvent(store: ResourceStore, from: string) {
  const control = new AbortController();
  for await (const event of store.watch("Function", { from, signal: control.signal })) {
    control.abort();
    return event.type;
  }
  return undefined;
}

for (const { what, finalizers } of [
  { what: "gone", finalizers: [] },
  { what: "going", finalizers: [FINALIZER] },
]) {
  it(`an object that is ${what} while its kind is removed is told by nothing that reads`, async () => {
    const { store, guarded, remove } = await removableKind({ finalizers });
    const { resourceVersion } = await guarded.list("Function");
    remove();
    await store.delete("Function", KEY);
    await expect(guarded.get("Function", KEY)).rejects.toMatchObject(UNAVAILABLE);
    await expect(guarded.list("Function")).rejects.toMatchObject(UNAVAILABLE);
    await expect(firstEvent(guarded, resourceVersion)).rejects.toMatchObject(UNAVAILABLE);
  });

  it(`one that somebody deleted is told as ${what}`, async () => {
    const { store, guarded } = await removableKind({ finalizers });
    const { resourceVersion } = await guarded.list("Function");
    await store.delete("Function", KEY);
    const seen = await guarded.get("Function", KEY);
    expect(seen?.metadata.deletionTimestamp !== undefined).toBe(what === "going");
    expect(await firstEvent(guarded, resourceVersion)).toBe(what === "going" ? "MODIFIED" : "DELETED");
  });
}

it("only what is going is let go, and other finalizers stay", async () => {
  const { store } = await removableKind({ finalizers: [FINALIZER, "example.com/other"] });
  const other = { namespace: "demo", name: "stays" };
  const metadata = { ...other, finalizers: [FINALIZER] };
  await store.create({ kind: "Function", metadata, spec: { runtime: "python3.11" } }, { owner: "sync" });
  await store.delete("Function", KEY);
  await releaseObjects(store, "Function");
  expect((await store.get("Function", KEY))?.metadata.finalizers).toEqual(["example.com/other"]);
  expect((await store.get("Function", other))?.metadata.finalizers).toEqual([FINALIZER]);
});

describeOnCluster("the installed kinds", (cluster) => {
  it("are asked for once per news, and their time is known", async () => {
    const { store, client } = clusterStore(cluster());
    let requests = 0;
    const counting: typeof client = {
      ...client,
      request(options) {
        requests += 1;
        return client.request(options);
      },
    };
    const kinds = installedKinds({ client: counting });
    const { resourceVersion } = await store.list("Function");
    expect(kinds.installedAt("Function")).toBeUndefined();
    await kinds.assertStays("Function", resourceVersion);
    await kinds.assertStays("Function", resourceVersion);
    expect(requests).toBe(1);
    const name = "functions.sless.kube5s.ru";
    const { metadata } = (
      await cluster().request("GET", `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`)
    ).body as ApiObject;
    expect(kinds.installedAt("Function")).toEqual(new Date(metadata.creationTimestamp!));
    // What is absent has no version to compare.
    await kinds.assertStays("Function", undefined);
    expect(requests).toBe(2);
  });
});
