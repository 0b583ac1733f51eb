import { readdir, readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { parse } from "yaml";
import { eventually } from "../eventually.ts";
import type { TestCluster } from "./cluster.ts";

const CRDS = resolve(import.meta.dirname, "../../../crds");
const NODES = ["node-a", "node-b"];

type Api = Pick<TestCluster, "request">;

/** Applies `crds/` as `kubectl apply --server-side -f crds/` does; resolves when all are served. */
export async function installCrds(cluster: Api): Promise<void> {
  const files = (await readdir(CRDS)).filter((name) => name.endsWith(".yaml"));
  await Promise.all(files.map(async (name) => installCrd(cluster, parse(await readFile(resolve(CRDS, name), "utf8")))));
}

async function installCrd(cluster: Api, crd: { metadata: { name: string } }): Promise<void> {
  const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${crd.metadata.name}`;
  const { status, body } = await cluster.request("PATCH", `${path}?fieldManager=test-setup&force=true`, { body: crd });
  if (status >= 300) throw new Error(`${crd.metadata.name} was refused: ${JSON.stringify(body)}`);
  await eventually(`${crd.metadata.name} is served`, () => conditionsOf(cluster, path), isTrue("Established"));
}

/**
 * Two nodes with room for what tests start; resolves when they are ready and pods may be made.
 *
 * @throws what `check` throws while that is waited for
 */
export async function addNodes(cluster: Api, check: () => Promise<void>): Promise<void> {
  await Promise.all(NODES.map((name) => addNode(cluster, name, check)));
  // Pods are refused until the namespace has its account.
  await eventually(
    "the namespace default has its service account",
    async () => (await cluster.request("GET", "/api/v1/namespaces/default/serviceaccounts/default")).status,
    (status) => status === 200,
  );
}

async function addNode(cluster: Api, name: string, check: () => Promise<void>): Promise<void> {
  const room = { cpu: "1000", memory: "4Ti", pods: "10000" };
  const body = {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      labels: {
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "topology.kubernetes.io/zone": name,
      },
    },
    status: { capacity: room, allocatable: room },
  };
  const { status, body: answer } = await cluster.request("POST", "/api/v1/nodes", { body });
  if (status !== 201) throw new Error(`the node ${name} was refused: ${JSON.stringify(answer)}`);
  const seen = async () => {
    await check();
    return conditionsOf(cluster, `/api/v1/nodes/${name}`);
  };
  await eventually(`${name} is ready`, seen, isTrue("Ready"));
}

interface StatusCondition {
  readonly type: string;
  readonly status: string;
}

async function conditionsOf(cluster: Api, path: string): Promise<readonly StatusCondition[]> {
  const { body } = await cluster.request("GET", path);
  return body.status?.conditions ?? [];
}

function isTrue(type: string): (conditions: readonly StatusCondition[]) => boolean {
  return (conditions) => conditions.some((condition) => condition.type === type && condition.status === "True");
}
