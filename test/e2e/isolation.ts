import { expect, type TestContext } from "vitest";
import { GROUP } from "../../src/apis/index.ts";
import { API_RESOURCES, type ApiObject, apiPath } from "../../src/kubernetes/index.ts";
import { readApiServerAddresses } from "../../src/tenancy/index.ts";
import { eventually } from "../support/eventually.ts";
import { BUILD_NAMESPACE, NAMESPACE } from "./chart-release.ts";
import { call, type InstalledSless } from "./installed-sless.ts";
import type { E2eCluster } from "./open-cluster.ts";
import { type Place, type ProbingPod, type Reached, runProbingPod } from "./probe.ts";
import { openStandIns, STAND_INS } from "./stand-in-addresses.ts";

const PROBED_WITHIN_MS = 60_000;

/**
 * Who reaches what. `outsider`: a pod of a namespace that sless has nothing to do with, labelled like the gateway;
 * `neighbour`: one beside the gateway, without its labels; `builder`: one where images are built.
 */
const TABLE: Readonly<Record<string, Readonly<Record<Prober, boolean>>>> = {
  "the cluster's DNS": { outsider: true, neighbour: true, function: true, builder: true },
  "the API server by its Service": { outsider: true, neighbour: true, function: false, builder: false },
  "the API server itself": { outsider: true, neighbour: true, function: false, builder: false },
  "another tenant's function": { outsider: false, neighbour: false, function: false, builder: false },
  "another function of its tenant": { outsider: false, neighbour: false, function: false, builder: false },
  "the gateway's public port": { outsider: true, neighbour: true, function: false, builder: false },
  "the gateway's internal port": { outsider: false, neighbour: false, function: false, builder: false },
  "the API of sless": { outsider: true, neighbour: true, function: false, builder: false },
  "a pod of another namespace": { outsider: true, neighbour: true, function: false, builder: false },
  "a registry that builds may reach": { outsider: true, neighbour: true, function: false, builder: true },
};

/** The same of places that only this machine can stand for. */
const OUTSIDE: typeof TABLE = {
  internet: { outsider: true, neighbour: true, function: true, builder: true },
  deniedInternet: { outsider: true, neighbour: true, function: false, builder: true },
  privateNetwork: { outsider: true, neighbour: true, function: false, builder: false },
  allowedPrivateNetwork: { outsider: true, neighbour: true, function: true, builder: false },
  linkLocal: { outsider: true, neighbour: true, function: false, builder: false },
};

type Prober = "outsider" | "neighbour" | "function" | "builder";

/**
 * Asks functions and pods what they reach. Where the cluster's network does not enforce policies that is annotated, and
 * nothing is asked.
 *
 * @param other a namespace that has the function `prober` too
 */
export async function checkIsolation(
  sless: InstalledSless,
  other: string,
  annotate: TestContext["annotate"],
): Promise<void> {
  const { cluster, run } = sless;
  const plain = `e2e-plain-${run}`;
  const name = `probe-${run}`;
  await cluster.apply("Namespace", { metadata: { name: plain } });
  try {
    const gatewayLabels = { "app.kubernetes.io/name": "sless", "app.kubernetes.io/component": "gateway" };
    const [outsider, neighbour, builder] = await Promise.all([
      runProbingPod(cluster, { namespace: plain, name, labels: gatewayLabels }),
      runProbingPod(cluster, { namespace: NAMESPACE, name }),
      runProbingPod(cluster, { namespace: BUILD_NAMESPACE, name }),
    ]);
    if (!(await enforces(cluster, outsider, plain))) {
      if (cluster.settings.podNetwork) throw new Error("policies are not enforced, although they were to be");
      return void (await annotate("this cluster's network enforces no NetworkPolicy: nothing was tried"));
    }
    await using standIns = cluster.settings.podNetwork ? await openStandIns() : undefined;
    const places: Record<string, Place> = await placesOf(sless, other, outsider.address);
    for (const [name, port] of Object.entries(standIns?.ports ?? {}))
      places[name] = [STAND_INS[name as keyof typeof STAND_INS], port];
    const table = standIns ? { ...TABLE, ...OUTSIDE } : TABLE;
    const inFunction = async (): Promise<Reached> => JSON.parse(await call(sless, "prober", { event: { places } }));
    const probes: Record<Prober, () => Promise<Reached>> = {
      outsider: () => outsider.probe(places),
      neighbour: () => neighbour.probe(places),
      function: inFunction,
      builder: () => builder.probe(places),
    };
    await Promise.all((Object.keys(probes) as Prober[]).map((prober) => sees(prober, probes[prober], table)));
    // The gateway reaches both, or nobody could have been asked.
    expect(await call(sless, "prober", { namespace: other, event: { places: { dns: ["localhost", 0] } } })).toContain(
      "true",
    );
  } finally {
    const pods = [NAMESPACE, BUILD_NAMESPACE].map((namespace) => apiPath(API_RESOURCES.Pod, { namespace, name }));
    for (const path of [...pods, apiPath(API_RESOURCES.Namespace, { name: plain })])
      await cluster.client.request({ method: "DELETE", path });
  }
}

async function sees(prober: Prober, probe: () => Promise<Reached>, table: typeof TABLE): Promise<void> {
  const expected = Object.fromEntries(Object.entries(table).map(([place, by]) => [place, by[prober]]));
  const differing = async () => {
    const seen = await probe();
    return Object.keys(expected).filter((place) => seen[place] !== expected[place]);
  };
  // A machine under load answers late, which looks like a policy.
  await eventually(
    `what a ${prober} reaches against what it shall`,
    differing,
    (wrong) => wrong.length === 0,
    PROBED_WITHIN_MS,
  );
}

/** A policy that lets nothing in keeps a pod from another, or the network does not know policies. */
async function enforces(cluster: E2eCluster, from: ProbingPod, namespace: string): Promise<boolean> {
  const metadata = { namespace, name: "closed", labels: { "e2e-closed": "true" } };
  const closed = await runProbingPod(cluster, metadata);
  const places = { closed: [closed.address, 8080] } as const;
  expect(await from.probe(places)).toEqual({ closed: true });
  await cluster.apply("NetworkPolicy", {
    metadata: { namespace, name: "closed" },
    spec: { podSelector: { matchLabels: metadata.labels }, policyTypes: ["Ingress"] },
  });
  const isKept = eventually(
    "the policy is enforced",
    () => from.probe(places),
    (seen) => seen.closed === false,
    15_000,
  );
  return isKept.then(
    () => true,
    () => false,
  );
}

async function placesOf(sless: InstalledSless, other: string, outsider: string): Promise<Record<string, Place>> {
  const { cluster, tenant, gateway, api } = sless;
  const { registryHost } = cluster.settings;
  const addresses = await readApiServerAddresses(cluster.client);
  const [server] = addresses.filter(({ ports }) => ports.length > 0);
  const [service] = addresses.filter(({ ports }) => ports.length === 0);
  const registry = new URL(`http://${registryHost}`);
  return {
    "the cluster's DNS": ["kubernetes.default.svc.cluster.local", 0],
    "the API server by its Service": [service!.address, 443],
    "the API server itself": [server!.address, server!.ports[0]!],
    "another tenant's function": [await podAddress(sless, other, "prober"), 8080],
    "another function of its tenant": [await podAddress(sless, tenant, "snake"), 8080],
    "the gateway's public port": [gateway, 80],
    "the gateway's internal port": [gateway, 9091],
    "the API of sless": [api, 80],
    "a pod of another namespace": [outsider, 8080],
    "a registry that builds may reach": [registry.hostname, Number(registry.port || 80)],
  };
}

async function podAddress({ cluster }: InstalledSless, namespace: string, name: string): Promise<string> {
  const path = apiPath(API_RESOURCES.Pod, { namespace: `sless-fn-${namespace}` });
  const query = { labelSelector: `${GROUP}/name=${name}`, fieldSelector: "status.phase=Running" };
  type Pods = { items: (ApiObject & { status: { podIP: string } })[] };
  const { items } = await cluster.client.request<Pods>({ method: "GET", path, query });
  return items[0]!.status.podIP;
}
