import { CHART, helm } from "../support/helm.ts";
import type { BuiltImage } from "./build-image.ts";
import type { E2eCluster } from "./open-cluster.ts";
import { STAND_INS } from "./stand-in-addresses.ts";

export const NAMESPACE = "sless";
/** Where the installed chart builds images. */
export const BUILD_NAMESPACE = "sless-builds";

const S3_SECRET = "sless-s3";
const HELM_WAITS = "180s";
/** Nothing is collected by itself while the tests run, and at once when it is asked for. */
const GARBAGE = [
  { name: "GARBAGE_GRACE", value: "1s" },
  { name: "GARBAGE_EVERY", value: "12h" },
];

export interface ChartOptions {
  /** Folder of the chart; default: the chart. */
  readonly chart?: string;
  readonly logLevel?: string;
}

/** Installs the chart, or upgrades what is there, and waits until all pods are ready. */
export async function installChart(
  cluster: E2eCluster,
  image: BuiltImage,
  { chart = CHART, logLevel = "debug" }: ChartOptions = {},
): Promise<void> {
  const { settings, isPlainRegistry } = cluster;
  const { s3 } = settings;
  await cluster.apply("Namespace", { metadata: { name: NAMESPACE } });
  await cluster.apply("Secret", {
    metadata: { name: S3_SECRET, namespace: NAMESPACE },
    stringData: { S3_ACCESS_KEY: s3.credentials.accessKeyId, S3_SECRET_KEY: s3.credentials.secretAccessKey },
  });
  // Each role as often as its own ways to fail need: the controller elects a leader, the gateway shares calls.
  const role = (replicas: number) => ({ replicas, terminationGracePeriodSeconds: 20, env: GARBAGE });
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
    tenants: { egress: { denied: [STAND_INS.deniedInternet], allowed: [STAND_INS.allowedPrivateNetwork] } },
    log: { level: logLevel },
    controller: role(2),
    api: role(1),
    gateway: role(2),
  };
  const release = ["sless", chart, "--namespace", NAMESPACE, "--values", "-"];
  const flags = ["--kubeconfig", settings.kubeconfig, "--install", "--wait", "--timeout", HELM_WAITS];
  await helm(["upgrade", ...release, ...flags], JSON.stringify(values));
}

export async function uninstallChart({ settings }: E2eCluster): Promise<void> {
  await helm(["uninstall", "sless", "--namespace", NAMESPACE, "--kubeconfig", settings.kubeconfig, "--wait"]);
}
