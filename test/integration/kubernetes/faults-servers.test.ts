import { setTimeout } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { startClusterApp } from "../../support/cluster-app.ts";
import { eventually } from "../../support/eventually.ts";
import { type ControlPlane, describeOnOwnControlPlane } from "../../support/kubernetes/index.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { lives, many, storedTexts, type Tenant, tenantOf, wantedTexts } from "./fault-world.ts";

const FUNCTIONS = 40;
const OUTAGE_MS = 20_000;

/** How many of a tenant's functions and their Deployments are there. */
async function madeCount({ standing }: Tenant): Promise<number> {
  const { functions, deployments } = await standing();
  return functions.length + deployments.length;
}

/** Creations in the audit log that succeeded, by resource and name. */
async function creations(cluster: ControlPlane, namespace: string): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const { verb, resource, name, status, namespace: of, userAgent } of await cluster.auditLog()) {
    if (!of?.endsWith(namespace) || !userAgent.startsWith("sless/")) continue;
    if (status !== 201 || !["create", "patch"].includes(verb)) continue;
    const key = `${resource}/${name}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

describeOnOwnControlPlane("sless while the servers of Kubernetes fail", { audit: true }, (controlPlane) => {
  async function start() {
    const data = await temporaryFolder();
    const sless = await startClusterApp(controlPlane(), { roles: ["controller", "gateway"], data });
    onTestFinished(() => sless.close());
    return data;
  }
  async function expectWhole(data: string, tenant: Tenant) {
    const standing = await tenant.converged();
    expect(await storedTexts(data, standing)).toEqual(wantedTexts(tenant));
    return standing;
  }
  async function expectMadeOnce({ namespace }: Tenant) {
    const made = await creations(controlPlane(), namespace);
    expect(made.size).toBeGreaterThan(FUNCTIONS);
    expect([...made].filter(([key, count]) => count > 1 && !key.startsWith("events/"))).toEqual([]);
  }

  it("an API server that is killed in the middle of a sync delays it, and nothing is lost or made twice", async () => {
    const data = await start();
    const tenant = await tenantOf(controlPlane(), many(FUNCTIONS));
    const made = await eventually(
      "some are there",
      () => madeCount(tenant),
      (count) => count > 0,
    );
    expect(made, "it is in the middle").toBeLessThan(2 * FUNCTIONS);
    await controlPlane().restartApiServer();
    const standing = await expectWhole(data, tenant);
    expect(standing.deployments.map(({ metadata }) => metadata.generation)).toEqual(Array(FUNCTIONS).fill(1));

    // A second time, while changes are rolled out.
    const changed = many(FUNCTIONS / 2, "two");
    await tenant.push(changed);
    const generations = async () => (await tenant.standing()).deployments.map(({ metadata }) => metadata.generation);
    await eventually("some are changed", generations, (all) => all.includes(2));
    await controlPlane().restartApiServer();
    const after = await expectWhole(data, tenant);
    const isChanged = (name: string) => changed[name] !== undefined;
    for (const { metadata } of after.deployments)
      expect(metadata.generation, metadata.name).toBe(isChanged(metadata.name) ? 2 : 1);
    await expectMadeOnce(tenant);
  });

  it("etcd that is away for 20 seconds delays what is asked meanwhile, and what was written before stays as it is", async () => {
    const data = await start();
    const tenant = await tenantOf(controlPlane(), many(FUNCTIONS, "one", "e"));
    await eventually(
      "some are there",
      () => madeCount(tenant),
      (count) => count > 0,
    );
    await controlPlane().stopEtcd();
    const commit = tenant.commit({ e0: { text: "two" }, e1: null, e2: { text: "one 2", memoryMB: 256 } });
    await Promise.all([commit, setTimeout(OUTAGE_MS)]); // the outage is the test's input
    await controlPlane().startEtcd();
    await tenant.hint();
    const standing = await expectWhole(data, tenant);
    const before = lives(standing.deployments);
    await tenant.push({ e3: { text: "three" } });
    const after = lives((await expectWhole(data, tenant)).deployments);
    expect(Object.keys(after).filter((name) => after[name] !== before[name])).toEqual(["e3"]);
    await expectMadeOnce(tenant);
  });
});
