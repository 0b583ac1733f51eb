import { expect, it, onTestFinished } from "vitest";
import type { ObjectKey } from "../../../src/apis/index.ts";
import { systemClock } from "../../../src/controller/index.ts";
import { type IngressRoutesOptions, ingressRoutes, removeIngressRoutes } from "../../../src/routes/kubernetes/index.ts";
import { routesContract } from "../../contract/routes.ts";
import { clusterClient } from "../../support/cluster-store.ts";
import { eventually } from "../../support/eventually.ts";
import { describeOnCluster, type TestCluster } from "../../support/kubernetes/index.ts";

const HELLO = { namespace: "team-a", name: "hello" };

async function openRoutes(cluster: TestCluster, options: Partial<IngressRoutesOptions> = {}) {
  const client = clusterClient(cluster);
  const namespace = options.namespace ?? (await cluster.createNamespace("routes"));
  const routes = ingressRoutes({
    client,
    clock: systemClock,
    namespace,
    hostOf: ({ namespace: of, name }) => `${name}.${of}.fn.example.org`,
    service: { name: "sless-gateway", port: "http" },
    ...options,
  });
  const watching = new AbortController();
  onTestFinished(() => watching.abort());
  await routes.start(watching.signal);
  const path = `/apis/networking.k8s.io/v1/namespaces/${namespace}/ingresses`;
  const live = async () => (await cluster.request("GET", path)).body.items;
  return { routes, client, namespace, path, live };
}

const until = (routes: { list(): readonly ObjectKey[] }, count: number) =>
  eventually(
    `${count} routes`,
    () => routes.list(),
    (seen) => seen.length === count,
  );

describeOnCluster("routes as Ingresses", (cluster) => {
  routesContract(async () => {
    const { routes, path, live } = await openRoutes(cluster());
    const takeAway = async ({ namespace, name }: ObjectKey) => {
      const labels = { "sless.kube5s.ru/namespace": namespace, "sless.kube5s.ru/name": name };
      for (const { metadata } of await live())
        if (Object.entries(labels).every(([label, value]) => metadata.labels[label] === value))
          await cluster().request("DELETE", `${path}/${metadata.name}`);
    };
    return { routes, takeAway };
  });

  it("an Ingress leads all of the host to the gateway", async () => {
    const { routes, live } = await openRoutes(cluster(), { className: "nginx", tlsSecret: "wildcard" });
    await routes.publish(HELLO);
    const [ingress] = await live();
    const host = "hello.team-a.fn.example.org";
    const backend = { service: { name: "sless-gateway", port: { name: "http" } } };
    expect(ingress.spec).toEqual({
      ingressClassName: "nginx",
      rules: [{ host, http: { paths: [{ path: "/", pathType: "Prefix", backend }] } }],
      tls: [{ hosts: [host], secretName: "wildcard" }],
    });
    expect(ingress.metadata.managedFields.map(({ manager }: { manager: string }) => manager)).toEqual([
      "sless-reconciler",
    ]);
  });

  it("what is as it should be is not written, also by the next process", async () => {
    const first = await openRoutes(cluster());
    await first.routes.publish(HELLO);
    const { routes, client } = await openRoutes(cluster(), { namespace: first.namespace });
    const before = client.sent.requests;
    await routes.publish(HELLO);
    expect(client.sent.requests).toBe(before);
  });

  it("an edited Ingress is told and put right; what others add to it stays", async () => {
    const { routes, path, live } = await openRoutes(cluster());
    await routes.publish(HELLO);
    const heard: ObjectKey[] = [];
    routes.onChange((target) => heard.push(target));
    const [{ metadata, spec }] = await live();
    const body = {
      metadata: { annotations: { "cert-manager.io/issuer": "ours" } },
      spec: { rules: [{ ...spec.rules[0], host: "evil.example.org" }] },
    };
    await cluster().request("PATCH", `${path}/${metadata.name}`, { body, contentType: "application/merge-patch+json" });
    await eventually(
      "the edit is told",
      () => heard,
      (seen) => seen.length > 0,
    );
    expect(heard[0]).toEqual(HELLO);
    await routes.publish(HELLO);
    const [after] = await live();
    expect(after.spec).toEqual(spec);
    expect(after.metadata.annotations).toMatchObject({ "cert-manager.io/issuer": "ours" });
  });

  it("hosts of other settings are changed where they are, and go with the last of them", async () => {
    const { routes, namespace, client, live } = await openRoutes(cluster());
    await routes.publish(HELLO);
    const moved = await openRoutes(cluster(), { namespace, hostOf: () => "hello.example.com" });
    await moved.routes.publish(HELLO);
    expect((await live()).map(({ spec }: { spec: { rules: { host: string }[] } }) => spec.rules[0]?.host)).toEqual([
      "hello.example.com",
    ]);
    await removeIngressRoutes(client, namespace);
    expect(await live()).toEqual([]);
  });

  it("Ingresses of others, and copies of ours, are nobody's route and stay", async () => {
    const { routes, client, namespace, path, live } = await openRoutes(cluster());
    await routes.publish(HELLO);
    const [ours] = await live();
    const { labels } = ours.metadata;
    const post = (name: string, metadata: object) =>
      cluster().request("POST", path, { body: { metadata: { name, ...metadata }, spec: ours.spec } });
    expect((await post("copy", { labels })).status).toBe(201);
    expect((await post("theirs", { labels: { "app.kubernetes.io/component": "route" } })).status).toBe(201);
    const seen = () => routes.list();
    expect(seen()).toEqual([HELLO]);
    await removeIngressRoutes(client, namespace);
    await until(routes, 0);
    expect((await live()).map(({ metadata }: { metadata: { name: string } }) => metadata.name)).toEqual([
      "copy",
      "theirs",
    ]);
  });

  it.each([
    ["what the API server refuses", { namespace: "no-such-namespace" }, "cluster_refused"],
    ["a host that is none", { hostOf: () => "not a host" }, "cluster_refused"],
  ])("%s is told as such", async (_name, options, code) => {
    const { routes } = await openRoutes(cluster(), options);
    await expect(routes.publish(HELLO)).rejects.toMatchObject({ code });
  });
});
