import { join } from "node:path";

/** Ports of the servers, all of 127.0.0.1. */
export interface Ports {
  readonly etcd: number;
  readonly etcdPeer: number;
  readonly apiServer: number;
  /** On which the nodes' kubelets are asked for logs. */
  readonly podLogs: number;
}

/** What the command lines depend on; every file stands in `folder`. */
export interface ServerSettings {
  readonly folder: string;
  readonly ports: Ports;
  readonly audit: boolean;
  readonly apiServerFlags: readonly string[];
}

/** Those that sless's objects need. Each more costs memory and watches. */
const CONTROLLERS = [
  "clusterrole-aggregation-controller",
  "deployment-controller",
  "disruption-controller",
  "endpoints-controller",
  "endpointslice-controller",
  "garbage-collector-controller",
  "job-controller",
  "namespace-controller",
  "pod-garbage-collector-controller",
  "replicaset-controller",
  "resourcequota-controller",
  "serviceaccount-controller",
  "ttl-after-finished-controller",
];

const SYNCS_AT_ONCE = ["deployment", "endpoint", "gc", "job", "namespace", "replicaset", "resource-quota"];

// Its defaults, 20 and 30 a second, would make every test of many objects one of this limit.
const CLIENT_RATE = ["--kube-api-qps=1000", "--kube-api-burst=2000"];

export function etcdCommand({ folder, ports }: ServerSettings): string[] {
  const client = `http://127.0.0.1:${ports.etcd}`;
  const peer = `http://127.0.0.1:${ports.etcdPeer}`;
  return [
    "--name=test",
    `--data-dir=${join(folder, "etcd")}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=test=${peer}`,
    "--unsafe-no-fsync", // a test that ends the machine does not look at its data
    "--log-level=warn",
  ];
}

export function apiServerCommand({ folder, ports, audit, apiServerFlags }: ServerSettings): string[] {
  const file = (name: string) => join(folder, name);
  return [
    `--etcd-servers=http://127.0.0.1:${ports.etcd}`,
    "--bind-address=127.0.0.1",
    "--advertise-address=127.0.0.1", // else it looks for a default route, which a machine may not have
    "--endpoint-reconciler-type=none",
    `--secure-port=${ports.apiServer}`,
    `--cert-dir=${folder}`,
    `--tls-cert-file=${file("server.crt")}`,
    `--tls-private-key-file=${file("server.key")}`,
    "--service-cluster-ip-range=10.97.0.0/16",
    "--authorization-mode=RBAC",
    `--token-auth-file=${file("tokens.csv")}`,
    `--authentication-token-webhook-config-file=${file("token-webhook.kubeconfig")}`,
    "--authentication-token-webhook-version=v1",
    "--service-account-issuer=https://kubernetes.default.svc",
    `--service-account-key-file=${file("accounts.pub")}`,
    `--service-account-signing-key-file=${file("accounts.key")}`,
    // It taints new nodes until a controller that is not run here lifts that.
    "--disable-admission-plugins=TaintNodesByCondition",
    "--kubelet-preferred-address-types=InternalIP", // the nodes' names are known to no DNS
    "--shutdown-send-retry-after=true", // else it waits a minute for those who watch
    ...(audit ? [`--audit-policy-file=${file("audit-policy.yaml")}`, `--audit-log-path=${file("audit.log")}`] : []),
    ...apiServerFlags,
  ];
}

// Neither the controller manager nor the scheduler serves anything: nobody asks them.
export function controllerManagerCommand({ folder }: ServerSettings): string[] {
  return [
    `--kubeconfig=${join(folder, "kube-controller-manager.kubeconfig")}`,
    "--secure-port=0",
    "--leader-elect=false",
    "--use-service-account-credentials=true",
    `--service-account-private-key-file=${join(folder, "accounts.key")}`,
    `--root-ca-file=${join(folder, "ca.crt")}`,
    `--controllers=${CONTROLLERS.join(",")}`,
    ...SYNCS_AT_ONCE.map((kind) => `--concurrent-${kind}-syncs=20`),
    ...CLIENT_RATE,
  ];
}

export function schedulerCommand({ folder }: ServerSettings): string[] {
  return [
    `--kubeconfig=${join(folder, "kube-scheduler.kubeconfig")}`,
    "--secure-port=0",
    "--leader-elect=false",
    ...CLIENT_RATE,
  ];
}

export function kwokCommand({ folder, ports }: ServerSettings): string[] {
  return [
    `--kubeconfig=${join(folder, "kwok.kubeconfig")}`,
    "--manage-all-nodes=true",
    "--node-ip=127.0.0.1",
    `--node-port=${ports.podLogs}`,
    "--server-address=127.0.0.1:0", // else it takes the port of the nodes
    "--node-lease-duration-seconds=40",
    "--cidr=10.98.0.1/16",
    `--config=${join(folder, "stages.yaml")}`,
  ];
}
