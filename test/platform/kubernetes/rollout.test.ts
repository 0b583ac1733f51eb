import { expect, it, onTestFinished } from "vitest";
import type { WorkloadSpec } from "../../../src/platform/index.ts";
import { servedBy, specOf, untilCurrent, untilState } from "../../contract/platform.ts";
import { eventually } from "../../support/eventually.ts";
import { describeOnCluster } from "../../support/kubernetes/index.ts";
import { childPath, type PlatformWorld, platformOnCluster, withSecret } from "./platform-on-cluster.ts";

const image = (words = "") => `registry.local/${words || "fine"}@sha256:${"a".repeat(64)}`;
const helloIn = ({ namespace }: PlatformWorld, more: Partial<WorkloadSpec> = {}): WorkloadSpec =>
  specOf(image(), { workload: { kind: "Function", namespace, name: "hello" }, sourceDigest: "one", ...more });

describeOnCluster("rollouts", (cluster) => {
  it("costs one request for a new function without replicas, one for a change, and none for none", async () => {
    const world = await platformOnCluster(cluster());
    const first = { ...helloIn(world), workload: { ...helloIn(world).workload, name: "first" } };
    await world.platform.apply(first, 0);
    const count = async (spec: WorkloadSpec, replicas: number) => {
      const before = world.requests();
      const state = await world.platform.apply(spec, replicas);
      return { requests: world.requests() - before, serving: state.serving };
    };
    const spec = helloIn(world);
    expect(await count(spec, 0)).toEqual({ requests: 1, serving: 0 });
    expect(await count(spec, 0)).toEqual({ requests: 0, serving: 0 });
    expect(await count({ ...spec, memoryMB: 256 }, 0)).toEqual({ requests: 1, serving: 0 });
    expect(await world.get("services", "hello")).toBeUndefined();
    expect(await count({ ...spec, memoryMB: 256 }, 1)).toEqual({ requests: 2, serving: 0 });
    await untilCurrent(world.platform, spec.workload);
    const restarted = await world.restart();
    const before = restarted.requests();
    await restarted.platform.apply({ ...spec, memoryMB: 256 }, 1);
    expect(restarted.requests()).toBe(before);
  });

  it.each<[string, Partial<WorkloadSpec>]>([
    ["an image", { imageRef: image("other") }],
    ["memory", { memoryMB: 256 }],
    ["an entry point", { entrypoint: "other.run" }],
    ["a time limit", { timeoutSec: 9 }],
    ["a variable", { env: { A: "2" } }],
  ])("a change of %s reaches the pods, once, and what serves goes on", async (_, change) => {
    const world = await platformOnCluster(cluster());
    const spec = helloIn(world, { env: { A: "1" } });
    await world.platform.apply(spec, 2);
    await untilCurrent(world.platform, spec.workload);
    const fewest = watchServing(world, spec);
    const next = { ...spec, ...change };
    await world.platform.apply(next, 2);
    expect(await untilCurrent(world.platform, spec.workload)).toMatchObject({ serving: 2, ...servedBy(next) });
    expect(fewest()).toBeGreaterThanOrEqual(2);
    expect(await world.list("replicasets")).toHaveLength(2);
  });

  it("another source with an equal image rolls nothing, and is told", async () => {
    const world = await platformOnCluster(cluster());
    const spec = helloIn(world);
    await world.platform.apply(spec, 1);
    await untilCurrent(world.platform, spec.workload);
    await world.platform.apply({ ...spec, sourceDigest: "two" }, 1);
    expect(await untilCurrent(world.platform, spec.workload)).toMatchObject({ servingSourceDigest: "two" });
    expect(await world.list("replicasets")).toHaveLength(1);
  });

  it.each([
    ["missing", "ImagePullBackOff", /cannot be pulled/],
    ["crashing", "CrashLoopBackOff", /crashes again and again \(exit code 1\)/],
  ])(
    "a new revision that is %s says why, the old one goes on, and the way back is free",
    async (words, reason, message) => {
      const world = await platformOnCluster(cluster());
      const old = helloIn(world);
      await world.platform.apply(old, 2);
      await untilCurrent(world.platform, old.workload);
      const fewest = watchServing(world, old);
      await world.platform.apply({ ...old, imageRef: image(words), sourceDigest: "two" }, 2);
      const state = await untilState(world.platform, old.workload, (now) => now?.failure !== undefined);
      expect(state).toMatchObject({ serving: 2, ...servedBy(old), current: false });
      expect(state?.failure).toEqual({ reason, message: expect.stringMatching(message) });
      await world.platform.apply(old, 2);
      expect(await untilCurrent(world.platform, old.workload)).toEqual({ ...servedBy(old), serving: 2, current: true });
      expect(fewest()).toBe(2);
    },
  );

  it("a revision that never becomes ready is not current, and no failure before its time", async () => {
    const world = await platformOnCluster(cluster());
    const spec = helloIn(world, { imageRef: image("unready") });
    await world.platform.apply(spec, 1);
    await eventually(
      "its pod is there",
      () => world.list("pods"),
      (pods) => pods[0]?.status.phase === "Running",
    );
    expect(await world.platform.state(spec.workload)).toEqual({ serving: 0, current: false });
  });

  it("pods that no node takes are told", async () => {
    const world = await platformOnCluster(cluster());
    const spec = helloIn(world, { memoryMB: 100 * 1024 * 1024 });
    await world.platform.apply(spec, 1);
    const state = await untilState(world.platform, spec.workload, (now) => now?.failure !== undefined);
    expect(state?.failure).toEqual({
      reason: "Unschedulable",
      message: expect.stringContaining("No node takes its pod"),
    });
  });

  it("a quota that leaves no room is told, the rest goes on, and room mends it", async () => {
    const world = await platformOnCluster(cluster());
    const spec = helloIn(world);
    await world.platform.apply(spec, 1);
    await untilCurrent(world.platform, spec.workload);
    const path = childPath(world.deployNamespace, "resourcequotas");
    await cluster().request("POST", path, { body: { metadata: { name: "tenant" }, spec: { hard: { pods: "1" } } } });
    const hard = async () => (await world.get("resourcequotas", "tenant")).status?.hard?.pods;
    await eventually("the quota holds", hard, (pods) => pods === "1");
    await world.platform.apply(spec, 2);
    const state = await untilState(world.platform, spec.workload, (now) => now?.failure !== undefined);
    expect(state).toMatchObject({ serving: 1, current: false, failure: { reason: "QuotaExceeded" } });
    expect(state?.failure?.message).toContain("exceeded quota: tenant");
    await world.edit("resourcequotas", "tenant", { spec: { hard: { pods: "5" } } });
    // Kubernetes itself waits longer from try to try.
    await eventually(
      "it serves",
      () => world.platform.state(spec.workload),
      (now) => now?.serving === 2,
    );
  });

  it("a rule of the cluster that refuses a child is told, and mended without a new spec", async () => {
    const world = await platformOnCluster(cluster());
    const spec = helloIn(world);
    await world.platform.apply(spec, 0);
    await refuseDeployments(world, "no functions on Fridays");
    await eventually(
      "it is refused",
      () => world.platform.apply({ ...spec, memoryMB: world.requests() + 1_000 }, 0),
      (state) => state.failure !== undefined,
    );
    const refused = await world.keep({ ...spec, memoryMB: 64 }, 1);
    expect(refused).toMatchObject({ current: false, failure: { reason: "Refused" } });
    expect(refused?.failure?.message).toContain("no functions on Fridays");
    await allowDeployments(world);
    expect(await untilState(world.platform, spec.workload, (now) => now?.current === true)).toMatchObject({
      serving: 1,
    });
  });

  it("what is removed and made again at once serves, also as another kind", async () => {
    const world = await platformOnCluster(cluster());
    const spec = helloIn(world);
    const service: WorkloadSpec = { ...spec, workload: { ...spec.workload, kind: "Service" } };
    await world.platform.apply(spec, 1);
    await untilCurrent(world.platform, spec.workload);
    await world.platform.remove(spec.workload);
    await world.platform.apply(spec, 1);
    expect(await untilCurrent(world.platform, spec.workload)).toMatchObject({ serving: 1 });
    await Promise.all([world.platform.apply(service, 1), world.platform.remove(spec.workload)]);
    expect(await untilCurrent(world.platform, service.workload)).toMatchObject({ serving: 1 });
    expect(await world.platform.state(spec.workload)).toBeUndefined();
    expect(await world.platform.list()).toContainEqual(service.workload);
  });

  it("nothing of what is removed is left", async () => {
    const world = await platformOnCluster(cluster());
    const spec = await withSecret(world, helloIn(world));
    await untilCurrent(world.platform, spec.workload);
    await world.platform.remove(spec.workload);
    const left = async () => {
      const kinds = ["deployments", "services", "secrets", "replicasets", "pods"];
      return (await Promise.all(kinds.map((kind) => world.list(kind, "sless.kube5s.ru/name=hello")))).flat();
    };
    await eventually("nothing is left", left, (objects) => objects.length === 0);
  });
});

/** The fewest replicas that served at any moment. */
function watchServing({ platform }: PlatformWorld, { workload }: WorkloadSpec): () => number {
  let fewest = Number.POSITIVE_INFINITY;
  const stop = platform.onChange(async (changed) => {
    if (changed.namespace === workload.namespace)
      fewest = Math.min(fewest, (await platform.state(workload))?.serving ?? 0);
  });
  onTestFinished(stop);
  return () => fewest;
}

const POLICIES = "/apis/admissionregistration.k8s.io/v1";

/** Of this world's deploy namespace alone. */
async function refuseDeployments({ cluster, deployNamespace: name }: PlatformWorld, message: string): Promise<void> {
  await cluster.request("POST", `${POLICIES}/validatingadmissionpolicies`, {
    body: {
      metadata: { name },
      spec: {
        matchConstraints: {
          namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": name } },
          resourceRules: [
            { apiGroups: ["apps"], apiVersions: ["v1"], operations: ["CREATE", "UPDATE"], resources: ["deployments"] },
          ],
        },
        validations: [{ expression: "false", message }],
      },
    },
  });
  await cluster.request("POST", `${POLICIES}/validatingadmissionpolicybindings`, {
    body: { metadata: { name }, spec: { policyName: name, validationActions: ["Deny"] } },
  });
}

async function allowDeployments({ cluster, deployNamespace: name }: PlatformWorld): Promise<void> {
  await cluster.request("DELETE", `${POLICIES}/validatingadmissionpolicybindings/${name}`);
  await cluster.request("DELETE", `${POLICIES}/validatingadmissionpolicies/${name}`);
}
