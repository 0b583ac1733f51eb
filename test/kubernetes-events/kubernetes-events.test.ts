import { expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../src/controller/index.ts";
import { API_RESOURCES, apiPath, type KubernetesClient, listObjects, PATCH_TYPES } from "../../src/kubernetes/index.ts";
import type { CoreEvent } from "../../src/kubernetes-events/core-event.ts";
import { createKubernetesEvents, type KubernetesEventsOptions } from "../../src/kubernetes-events/index.ts";
import type { ProgressEvent } from "../../src/report/index.ts";
import { clusterClient, clusterStore } from "../support/cluster-store.ts";
import { functionIntent } from "../support/function-intent.ts";
import { kubectl } from "../support/kubectl.ts";
import { describeOnCluster } from "../support/kubernetes/index.ts";

function eventsOf(client: KubernetesClient, options: Partial<KubernetesEventsOptions> = {}) {
  const warnings: string[] = [];
  const events = createKubernetesEvents({
    client,
    clock: systemClock,
    log: { warn: (_fields, message) => void warnings.push(message) },
    instance: "pod-1",
    uidOf: ({ name }) => `uid-of-${name}`,
    ...options,
  });
  onTestFinished(() => events.stop());
  return { ...events, warnings };
}

const failed = (namespace: string, message = "It cannot be built."): ProgressEvent => ({
  step: "failed",
  object: { kind: "Function", namespace, name: "hello" },
  reason: "BuildFailed",
  message,
});

describeOnCluster("Kubernetes Events", (cluster) => {
  const read = async (client: KubernetesClient, namespace: string) =>
    (await listObjects<CoreEvent>(client, API_RESOURCES.CoreEvent, { namespace })).items;

  it("are about the object, and are listed as the REST API wants them", async () => {
    const client = clusterClient(cluster());
    const namespace = await cluster().createNamespace();
    const { report, idle, list } = eventsOf(client);
    report(failed(namespace));
    report({ step: "notice", message: "of no object" });
    await idle();
    report({
      step: "applied",
      repository: { namespace, name: "site" },
      revision: "main@sha1:1",
      objects: 3,
      durationMs: 1,
    });
    await idle();
    const [event] = await read(client, namespace);
    expect(event).toMatchObject({
      type: "Warning",
      reason: "BuildFailed",
      message: "It cannot be built.",
      count: 1,
      involvedObject: { apiVersion: "sless.kube5s.ru/v1alpha1", kind: "Function", name: "hello", uid: "uid-of-hello" },
      source: { component: "sless" },
      reportingInstance: "pod-1",
    });
    expect(await list(namespace)).toMatchObject([
      { type: "Warning", reason: "BuildFailed", object: { kind: "Function", name: "hello" } },
      { type: "Normal", reason: "Applied", object: { kind: "Repository", name: "site" } },
    ]);
  });

  it("stand in `kubectl describe` of the object", async () => {
    const { store, client } = clusterStore(cluster());
    const namespace = await cluster().createNamespace();
    const { metadata } = await store.create(functionIntent(namespace, "hello"), { owner: "api" });
    const { report, idle } = eventsOf(client, { uidOf: () => metadata.uid });
    report(failed(namespace));
    report(failed(namespace));
    await idle();
    const said = await kubectl(cluster().kubeconfig, [
      "describe",
      "functions.sless.kube5s.ru",
      "hello",
      "-n",
      namespace,
    ]);
    expect(said).toMatch(/Warning +BuildFailed +\S+ \(x2 over \S+\) +sless +It cannot be built\./);
  });

  it("are counted up by whatever process tells them again, and made anew once they expired", async () => {
    const client = clusterClient(cluster());
    const namespace = await cluster().createNamespace();
    const [one, other] = [eventsOf(client), eventsOf(clusterClient(cluster()), { instance: "pod-2" })];
    one.report(failed(namespace));
    one.report(failed(namespace));
    await one.idle();
    other.report(failed(namespace));
    await other.idle();
    const [event, ...more] = await read(client, namespace);
    expect([event?.count, more]).toEqual([3, []]);
    await client.request({ method: "DELETE", path: apiPath(API_RESOURCES.CoreEvent, event!.metadata) });
    other.report(failed(namespace));
    await other.idle();
    expect((await read(client, namespace)).map(({ count }) => count)).toEqual([1]);
  });

  it("of what goes with its namespace are left out without a word", async () => {
    const client = clusterClient(cluster());
    const namespace = await cluster().createNamespace();
    const path = apiPath(API_RESOURCES.Namespace, { name: namespace });
    const held = `/api/v1/namespaces/${namespace}/configmaps`;
    await client.request({
      method: "POST",
      path: held,
      body: { metadata: { name: "held", finalizers: ["test/held"] } },
    });
    onTestFinished(async () => {
      const body = { metadata: { finalizers: null } };
      await client.request({ method: "PATCH", path: `${held}/held`, body, contentType: PATCH_TYPES.merge });
    });
    await client.request({ method: "DELETE", path });
    const { report, idle, warnings } = eventsOf(client);
    report(failed(namespace));
    await idle();
    expect(warnings).toEqual([]);
    expect(await read(client, namespace)).toEqual([]);
  });

  it("that cannot be written hurt nobody, and the next ones are written", async () => {
    const client = clusterClient(cluster());
    const namespace = await cluster().createNamespace();
    const { report, idle, list, warnings } = eventsOf(client);
    report(failed("no-such-namespace"));
    report(failed(namespace));
    await idle();
    expect(warnings).toEqual(["an event was not written"]);
    expect(await list(namespace)).toHaveLength(1);
  });

  it("of one object in a rage are few", async () => {
    const client = clusterClient(cluster());
    const namespace = await cluster().createNamespace();
    const { report, idle, warnings, list } = eventsOf(client, { burst: 1_000 });
    for (let i = 0; i < 500; i += 1) report(failed(namespace, `failure ${i}`));
    await idle();
    expect(await list(namespace)).toHaveLength(25);
    expect(warnings).toEqual(["events were left out"]);
  });

  it("of others in the same namespace are not listed", async () => {
    const client = clusterClient(cluster());
    const namespace = await cluster().createNamespace();
    const involvedObject = { kind: "Pod", namespace, name: "p" };
    const body = {
      metadata: { name: "p.1", namespace },
      involvedObject,
      reason: "Killing",
      source: { component: "kubelet" },
    };
    await client.request({ method: "POST", path: apiPath(API_RESOURCES.CoreEvent, { namespace }), body });
    expect(await eventsOf(client).list(namespace)).toEqual([]);
  });

  it("a stop writes what waits, but does not wait for ever", async () => {
    const client = clusterClient(cluster());
    const namespace = await cluster().createNamespace();
    const { report, stop, list } = eventsOf(client);
    report(failed(namespace));
    await stop();
    report(failed(namespace, "after the end"));
    expect(await list(namespace)).toHaveLength(1);
    const hanging = { ...client, request: () => new Promise<never>(() => {}) };
    const hung = eventsOf(hanging, { perSecond: 1, burst: 1 });
    for (let i = 0; i < 10; i += 1) hung.report(failed(namespace, `${i}`));
    await hung.stop(50);
  });
});
