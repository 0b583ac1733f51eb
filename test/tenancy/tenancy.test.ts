import { expect, it } from "vitest";
import type { KubernetesClient } from "../../src/kubernetes/index.ts";
import { createTenancy, type TenancySettings } from "../../src/tenancy/index.ts";
import { clusterClient } from "../support/cluster-store.ts";
import { eventually } from "../support/eventually.ts";
import { describeOnCluster } from "../support/kubernetes/index.ts";
import { create, edit, freshName, read, remove } from "./tenancy-world.ts";

const SETTINGS: TenancySettings = {
  ownNamespace: "sless",
  quota: { "requests.cpu": "4", pods: "20" },
  limits: [{ type: "Container", default: { cpu: "1" }, defaultRequest: { cpu: "100m" } }],
};
const ADA = { kind: "User", name: "ada@example.com" } as const;

const tenancyOf = (client: KubernetesClient, settings: Partial<TenancySettings> = {}) =>
  createTenancy({ client, settings: { ...SETTINGS, ...settings } });

describeOnCluster("tenancy on a real API server", (cluster) => {
  it("a user's namespace is made with its deploy namespace, policies, quota, limits and rights", async () => {
    const client = clusterClient(cluster());
    const name = freshName();
    const tenancy = tenancyOf(client);
    expect(await tenancy.has(name)).toBe(false);
    expect(await tenancy.ensure(name, ADA)).toBe("created");
    expect(await tenancy.has(name)).toBe(true);
    expect((await read(client, "Namespace", name))?.metadata.labels).toMatchObject({
      "app.kubernetes.io/managed-by": "sless",
    });
    const deploy = `sless-fn-${name}`;
    expect((await read(client, "Namespace", deploy))?.metadata.labels).toMatchObject({
      "app.kubernetes.io/managed-by": "sless",
      "sless.kube5s.ru/tenant": name,
      "pod-security.kubernetes.io/enforce": "restricted",
    });
    const policy = await read(client, "NetworkPolicy", "sless", deploy);
    expect(policy?.spec).toMatchObject({ podSelector: {}, policyTypes: ["Ingress", "Egress"] });
    expect(policy?.spec.ingress).toHaveLength(1);
    expect((await read(client, "ResourceQuota", "sless", deploy))?.spec.hard).toEqual(SETTINGS.quota);
    expect((await read(client, "LimitRange", "sless", deploy))?.spec.limits).toMatchObject(SETTINGS.limits!);
    const binding = await read(client, "RoleBinding", "sless", name);
    expect(binding?.roleRef).toMatchObject({ kind: "ClusterRole", name: "sless-tenant-editor" });
    expect(binding?.subjects).toMatchObject([ADA]);
  });

  it("of 20 calls at once, in two processes, one makes it and all find it whole", async () => {
    const clients = [clusterClient(cluster()), clusterClient(cluster())];
    const tenancies = clients.map((client) => tenancyOf(client));
    const name = freshName();
    const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => tenancies[i % 2]!.ensure(name, ADA)));
    expect(answers.toSorted()).toEqual(["created", ...new Array<string>(19).fill("exists")]);
    expect(await read(clients[0]!, "NetworkPolicy", "sless", `sless-fn-${name}`)).toBeDefined();
    expect(await read(clients[0]!, "RoleBinding", "sless", name)).toBeDefined();
  });

  it("ensuring again writes nothing", async () => {
    const client = clusterClient(cluster());
    const name = freshName();
    const tenancy = tenancyOf(client);
    await tenancy.ensure(name, ADA);
    const versions = async () => [
      (await read(client, "Namespace", `sless-fn-${name}`))?.metadata.resourceVersion,
      (await read(client, "NetworkPolicy", "sless", `sless-fn-${name}`))?.metadata.resourceVersion,
      (await read(client, "RoleBinding", "sless", name))?.metadata.resourceVersion,
    ];
    const before = await versions();
    expect(await tenancy.ensure(name, ADA)).toBe("exists");
    expect(await versions()).toEqual(before);
  });

  it("nobody gets rights in a namespace that was made for another, or by somebody else", async () => {
    const client = clusterClient(cluster());
    const tenancy = tenancyOf(client);
    const [ofAda, foreign] = [freshName(), freshName()];
    await tenancy.ensure(ofAda, ADA);
    expect(await tenancy.ensure(ofAda, { kind: "User", name: "eve@example.com" })).toBe("exists");
    expect((await read(client, "RoleBinding", "sless", ofAda))?.subjects).toMatchObject([ADA]);
    await create(client, "Namespace", { name: foreign });
    expect(await tenancy.ensure(foreign, ADA)).toBe("exists");
    expect(await read(client, "RoleBinding", "sless", foreign)).toBeUndefined();
    expect((await read(client, "Namespace", foreign))?.metadata.labels).not.toHaveProperty([
      "app.kubernetes.io/managed-by",
    ]);
    expect(await read(client, "Namespace", `sless-fn-${foreign}`)).toBeDefined();
  });

  it("the role of a binding is changed with the settings", async () => {
    const client = clusterClient(cluster());
    const name = freshName();
    await tenancyOf(client).ensure(name, { kind: "ServiceAccount", name: "bot", namespace: "ci" });
    await tenancyOf(client, { editorRole: "view" }).ensure(name);
    const binding = await read(client, "RoleBinding", "sless", name);
    expect(binding?.roleRef.name).toBe("view");
    expect(binding?.subjects).toMatchObject([{ kind: "ServiceAccount", name: "bot", namespace: "ci" }]);
  });

  it("a deploy namespace that somebody else made is refused until it is labelled, and left as it is", async () => {
    const client = clusterClient(cluster());
    const tenancy = tenancyOf(client);
    const name = freshName();
    const deploy = { name: `sless-fn-${name}` };
    const labels = { "sless.kube5s.ru/tenant": name };
    await create(client, "Namespace", { ...deploy, labels });
    const before = await read(client, "Namespace", deploy.name);
    await expect(tenancy.ensure(name)).rejects.toMatchObject({ code: "namespace_not_ours" });
    await expect(tenancy.ensureDeployNamespace(name)).rejects.toThrow(/kubectl label namespace sless-fn-/);
    expect(await read(client, "Namespace", deploy.name)).toEqual(before);
    expect(await read(client, "Namespace", name)).toBeUndefined();
    await edit(client, "Namespace", deploy, { metadata: { labels: { "app.kubernetes.io/managed-by": "sless" } } });
    expect(await tenancy.ensure(name)).toBe("created");
  });

  it("a deploy namespace of another tenant's label is refused", async () => {
    const client = clusterClient(cluster());
    const name = freshName();
    const labels = { "app.kubernetes.io/managed-by": "sless", "sless.kube5s.ru/tenant": "another" };
    await create(client, "Namespace", { name: `sless-fn-${name}`, labels });
    await expect(tenancyOf(client).ensureDeployNamespace(name)).rejects.toMatchObject({ code: "namespace_not_ours" });
  });

  it("a namespace that is being deleted is told", async () => {
    const client = clusterClient(cluster());
    const tenancy = tenancyOf(client);
    for (const terminating of ["", "sless-fn-"]) {
      const tenant = freshName();
      await tenancy.ensure(tenant);
      const name = `${terminating}${tenant}`;
      const held = { name: "held", namespace: name, finalizers: ["example.com/held"] };
      await create(client, "ConfigMap", held);
      await remove(client, "Namespace", { name });
      await expect(tenancy.ensure(tenant)).rejects.toMatchObject({ code: "being_deleted" });
      if (terminating === "") expect(await tenancy.has(tenant)).toBe(false);
      await edit(client, "ConfigMap", held, { metadata: { finalizers: null } });
      await eventually(
        "it is gone",
        () => read(client, "Namespace", name),
        (seen) => seen === undefined,
      );
      expect(await tenancy.ensure(tenant)).toBe(terminating === "" ? "created" : "exists");
    }
  });

  it("what the API server refuses is told in our words, and nothing of a token", async () => {
    const token = await cluster().tokenFor({ user: "nobody" });
    const client = clusterClient(cluster(), { from: { file: await cluster().kubeconfigFor(token) } });
    const failure = await tenancyOf(client)
      .ensure(freshName())
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "cluster_refused" });
    expect(String(failure)).not.toContain(token);
  });
});
