import { expect, it } from "vitest";
import type { WorkloadSpec } from "../../../src/platform/index.ts";
import { specOf, untilCurrent } from "../../contract/platform.ts";
import { eventually } from "../../support/eventually.ts";
import { describeOnCluster } from "../../support/kubernetes/index.ts";
import { type PlatformWorld, platformOnCluster, withSecret } from "./platform-on-cluster.ts";

const IMAGE = `registry.local/image@sha256:${"a".repeat(64)}`;

const helloIn = ({ namespace }: PlatformWorld, more: Partial<WorkloadSpec> = {}): WorkloadSpec =>
  specOf(IMAGE, { workload: { kind: "Function", namespace, name: "hello" }, env: { A: "1" }, ...more });
const inContainer = (patch: object) => ({
  spec: { template: { spec: { containers: [{ name: "function", ...patch }] } } },
});
const add = (path: string, value: unknown) => [{ op: "add", path, value }];
const POD = "/spec/template/spec";

describeOnCluster("children that somebody touches", (cluster) => {
  it.each<[string, object]>([
    ["the number of replicas", { spec: { replicas: 4 } }],
    ["the image", inContainer({ image: "registry.local/other@sha256:1" })],
    ["a variable", add(`${POD}/containers/0/env/0`, { name: "B", value: "2" })],
    ["the memory", add(`${POD}/containers/0/resources/limits/memory`, "1Gi")],
    [
      "a container more",
      add(`${POD}/containers/-`, {
        name: "more",
        image: "x",
        securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
      }),
    ],
    ["the host's network", { spec: { template: { spec: { hostNetwork: true } } } }],
    ["a stop of rollouts", { spec: { paused: true } }],
    ["an annotation of the pods", { spec: { template: { metadata: { annotations: { "example.com/x": "1" } } } } }],
    ["a label", { metadata: { labels: { "sless.kube5s.ru/kind": "Service" } } }],
    ["the name of another", { metadata: { labels: { "sless.kube5s.ru/name": "other" } } }],
    ["the kind of a job", { metadata: { labels: { "sless.kube5s.ru/kind": "FunctionJob" } } }],
    ["the label by which children are found", { metadata: { labels: { "app.kubernetes.io/managed-by": "me" } } }],
    ["the digest of the source", { metadata: { annotations: { "sless.kube5s.ru/source-digest": "other" } } }],
  ])("a Deployment with %s edited is put right at once, and stays quiet then", async (_, patch) => {
    const world = await platformOnCluster(cluster());
    const spec = helloIn(world);
    await world.keep(spec, 1);
    await untilCurrent(world.platform, spec.workload);
    const wanted = comparable(await world.get("deployments", "hello"));
    await world.edit("deployments", "hello", patch);
    const seen = () => world.get("deployments", "hello").then(comparable);
    await eventually("it is put right", seen, (now) => same(now, wanted));
    await untilCurrent(world.platform, spec.workload);
    // An answer to news of the edit may still be under way.
    const cost = async () => {
      const before = world.requests();
      await world.platform.apply(spec, 1);
      return world.requests() - before;
    };
    await eventually("it is quiet", cost, (requests) => requests === 0);
  });

  it("a Deployment labelled as of another kind is not removed with what is not there", async () => {
    const world = await platformOnCluster(cluster());
    const spec = helloIn(world);
    await world.platform.apply(spec, 1);
    await untilCurrent(world.platform, spec.workload);
    const service = { ...spec.workload, kind: "Service" } as const;
    await world.edit("deployments", "hello", { metadata: { labels: { "sless.kube5s.ru/kind": "Service" } } });
    await eventually(
      "the edit is seen",
      () => world.platform.state(service),
      (state) => state !== undefined,
    );
    await world.platform.remove(service);
    expect((await world.get("deployments", "hello"))?.metadata.deletionTimestamp).toBeUndefined();
    await world.platform.apply(spec, 1);
    expect(await world.platform.state(service)).toBeUndefined();
    await world.platform.remove(spec.workload);
    expect(await world.get("deployments", "hello")).toBeUndefined();
  });

  it("new pods that somebody asked for are left to him", async () => {
    const world = await platformOnCluster(cluster());
    const spec = helloIn(world);
    await world.keep(spec, 1);
    await untilCurrent(world.platform, spec.workload);
    const [before] = await world.list("pods");
    const annotations = { "kubectl.kubernetes.io/restartedAt": "2026-01-01T00:00:00Z" };
    await world.edit("deployments", "hello", { spec: { template: { metadata: { annotations } } } });
    await eventually(
      "the pod is another one",
      () => world.list("pods"),
      (pods) => pods.length === 1 && pods[0].metadata.name !== before.metadata.name,
    );
    await untilCurrent(world.platform, spec.workload);
    await world.platform.apply(spec, 1);
    const deployment = await world.get("deployments", "hello");
    expect(deployment.spec.template.metadata.annotations).toEqual(annotations);
  });

  it("a child that is deleted comes back at once", async () => {
    const world = await platformOnCluster(cluster());
    const spec = await withSecret(world, helloIn(world));
    await world.keep(spec, 1);
    await untilCurrent(world.platform, spec.workload);
    const [secret] = await world.list("secrets", "sless.kube5s.ru/name=hello");
    for (const [resource, name] of [
      ["services", "hello"],
      ["secrets", secret.metadata.name],
      ["deployments", "hello"],
    ]) {
      const { metadata } = await world.get(resource!, name!);
      await world.drop(resource!, name!);
      const seen = () => world.get(resource!, name!);
      const isNew = (now: typeof secret) => now !== undefined && now.metadata.uid !== metadata.uid;
      await eventually(`${resource} ${name} is back`, seen, isNew);
    }
    expect(await untilCurrent(world.platform, spec.workload)).toMatchObject({ serving: 1 });
  });

  it("a child that is going, held by a finalizer, is made anew when it is gone", async () => {
    const world = await platformOnCluster(cluster());
    const spec = helloIn(world);
    await world.keep(spec, 1);
    await untilCurrent(world.platform, spec.workload);
    const { metadata } = await world.get("deployments", "hello");
    await world.edit("deployments", "hello", { metadata: { finalizers: ["example.com/hold"] } });
    await world.drop("deployments", "hello");
    await world.platform.apply(spec, 1);
    expect((await world.get("deployments", "hello")).metadata).toMatchObject({ uid: metadata.uid });
    await world.edit("deployments", "hello", { metadata: { finalizers: null } });
    const seen = () => world.get("deployments", "hello");
    await eventually("it is made anew", seen, (now) => now && now.metadata.uid !== metadata.uid);
  });

  it("a namespace that somebody deleted is made again", async () => {
    const world = await platformOnCluster(cluster());
    const spec = helloIn(world);
    await world.platform.apply(spec, 1);
    await cluster().request("DELETE", `/api/v1/namespaces/${world.deployNamespace}`);
    const isThere = () => cluster().request("GET", `/api/v1/namespaces/${world.deployNamespace}`);
    await eventually("it is gone", isThere, ({ status }) => status === 404);
    await world.keep(spec, 1);
    expect(await untilCurrent(world.platform, spec.workload)).toMatchObject({ serving: 1 });
  });
});

// biome-ignore lint/suspicious/noExplicitAny: an object of the API server
function comparable({ spec, metadata }: any): object {
  const { "deployment.kubernetes.io/revision": _, ...annotations } = metadata.annotations;
  return { spec, labels: metadata.labels, annotations };
}

function same(a: object, b: object): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
