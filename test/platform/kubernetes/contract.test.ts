import type { WorkloadRef } from "../../../src/apis/index.ts";
import type { JobRun, Platform, WorkloadSpec } from "../../../src/platform/index.ts";
import { jobResultCases } from "../../contract/job-results.ts";
import { platformContract } from "../../contract/platform.ts";
import type { ImageBehaviour } from "../../support/fake-images.ts";
import { describeOnCluster } from "../../support/kubernetes/index.ts";
import { type PlatformWorld, platformOnCluster } from "./platform-on-cluster.ts";
import { runImage } from "./run-image.ts";

describeOnCluster("the Kubernetes platform", (cluster) => {
  let images = 0;
  const open = async () => {
    const world = await platformOnCluster(cluster());
    const behaviours = new Map<string, ImageBehaviour>();
    return {
      platform: inNamespace(withResults(world, behaviours), world.namespace),
      async makeImage(behaviour: ImageBehaviour = {}) {
        const image = `registry.local/image@sha256:${String(++images).padStart(64, "0")}`;
        behaviours.set(image, behaviour);
        return image;
      },
    };
  };
  platformContract(open, { unsupported: ["calls"] });
  jobResultCases(open);
});

/** Pods of its jobs leave what their image would: kwok runs none. */
function withResults(world: PlatformWorld, behaviours: ReadonlyMap<string, ImageBehaviour>): Platform {
  const left = new Map<string, Promise<string>>();
  async function leave(run: JobRun, behaviour: ImageBehaviour): Promise<string> {
    const { message, log } = await runImage(run, behaviour);
    const pods = `${run.spec.workload.name}-${run.runID}`;
    await world.cluster.appendPodLog(world.deployNamespace, pods, log);
    return message;
  }
  return {
    ...world.platform,
    async runJob(run) {
      const behaviour = behaviours.get(run.spec.imageRef);
      if (behaviour?.result === undefined) return world.platform.runJob(run);
      const key = `${run.spec.imageRef} ${run.runID}`;
      const result = left.get(key) ?? leave(run, behaviour);
      left.set(key, result);
      const env = { ...run.spec.env, TEST_RESULT: await result };
      return world.platform.runJob({ ...run, spec: { ...run.spec, env } });
    },
  };
}

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
