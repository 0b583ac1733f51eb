import { expect, it, onTestFinished } from "vitest";
import { openKubernetesClient } from "../../../src/kubernetes/index.ts";
import { leaseHolder, leaseIdentity } from "../../../src/leader/kubernetes/index.ts";
import { describeOnCluster, type TestCluster } from "../../support/kubernetes/index.ts";

const LEASE = "sless-controller";
const soon = () => AbortSignal.timeout(120_000);

async function world(cluster: TestCluster) {
  const namespace = await cluster.createNamespace("leader");
  const client = openKubernetesClient({ from: { file: cluster.kubeconfig } });
  onTestFinished(() => client.close());
  const leases = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
  const pods = `/api/v1/namespaces/${namespace}/pods`;
  const contentType = "application/merge-patch+json";
  return {
    address: leaseHolder({ client, namespace, name: LEASE, port: 9092 }),
    hold: (holderIdentity: string) =>
      cluster.request("POST", leases, { body: { metadata: { name: LEASE }, spec: { holderIdentity } } }),
    async pod(name: string, status: object) {
      const spec = { schedulerName: "nobody", containers: [{ name: "sless", image: "sless" }] };
      const automount = { automountServiceAccountToken: false };
      await cluster.request("POST", `/api/v1/namespaces/${namespace}/serviceaccounts`, {
        body: { metadata: { name } },
      });
      const body = { metadata: { name }, spec: { ...spec, ...automount, serviceAccountName: name } };
      expect((await cluster.request("POST", pods, { body })).status).toBe(201);
      const patched = await cluster.request("PATCH", `${pods}/${name}/status`, { body: { status }, contentType });
      expect(patched.status).toBe(200);
    },
  };
}

describeOnCluster("the holder of a Lease", (cluster) => {
  it.each([
    ["10.1.2.3", "http://10.1.2.3:9092"],
    ["fd00::7", "http://[fd00::7]:9092"],
  ])("is at the address of its pod, %s", async (podIP, url) => {
    const { address, hold, pod } = await world(cluster());
    await pod("sless-controller-abc", { phase: "Running", podIP, podIPs: [{ ip: podIP }] });
    await hold(leaseIdentity("sless-controller-abc", "4ab1"));
    expect(await address.find(soon())).toBe(url);
  });

  it.each<[string, Record<string, object>, string | undefined, string]>([
    ["there is no Lease", {}, undefined, "none leads now"],
    ["its holder let go", {}, "", "none leads now"],
    ["the pod is gone", {}, "gone_1", "does not run"],
    [
      "the pod has ended, and its address may be another's",
      { ended: { phase: "Failed", podIP: "10.1.2.3", podIPs: [{ ip: "10.1.2.3" }] } },
      "ended_1",
      "does not run",
    ],
    ["the pod has no address yet", { young: { phase: "Pending" } }, "young_1", "does not run"],
    ["the identity names no pod", {}, "../secrets_1", "could not be asked"],
  ])("is nowhere while %s", async (_name, pods, holder, cause) => {
    const { address, hold, pod } = await world(cluster());
    for (const [name, status] of Object.entries(pods)) await pod(name, status);
    if (holder !== undefined) await hold(holder);
    await expect(address.find(soon())).rejects.toMatchObject({
      code: "controller_unreachable",
      details: { cause: expect.stringContaining(cause) },
    });
  });
});
