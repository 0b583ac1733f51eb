import type { WorkloadRef } from "../../../src/apis/index.ts";
import type { Platform, WorkloadSpec } from "../../../src/platform/index.ts";
import { platformContract } from "../../contract/platform.ts";
import { describeOnCluster } from "../../support/kubernetes/index.ts";
import { platformOnCluster } from "./platform-on-cluster.ts";

describeOnCluster("the Kubernetes platform", (cluster) => {
  let images = 0;
  platformContract(
    async () => {
      const { platform, namespace } = await platformOnCluster(cluster());
      return {
        platform: inNamespace(platform, namespace),
        makeImage: async () => `registry.local/image@sha256:${String(++images).padStart(64, "0")}`,
      };
    },
    { unsupported: ["calls"] },
  );
});

/** The platform with every namespace taken for the given one, and nothing of others in sight: tests share the cluster. */
function inNamespace(platform: Platform, namespace: string): Platform {
  const inside = (workload: WorkloadRef): WorkloadRef => ({ ...workload, namespace });
  const outside = (workload: WorkloadRef): WorkloadRef => ({ ...workload, namespace: "demo" });
  const specInside = (spec: WorkloadSpec): WorkloadSpec => ({ ...spec, workload: inside(spec.workload) });
  return {
    apply: (spec, replicas) => platform.apply(specInside(spec), replicas),
    remove: (workload) => platform.remove(inside(workload)),
    state: (workload) => platform.state(inside(workload)),
    list: async () => (await platform.list()).filter((workload) => workload.namespace === namespace).map(outside),
    acquire: (workload) => platform.acquire(inside(workload)),
    runJob: (run) => platform.runJob({ ...run, spec: specInside(run.spec) }),
    onChange: (listener) =>
      platform.onChange((workload) => {
        if (workload.namespace === namespace) listener(outside(workload));
      }),
    logs: (workload, options) => platform.logs(inside(workload), options),
  };
}
