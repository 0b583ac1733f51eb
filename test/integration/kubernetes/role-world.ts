import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { createClient, type SlessClient } from "../../../src/server/client.ts";
import { SHARED_CLAIM } from "../../deploy/value-sets.ts";
import { type ClusterProcess, startClusterProcess } from "../../support/cluster-process.ts";
import { eventually } from "../../support/eventually.ts";
import { renderChart } from "../../support/helm.ts";
import { asList, kubectl } from "../../support/kubectl.ts";
import type { ControlPlane } from "../../support/kubernetes/index.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { done } from "./fault-world.ts";

/** Where the release is. */
export const OWN = "sless";
const RIGHTS = ["ServiceAccount", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"];
const GUARDS = ["ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"];

/** Gives the roles the chart's rights. */
export async function installRights(cluster: ControlPlane): Promise<void> {
  await kubectl(cluster.kubeconfig, ["create", "namespace", OWN]);
  const objects = await renderChart({ mode: "roles", ...SHARED_CLAIM }, OWN);
  const rights = objects.filter(({ kind }) => [...RIGHTS, ...GUARDS].includes(kind!));
  await kubectl(cluster.kubeconfig, ["apply", "--server-side", "-f", "-"], asList(rights));
}

export interface RoleProcess extends ClusterProcess {
  /** Of the REST API, as the cluster's admin. */
  client(): Promise<SlessClient>;
}

/** Processes of single roles, each with the account of its role and an address of its own, as their pods would be. */
export interface RoleWorld {
  /** Shared by all, as the volume of sources is. */
  readonly data: string;
  /** Of the controllers. */
  readonly port: number;
  /** @param address of loopback, `127.0.0.11` */
  controller(name: string, address: string, options?: { readonly buildMs?: number }): Promise<RoleProcess>;
  api(): Promise<RoleProcess>;
}

export async function roleWorld(cluster: ControlPlane, port: number): Promise<RoleWorld> {
  const data = await temporaryFolder();
  const callers = `system:serviceaccount:${OWN}:sless-api`;

  async function start(role: "controller" | "api", name: string, env: Record<string, string>, buildMs = 0) {
    const account = { serviceAccount: `sless-${role}`, namespace: OWN };
    const kubeconfig = await cluster.kubeconfigFor(await cluster.tokenFor(account));
    const options = { name, namespace: OWN, data, roles: [role], kubeconfig, buildMs };
    const process = startClusterProcess(cluster, {
      ...options,
      env: { CONTROLLER_PORT: String(port), CONTROLLER_CALLERS: callers, LOG_LEVEL: "debug", ...env },
    });
    const client = async () => {
      const opened = createClient({ endpoint: await process.started(), token: cluster.adminToken });
      onTestFinished(() => opened.close());
      return opened;
    };
    return { ...process, client };
  }
  return {
    data,
    port,
    async controller(name, address, { buildMs } = {}) {
      await podOf(cluster, name, address);
      return start("controller", name, { LISTEN_ADDRESS: address }, buildMs);
    },
    async api() {
      const account = { serviceAccount: "sless-api", namespace: OWN };
      const file = join(await temporaryFolder(), "token");
      await writeFile(file, await cluster.tokenFor(account, { audiences: ["sless-controller"] }));
      return start("api", "api", { CONTROLLER_TOKEN_FILE: file });
    },
  };
}

/** A pod that no node has, at an address of loopback: it stands for a process of the test. */
async function podOf(cluster: ControlPlane, name: string, podIP: string): Promise<void> {
  const pods = `/api/v1/namespaces/${OWN}/pods`;
  const body = {
    metadata: { name },
    spec: {
      schedulerName: "nobody",
      serviceAccountName: "sless-controller",
      automountServiceAccountToken: false,
      containers: [{ name: "sless", image: "sless" }],
    },
  };
  await eventually(
    "the pod is taken",
    async () => (await cluster.request("POST", pods, { body })).status,
    (status) => status === 201,
  );
  onTestFinished(() => removePod(cluster, name));
  const status = { phase: "Running", podIP, podIPs: [{ ip: podIP }] };
  const contentType = "application/merge-patch+json";
  await done(cluster.request("PATCH", `${pods}/${name}/status`, { body: { status }, contentType }));
}

export async function removePod(cluster: ControlPlane, name: string): Promise<void> {
  await cluster.request("DELETE", `/api/v1/namespaces/${OWN}/pods/${name}?gracePeriodSeconds=0`);
}
