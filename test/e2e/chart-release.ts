import { CHART, helm } from "../support/helm.ts";
import type { BuiltImage } from "./build-image.ts";
import type { E2eCluster } from "./open-cluster.ts";

export const NAMESPACE = "sless";
/** Where the installed chart builds images. */
export const BUILD_NAMESPACE = "sless-builds";

const S3_SECRET = "sless-s3";
const HELM_WAITS = "180s";

/** Installs the chart, or upgrades what is there, and waits until all pods are ready. */
export async function installChart(cluster: E2eCluster, image: BuiltImage): Promise<void> {
  const { settings, isPlainRegistry } = cluster;
  const { s3 } = settings;
  await cluster.apply("Namespace", { metadata: { name: NAMESPACE } });
  await cluster.apply("Secret", {
    metadata: { name: S3_SECRET, namespace: NAMESPACE },
    stringData: { S3_ACCESS_KEY: s3.credentials.accessKeyId, S3_SECRET_KEY: s3.credentials.secretAccessKey },
  });
  // Each role as often as its own ways to fail need: the controller elects a leader, the gateway shares calls.
  const role = (replicas: number) => ({ replicas, terminationGracePeriodSeconds: 20 });
  const { bucket, endpoint, region, forcePathStyle } = s3;
  const values = {
    mode: "roles",
    image: { repository: `${settings.registryHost}/${image.repository}`, digest: image.digest },
    objects: { s3: { bucket, endpoint, region, forcePathStyle, secret: S3_SECRET } },
    registry: { host: settings.registryHost, plainHTTP: isPlainRegistry, mirror: settings.registryMirror ?? "" },
    builds: {
      image: settings.kanikoImage,
      namespace: BUILD_NAMESPACE,
      egress: { allowed: [`${settings.hostAddress}/32`] },
    },
    git: { networks: [`${settings.hostAddress}/32`] },
    log: { level: "debug" },
    controller: role(2),
    api: role(1),
    gateway: role(2),
  };
  const release = ["sless", CHART, "--namespace", NAMESPACE, "--values", "-"];
  const flags = ["--kubeconfig", settings.kubeconfig, "--install", "--wait", "--timeout", HELM_WAITS];
  await helm(["upgrade", ...release, ...flags], JSON.stringify(values));
}

export async function uninstallChart({ settings }: E2eCluster): Promise<void> {
  await helm(["uninstall", "sless", "--namespace", NAMESPACE, "--kubeconfig", settings.kubeconfig, "--wait"]);
}
