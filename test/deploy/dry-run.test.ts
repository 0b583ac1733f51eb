// Renders with "helm", applies with "kubectl".
import { expect, it } from "vitest";
import { renderChart } from "../support/helm.ts";
import { asList, kubectl } from "../support/kubectl.ts";
import { describeOnOwnControlPlane, type TestCluster } from "../support/kubernetes/index.ts";
import { VALUE_SETS } from "./value-sets.ts";

/** The Prometheus operator's kind, as far as the API server must know it to take one. */
const SERVICE_MONITOR = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "servicemonitors.monitoring.coreos.com" },
  spec: {
    group: "monitoring.coreos.com",
    scope: "Namespaced",
    names: { kind: "ServiceMonitor", plural: "servicemonitors", singular: "servicemonitor" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    ],
  },
};

/** What the API server, and restricted Pod Security, have against a pod template is a warning. */
const DRY_RUN = ["apply", "--server-side", "--dry-run=server", "--validate=strict", "--warnings-as-errors"];

/** The chart's folder of the node is what the user wants, against restricted Pod Security. */
const POD_SECURITY = { "sources on the node": "privileged" };

describeOnOwnControlPlane("the chart on an API server", { controllers: false, crds: false }, (cluster) => {
  it.each(Object.entries(VALUE_SETS))("is taken as a server-side dry run: %s", async (name, values) => {
    await installServiceMonitors(cluster());
    const namespace = await securedNamespace(cluster(), (POD_SECURITY as Record<string, string>)[name] ?? "restricted");
    const objects = await renderChart(values, namespace);
    const said = await kubectl(cluster().kubeconfig, [...DRY_RUN, "-f", "-"], asList(objects));
    expect(said.trim().split("\n")).toHaveLength(objects.length);
  });

  it("is taken as plain manifests, in one go", async () => {
    await kubectl(cluster().kubeconfig, ["create", "namespace", "sless"]);
    const said = await kubectl(cluster().kubeconfig, [...DRY_RUN, "-k", "deploy/manifests"]);
    expect(said).toContain("deployment.apps/sless serverside-applied (server dry run)");
  });
});

async function installServiceMonitors(cluster: TestCluster): Promise<void> {
  await kubectl(cluster.kubeconfig, ["apply", "--server-side", "-f", "-"], JSON.stringify(SERVICE_MONITOR));
  const condition = ["wait", "--for=condition=Established", "crd", SERVICE_MONITOR.metadata.name];
  await kubectl(cluster.kubeconfig, condition);
}

async function securedNamespace(cluster: TestCluster, level: string): Promise<string> {
  const name = await cluster.createNamespace("chart");
  const label = `pod-security.kubernetes.io/warn=${level}`;
  await kubectl(cluster.kubeconfig, ["label", "namespace", name, label]);
  return name;
}
