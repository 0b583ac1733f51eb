import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Role } from "../../../src/cli/index.ts";
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
  /** Of the REST API, as the cluster's admin unless a token is given. */
  client(token?: string): Promise<SlessClient>;
}

/** Processes of single roles, each with the account of its role and an address of its own, as their pods would be. */
export interface RoleWorld {
  /** Shared by all, as the volume of sources is. */
  readonly data: string;
  /** Starts one that leads, at an address of loopback; its builds take so long. */
  leader(name: string, address: string, buildMs?: number): Promise<RoleProcess>;
  api(): Promise<RoleProcess>;
  /** One that is all of it. */
  replica(name: string, address: string): Promise<RoleProcess>;
}

/** @param port of the controllers */
export async function roleWorld(cluster: ControlPlane, port: number): Promise<RoleWorld> {
  const data = await temporaryFolder();
  const tokens = await temporaryFolder();
  const callers = `system:serviceaccount:${OWN}:sless-api`;

  async function start(roles: readonly Role[], name: string, env: Record<string, string>, buildMs = 0) {
    const account = { serviceAccount: `sless-${roles[0]}`, namespace: OWN };
    // The rights of all roles are nobody's here.
    const token = roles.length > 1 ? cluster.adminToken : await cluster.tokenFor(account);
    const process = startClusterProcess(cluster, {
      ...{ name, namespace: OWN, data, roles, buildMs },
      kubeconfig: await cluster.kubeconfigFor(token),
      env: { CONTROLLER_PORT: String(port), CONTROLLER_CALLERS: callers, LOG_LEVEL: "debug", ...env },
    });
    const client = async (bearer = cluster.adminToken) => {
      const opened = createClient({ endpoint: await process.started(), token: bearer });
      onTestFinished(() => opened.close());
      return opened;
    };
    return { ...process, client };
  }
  async function tokenOfApi(): Promise<Record<string, string>> {
    const CONTROLLER_TOKEN_FILE = join(tokens, "controller");
    await writeFile(CONTROLLER_TOKEN_FILE, await apiToken(cluster, ["sless-controller"]));
    return { CONTROLLER_TOKEN_FILE };
  }
  return {
    data,
    async leader(name, address, buildMs) {
      await podOf(cluster, name, address);
      const controller = await start(["controller"], name, { LISTEN_ADDRESS: address }, buildMs);
      await controller.leads();
      return controller;
    },
    api: async () => start(["api"], "api", await tokenOfApi()),
    async replica(name, address) {
      await podOf(cluster, name, address);
      return start(["controller", "api", "gateway"], name, { LISTEN_ADDRESS: address, ...(await tokenOfApi()) });
    },
  };
}

/** A token of the api's account. */
export function apiToken(cluster: ControlPlane, audiences?: readonly string[]): Promise<string> {
  const account = { serviceAccount: "sless-api", namespace: OWN };
  return cluster.tokenFor(account, audiences ? { audiences } : {});
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
  onTestFinished(async () => void (await cluster.request("DELETE", `${pods}/${name}?gracePeriodSeconds=0`)));
  const status = { phase: "Running", podIP, podIPs: [{ ip: podIP }] };
  const contentType = "application/merge-patch+json";
  await done(cluster.request("PATCH", `${pods}/${name}/status`, { body: { status }, contentType }));
}
