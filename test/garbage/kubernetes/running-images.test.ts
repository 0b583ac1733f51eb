import { expect, it } from "vitest";
import { runningImages } from "../../../src/garbage/kubernetes/index.ts";
import { API_RESOURCES, apiPath } from "../../../src/kubernetes/index.ts";
import { clusterClient } from "../../support/cluster-store.ts";
import { describeOnCluster } from "../../support/kubernetes/index.ts";

describeOnCluster("images that run on a cluster", (cluster) => {
  it("are those of what sless made, in whatever namespace, whether they run or may start again", async () => {
    const client = clusterClient(cluster());
    const namespace = await cluster().createNamespace("images");
    const pod = (image: string) => ({
      containers: [{ name: "function", image: `${namespace}/${image}` }],
      initContainers: [{ name: "first", image: `${namespace}/${image}-init` }],
    });
    const create = async (kind: "Deployment" | "Job" | "Pod", name: string, spec: object, labels: object) => {
      const resource = API_RESOURCES[kind];
      const apiVersion = { Deployment: "apps/v1", Job: "batch/v1", Pod: "v1" }[kind];
      const body = { apiVersion, kind, metadata: { name, labels }, spec };
      await client.request({ method: "POST", path: apiPath(resource, { namespace }), body });
    };
    const ours = { "app.kubernetes.io/managed-by": "sless" };
    const app = { app: "x" };
    const template = (image: string) => ({ metadata: { labels: app }, spec: pod(image) });
    await create(
      "Deployment",
      "stopped",
      { replicas: 0, selector: { matchLabels: app }, template: template("a") },
      ours,
    );
    await create("Job", "job", { suspend: true, template: { spec: { ...pod("b"), restartPolicy: "Never" } } }, ours);
    await create("Pod", "pod", pod("c"), ours);
    await create("Pod", "foreign", pod("d"), app);
    const images = (await runningImages(client)).filter((image) => image.startsWith(namespace));
    expect(images.map((image) => image.slice(namespace.length + 1)).sort()).toEqual([
      "a",
      "a-init",
      "b",
      "b-init",
      "c",
      "c-init",
    ]);
  });
});
