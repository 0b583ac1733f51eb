import { expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../src/controller/index.ts";
import type { KubernetesClient } from "../../src/kubernetes/index.ts";
import { followTenants, type TenancySettings } from "../../src/tenancy/index.ts";
import { BESIDE_API_PORTS } from "../support/beside-api-ports.ts";
import { clusterClient } from "../support/cluster-store.ts";
import { eventually } from "../support/eventually.ts";
import { describeOnOwnControlPlane } from "../support/kubernetes/index.ts";
import { create, edit, freshName, type Kind, type Live, read, remove } from "./tenancy-world.ts";

const SETTINGS: TenancySettings = { ownNamespace: "sless", quota: { pods: "20" } };
const log = { debug: () => {}, warn: () => {}, error: () => {} };

async function following(client: KubernetesClient, settings: Partial<TenancySettings> = {}) {
  const tenants = await followTenants({ client, settings: { ...SETTINGS, ...settings }, clock: systemClock, log });
  const corrections = tenants.startCorrecting();
  const stop = async () => {
    tenants.stop();
    await corrections.stop();
  };
  onTestFinished(stop);
  return { ...tenants, ...corrections, stop };
}

function untilLive(
  client: KubernetesClient,
  [kind, name, namespace]: [Kind, string, string?],
  holds: (live: Live | undefined) => boolean,
) {
  return eventually(`${kind} ${name}`, () => read(client, kind, name, namespace), holds);
}

// Of its own: it corrects every tenant that it finds, those of other tests too.
describeOnOwnControlPlane("tenants that are followed", {}, (cluster) => {
  it("what is edited or deleted is put back at once", async () => {
    const client = clusterClient(cluster());
    const tenants = await following(client);
    const tenant = freshName();
    await tenants.ensureDeployNamespace(tenant);
    const namespace = `sless-fn-${tenant}`;
    const at = { name: "sless", namespace };
    const before = await read(client, "NetworkPolicy", "sless", namespace);

    await edit(client, "NetworkPolicy", at, { spec: { egress: [{}], ingress: [{}] } });
    await untilLive(
      client,
      ["NetworkPolicy", "sless", namespace],
      (live) => live?.spec.ingress[0]?.ports?.length === 1,
    );
    expect((await read(client, "NetworkPolicy", "sless", namespace))?.spec).toEqual(before?.spec);

    await remove(client, "NetworkPolicy", at);
    await untilLive(client, ["NetworkPolicy", "sless", namespace], (live) => live !== undefined);

    await edit(client, "NetworkPolicy", at, { metadata: { labels: { "app.kubernetes.io/managed-by": null } } });
    await untilLive(
      client,
      ["NetworkPolicy", "sless", namespace],
      (live) => live?.metadata.labels?.["app.kubernetes.io/managed-by"] === "sless",
    );

    await edit(client, "ResourceQuota", at, { spec: { hard: { pods: "2000" } } });
    await untilLive(client, ["ResourceQuota", "sless", namespace], (live) => live?.spec.hard.pods === "20");

    const enforce = "pod-security.kubernetes.io/enforce";
    await edit(client, "Namespace", { name: namespace }, { metadata: { labels: { [enforce]: "privileged" } } });
    await untilLive(client, ["Namespace", namespace], (live) => live?.metadata.labels?.[enforce] === "restricted");
  });

  it("a tenant that is as wanted costs no request, and a restart none either", async () => {
    const client = clusterClient(cluster());
    const first = await following(client);
    const tenant = freshName();
    await first.ensureDeployNamespace(tenant);
    await first.idle();
    const before = await read(client, "NetworkPolicy", "sless", `sless-fn-${tenant}`);
    const sent = client.sent.requests;
    await first.ensureDeployNamespace(tenant);
    expect(client.sent.requests).toBe(sent);
    await first.stop();
    const second = await following(client);
    await second.idle();
    expect(await read(client, "NetworkPolicy", "sless", `sless-fn-${tenant}`)).toEqual(before);
  });

  it("changed settings reach the tenants that are there, and what is not wanted any more goes", async () => {
    const client = clusterClient(cluster());
    const first = await following(client);
    const tenant = freshName();
    await first.ensureDeployNamespace(tenant);
    await first.stop();
    const namespace = `sless-fn-${tenant}`;
    await following(client, {
      quota: undefined,
      limits: [{ type: "Container", max: { cpu: "2" } }],
      egressDenied: ["93.184.216.0/24"],
    });
    await untilLive(client, ["ResourceQuota", "sless", namespace], (live) => live === undefined);
    await untilLive(client, ["LimitRange", "sless", namespace], (live) => live?.spec.limits[0].max.cpu === "2");
    await untilLive(client, ["NetworkPolicy", "sless", namespace], (live) =>
      JSON.stringify(live).includes("93.184.216.0/24"),
    );
  });

  it.each([
    ["is closed", [], undefined],
    ["that is allowed by itself is closed where it listens", ["203.0.113.7"], BESIDE_API_PORTS],
  ])("a new address of the API server %s to tenants that are there", async (_name, egressAllowed, ports) => {
    const client = clusterClient(cluster());
    const tenants = await following(client, { egressAllowed });
    const tenant = freshName();
    await tenants.ensureDeployNamespace(tenant);
    const slice = {
      name: freshName("kubernetes"),
      namespace: "default",
      labels: { "kubernetes.io/service-name": "kubernetes" },
    };
    await create(client, "EndpointSlice", slice, {
      addressType: "IPv4",
      endpoints: [{ addresses: ["203.0.113.7"] }],
      ports: [{ name: "https", port: 6443, protocol: "TCP" }],
    });
    onTestFinished(() => remove(client, "EndpointSlice", slice));
    const at = ["NetworkPolicy", "sless", `sless-fn-${tenant}`] as const;
    const closed = await untilLive(client, [...at], (live) =>
      live?.spec.egress[1].to[0].ipBlock.except.includes("203.0.113.7/32"),
    );
    const itself = closed?.spec.egress.slice(2);
    expect(itself).toEqual(ports ? [{ to: [{ ipBlock: { cidr: "203.0.113.7/32" } }], ports }] : []);
  });

  it("a deploy namespace that goes is left alone until something is to run there again", async () => {
    const client = clusterClient(cluster());
    const tenants = await following(client);
    const tenant = freshName();
    await tenants.ensureDeployNamespace(tenant);
    await remove(client, "Namespace", { name: `sless-fn-${tenant}` });
    await eventually(
      "it is gone",
      () => read(client, "Namespace", `sless-fn-${tenant}`),
      (seen) => seen === undefined,
    );
    await tenants.idle();
    expect(await read(client, "Namespace", `sless-fn-${tenant}`)).toBeUndefined();
    await tenants.ensureDeployNamespace(tenant);
    expect(await read(client, "NetworkPolicy", "sless", `sless-fn-${tenant}`)).toBeDefined();
  });

  it("one that only follows corrects nothing, whatever its settings", async () => {
    const client = clusterClient(cluster());
    const leader = await following(client);
    const tenant = freshName();
    await leader.ensureDeployNamespace(tenant);
    const settings = { ...SETTINGS, quota: { pods: "1" } };
    const standby = await followTenants({ client, settings, clock: systemClock, log });
    onTestFinished(() => standby.stop());
    const namespace = `sless-fn-${tenant}`;
    await edit(client, "ResourceQuota", { name: "sless", namespace }, { spec: { hard: { pods: "2000" } } });
    await untilLive(client, ["ResourceQuota", "sless", namespace], (live) => live?.spec.hard.pods === "20");
    const { resourceVersion } = (await read(client, "NetworkPolicy", "sless", namespace))!.metadata;
    await leader.idle();
    expect((await read(client, "NetworkPolicy", "sless", namespace))?.metadata.resourceVersion).toBe(resourceVersion);
    expect((await read(client, "ResourceQuota", "sless", namespace))?.spec.hard).toEqual({ pods: "20" });
  });

  it("a deploy namespace that somebody made anew is not written into", async () => {
    const client = clusterClient(cluster());
    const tenants = await following(client);
    const tenant = freshName();
    await tenants.ensureDeployNamespace(tenant);
    await tenants.ensureDeployNamespace(tenant);
    const name = `sless-fn-${tenant}`;
    // As one of the same name that was made without the labels of sless.
    await edit(client, "Namespace", { name }, { metadata: { labels: { "app.kubernetes.io/managed-by": null } } });
    await eventually(
      "it is refused",
      () =>
        tenants.ensureDeployNamespace(tenant).then(
          () => "taken",
          ({ code }) => code,
        ),
      (outcome) => outcome === "namespace_not_ours",
    );
  });
});
