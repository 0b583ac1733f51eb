import { expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../src/controller/index.ts";
import type { SlessError } from "../../src/errors/index.ts";
import type { KubernetesClient } from "../../src/kubernetes/index.ts";
import { createTenancy, followTenants } from "../../src/tenancy/index.ts";
import { clusterClient, clusterStore } from "../support/cluster-store.ts";
import { eventually } from "../support/eventually.ts";
import { functionIntent } from "../support/function-intent.ts";
import { describeOnOwnControlPlane } from "../support/kubernetes/index.ts";
import { create, edit, freshName, type Live, read, remove } from "./tenancy-world.ts";

const FUNCTIONS = "count/functions.sless.kube5s.ru";
const log = { debug: () => {}, warn: () => {}, error: () => {} };
const settingsOf = (objects: Record<string, string> | undefined) => ({ ownNamespace: "sless", objects });

async function follow(client: KubernetesClient, objects: Record<string, string> | undefined) {
  const tenants = await followTenants({ client, settings: settingsOf(objects), clock: systemClock, log });
  const corrections = tenants.startCorrecting();
  const stop = async () => {
    tenants.stop();
    await corrections.stop();
  };
  onTestFinished(stop);
  return { ...corrections, stop };
}

// Of its own: processes with other settings would undo what these do.
describeOnOwnControlPlane("what users may write", {}, (cluster) => {
  const quotaOf = (client: KubernetesClient, namespace: string, name = "sless") =>
    read(client, "ResourceQuota", name, namespace);
  const untilQuota = (client: KubernetesClient, namespace: string, holds: (live: Live | undefined) => boolean) =>
    eventually(`quota of ${namespace}`, () => quotaOf(client, namespace), holds);

  it("is bounded in a namespace that sless made: the third function of two is refused, and told why", async () => {
    const { store, client } = clusterStore(cluster());
    const namespace = freshName();
    await createTenancy({ client, settings: settingsOf({ [FUNCTIONS]: "2" }) }).ensure(namespace);
    // Kubernetes counts new kinds some time after they are there; what it comes to is the same.
    await cluster().request("PATCH", `/api/v1/namespaces/${namespace}/resourcequotas/sless/status`, {
      contentType: "application/merge-patch+json",
      body: { status: { hard: { [FUNCTIONS]: "2" }, used: { [FUNCTIONS]: "0" } } },
    });
    const make = (name: string) =>
      store.create(functionIntent(namespace, name), { owner: "api" }).then(
        () => ({ code: "made", message: "" }),
        ({ code, message }: SlessError) => ({ code, message }),
      );
    const made = ({ code }: { code: string }) => code === "made";
    // Until the quota's state has come round nothing is let in.
    for (const name of ["one", "two"]) await eventually(`${name} is made`, () => make(name), made);
    expect(await make("three")).toMatchObject({
      code: "cluster_refused",
      message: expect.stringMatching(/exceeded quota: sless, requested: count\/functions.*limited: .*=2/),
    });
  });

  it("is left to others where the namespace is somebody else's, or no bound is set", async () => {
    const client = clusterClient(cluster());
    const [foreign, unbounded] = [freshName(), freshName()];
    await create(client, "Namespace", { name: foreign });
    await createTenancy({ client, settings: settingsOf({ [FUNCTIONS]: "2" }) }).ensure(foreign);
    expect(await quotaOf(client, foreign)).toBeUndefined();
    await createTenancy({ client, settings: settingsOf(undefined) }).ensure(unbounded);
    expect(await quotaOf(client, unbounded)).toBeUndefined();
  });

  it("follows the settings in namespaces that are there, and is put back when it is changed or gone", async () => {
    const client = clusterClient(cluster());
    const [namespace, foreign] = [freshName(), freshName()];
    await create(client, "Namespace", { name: foreign });
    const tenancy = createTenancy({ client, settings: settingsOf(undefined) });
    for (const each of [namespace, foreign]) await tenancy.ensure(each);
    const first = await follow(client, { [FUNCTIONS]: "3" });
    const isWanted = (live: Live | undefined) => live?.spec.hard[FUNCTIONS] === "3";
    await untilQuota(client, namespace, isWanted);
    await edit(client, "ResourceQuota", { name: "sless", namespace }, { spec: { hard: { [FUNCTIONS]: "3000" } } });
    await untilQuota(client, namespace, isWanted);
    await remove(client, "ResourceQuota", { name: "sless", namespace });
    await untilQuota(client, namespace, isWanted);
    await first.idle();
    expect(await quotaOf(client, foreign)).toBeUndefined();
    await first.stop();

    const own = { name: "own", namespace };
    await create(client, "ResourceQuota", own, { spec: { hard: { pods: "1" } } });
    await follow(client, undefined);
    await untilQuota(client, namespace, (live) => live === undefined);
    expect(await quotaOf(client, namespace, "own")).toBeDefined();
  });
});
