import { CHART, helm } from "../support/helm.ts";
import type { BuiltImage } from "./build-image.ts";
import type { E2eCluster } from "./open-cluster.ts";

export const NAMESPACE = "sless";

/** Installs the chart, or upgrades what is there, and waits until all pods are ready. */
export async function installChart({ settings, isPlainRegistry }: E2eCluster, image: BuiltImage): Promise<void> {
  const values = {
    image: { repository: `${settings.registryHost}/${image.repository}`, digest: image.digest },
    // The tests' cluster need not have a provisioner of volumes.
    objects: { persistence: { type: "emptyDir" } },
    registry: { host: settings.registryHost, plainHTTP: isPlainRegistry },
    git: { networks: [`${settings.hostAddress}/32`] },
    log: { level: "debug" },
    all: { terminationGracePeriodSeconds: 20 },
  };
  const release = ["sless", CHART, "--namespace", NAMESPACE, "--create-namespace", "--values", "-"];
  const flags = ["--kubeconfig", settings.kubeconfig, "--install", "--wait", "--timeout", "180s"];
  await helm(["upgrade", ...release, ...flags], JSON.stringify(values));
}

export async function uninstallChart({ settings }: E2eCluster): Promise<void> {
  await helm(["uninstall", "sless", "--namespace", NAMESPACE, "--kubeconfig", settings.kubeconfig, "--wait"]);
}
