import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { API_RESOURCES, type ApiObject, apiPath, isApiError } from "../../src/kubernetes/index.ts";
import { buildServer } from "../servers/build.ts";
import { eventually } from "../support/eventually.ts";
import { stagesFile } from "../support/kubernetes/pod-stages.ts";
import type { E2eCluster } from "./open-cluster.ts";

const NAMES = ["spare-1", "spare-2"];
const MARK = "kwok.x-k8s.io/node";

interface NodeObject {
  readonly metadata: { readonly name: string };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

/**
 * Two nodes of kwok, on which pods of a drained node have somewhere to go: they are said to run there, and do not. When
 * the nodes are disposed of, their pods go back to real ones.
 */
export async function addSpareNodes(cluster: E2eCluster): Promise<AsyncDisposable> {
  const folder = await mkdtemp(join(tmpdir(), "sless-e2e-kwok-"));
  const stages = join(folder, "stages.yaml");
  await writeFile(stages, stagesFile());
  const kwok = spawn(
    await buildServer("kwok"),
    [
      `--kubeconfig=${cluster.settings.kubeconfig}`,
      "--manage-all-nodes=false",
      `--manage-nodes-with-annotation-selector=${MARK}=spare`,
      "--node-lease-duration-seconds=40",
      "--server-address=127.0.0.1:0",
      "--cidr=10.98.0.1/16",
      `--config=${stages}`,
    ],
    { stdio: "ignore" },
  );
  const ended = new Promise((resolve) => kwok.once("close", resolve));
  const at = (name: string) => apiPath(API_RESOURCES.Node, { name });
  await Promise.all(NAMES.map((name) => cluster.apply("Node", nodeOf(name))));
  for (const name of NAMES)
    await eventually(`node ${name} ready`, () => cluster.get<NodeObject>(at(name)), isReady, 30_000);
  return {
    async [Symbol.asyncDispose]() {
      for (const name of NAMES) {
        await cluster.client.request({ method: "DELETE", path: at(name) });
        await deletePodsOf(cluster, name);
      }
      kwok.kill();
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Kubernetes does the same a minute after the node is gone. */
async function deletePodsOf({ client }: E2eCluster, node: string): Promise<void> {
  const query = { fieldSelector: `spec.nodeName=${node}` };
  const path = apiPath(API_RESOURCES.Pod);
  const { items } = await client.request<{ items: ApiObject[] }>({ method: "GET", path, query });
  for (const { metadata } of items) {
    const gone = apiPath(API_RESOURCES.Pod, metadata);
    await client.request({ method: "DELETE", path: gone, query: { gracePeriodSeconds: 0 } }).catch((error: unknown) => {
      if (!isApiError(error, 404)) throw error;
    });
  }
}

function nodeOf(name: string): object {
  const amounts = { cpu: "8", memory: "16Gi", pods: "100" };
  return {
    metadata: { name, annotations: { [MARK]: "spare" }, labels: { "kubernetes.io/hostname": name } },
    status: { capacity: amounts, allocatable: amounts },
  };
}

function isReady(node: NodeObject | undefined): boolean {
  return node?.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;
}
