import { expect, it, onTestFinished } from "vitest";
import { startClusterApp } from "../../support/cluster-app.ts";
import { eventually } from "../../support/eventually.ts";
import { folderBuilder } from "../../support/folder-builder.ts";
import { describeOnOwnControlPlane } from "../../support/kubernetes/index.ts";
import { installCrds } from "../../support/kubernetes/prepare-cluster.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { done, GROUP, jobFiles, lives, many, type Tenant, tenantOf } from "./fault-world.ts";

const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const PLURALS = ["functions", "services", "triggers", "functionjobs", "repositories"];

describeOnOwnControlPlane("sless when its kinds are removed from the cluster", { audit: true }, (controlPlane) => {
  async function start(data: string) {
    const builder = folderBuilder({ folder: `${data}/images`, buildMs: 0 });
    const sless = await startClusterApp(controlPlane(), { roles: ["controller", "gateway"], data, builder });
    onTestFinished(() => sless.close());
    return sless;
  }
  /** As `kubectl delete` does; resolves when they are gone with all of their objects. */
  async function removeKinds(plurals: readonly string[]) {
    for (const plural of plurals)
      await done(controlPlane().request("DELETE", `${DEFINITIONS}/${plural}.sless.kube5s.ru`));
    const left = async () =>
      (await done(controlPlane().request("GET", DEFINITIONS))).items
        .map(({ spec }: { spec: { names: { plural: string } } }) => spec.names.plural)
        .filter((plural: string) => plurals.includes(plural));
    await eventually("the kinds are gone", left, (names) => names.length === 0);
  }
  const pods = async ({ namespace }: Tenant): Promise<string[]> =>
    (await done(controlPlane().request("GET", `/api/v1/namespaces/sless-fn-${namespace}/pods`))).items
      .map(({ metadata }: { metadata: { name: string } }) => metadata.name)
      .filter((name: string) => !name.startsWith("once-"))
      .sort();
  /** Its pods answer nothing here, which the gateway says in words of its own. */
  const isRouted = async (url: string, { namespace }: Tenant) =>
    !(await (await fetch(`${url}/fn/${namespace}/f0`)).text()).includes("no_such_function");

  it("removed with all objects and applied again with the Repository, they find all that runs as it was", async () => {
    const data = await temporaryFolder();
    const sless = await start(data);
    const tenant = await tenantOf(controlPlane(), many(3), { files: jobFiles("once") });
    const before = await tenant.converged();
    const podsBefore = await pods(tenant);
    await eventually(
      "the gateway knows it",
      () => isRouted(sless.app.url, tenant),
      (isKnown) => isKnown,
    );

    await removeKinds(PLURALS);
    expect(await isRouted(sless.app.url, tenant), "it is called on").toBe(true);
    expect(lives((await tenant.standing()).deployments)).toEqual(lives(before.deployments));

    await installCrds(controlPlane());
    // Now no object is there, and sless knows it.
    await eventually(
      "it looked",
      () => isRouted(sless.app.url, tenant),
      (isKnown) => !isKnown,
    );
    await sless.close();
    await start(data);
    await tenant.applyRepository();
    const after = await tenant.converged();
    expect(lives(after.deployments)).toEqual(lives(before.deployments));
    expect(await pods(tenant)).toEqual(podsBefore);
    const job = await eventually(
      "the job's result is found",
      async () => done(controlPlane().request("GET", `${GROUP}/namespaces/${tenant.namespace}/functionjobs/once`)),
      ({ status }) => status?.phase === "Succeeded",
    );
    expect(job.status.lastRunID).toBe(1);
    const runs = (await controlPlane().auditLog()).filter(
      ({ verb, resource, status }) => verb === "create" && resource === "jobs" && status === 201,
    );
    expect(runs).toHaveLength(1);

    // Deletions are deletions again.
    await tenant.push({ f1: null });
    await tenant.converged();
  });

  it("a Repository that goes with its kind takes nothing with it, whatever its deletionPolicy", async () => {
    const data = await temporaryFolder();
    const sless = await start(data);
    const tenant = await tenantOf(controlPlane(), many(3), { spec: { deletionPolicy: "Delete" } });
    const before = await tenant.converged();
    await removeKinds(["repositories"]);
    await installCrds(controlPlane());
    await sless.close();
    await start(data);
    await tenant.applyRepository();
    const after = await tenant.converged();
    expect(lives(after.deployments)).toEqual(lives(before.deployments));
    expect(after.functions.map(({ metadata }) => metadata.uid)).toEqual(
      before.functions.map(({ metadata }) => metadata.uid),
    );
    await tenant.push({ f0: { text: "two" }, f1: null });
    await tenant.converged();
  });
});
