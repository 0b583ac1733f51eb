// Renders with "helm", applies with "kubectl".
import { expect, it } from "vitest";
import { SHARED_CLAIM } from "../../deploy/value-sets.ts";
import { startClusterProcess } from "../../support/cluster-process.ts";
import { renderChart } from "../../support/helm.ts";
import { asList, kubectl } from "../../support/kubectl.ts";
import { describeOnOwnControlPlane } from "../../support/kubernetes/index.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { jobFiles, many, storedTexts, tenantOf, wantedTexts } from "./fault-world.ts";

const IN_NAMESPACE = ["ServiceAccount", "Role", "RoleBinding"];
const OF_CLUSTER = ["ClusterRole", "ClusterRoleBinding"];
const GUARDS = ["ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"];

describeOnOwnControlPlane("the rights of the chart", { audit: true }, (cluster) => {
  it("are enough for a controller: it makes, changes and deletes what a repository wants, and is never refused", async () => {
    await kubectl(cluster().kubeconfig, ["create", "namespace", "sless"]);
    const objects = await renderChart({ mode: "roles", ...SHARED_CLAIM }, "sless");
    const rights = objects.filter(({ kind }) => [...IN_NAMESPACE, ...OF_CLUSTER, ...GUARDS].includes(kind!));
    await kubectl(cluster().kubeconfig, ["apply", "--server-side", "-f", "-"], asList(rights));
    const account = { serviceAccount: "sless-controller", namespace: "sless" };
    const kubeconfig = await cluster().kubeconfigFor(await cluster().tokenFor(account));
    const data = await temporaryFolder();
    const env = { A: "1" };
    const tenant = await tenantOf(
      cluster(),
      { ...many(2), with: { text: "env", env } },
      { files: jobFiles("once"), spec: { deletionGuard: { maxDeletions: 100, maxPercent: 100 } } },
    );
    const quota = JSON.stringify({ pods: "50" });
    startClusterProcess(cluster(), {
      name: "controller",
      namespace: "sless",
      data,
      kubeconfig,
      env: { TENANT_QUOTA: quota, TENANT_OBJECTS: JSON.stringify({ "count/secrets": "50" }) },
    });
    await tenant.converged();
    await tenant.push({ f0: null, f1: { text: "changed", memoryMB: 256 }, with: { text: "env", env: { A: "2" } } });
    const standing = await tenant.converged();
    expect(await storedTexts(data, standing)).toEqual(wantedTexts(tenant));
    const refused = (await cluster().auditLog()).filter(
      ({ user, status }) =>
        user === "system:serviceaccount:sless:sless-controller" && (status === 403 || status === 422),
    );
    expect(refused.map(({ verb, requestURI, status }) => `${status} ${verb} ${requestURI}`)).toEqual([]);
  });
});
