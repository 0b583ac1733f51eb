import { expect, it } from "vitest";
import type { WorkloadSpec } from "../../../src/platform/index.ts";
import { servedBy, specOf, untilCurrent, untilState } from "../../contract/platform.ts";
import { eventually } from "../../support/eventually.ts";
import { describeOnCluster } from "../../support/kubernetes/index.ts";
import { childPath, type PlatformWorld, platformOnCluster } from "./platform-on-cluster.ts";

const image = (words = "fine") => `registry.local/${words}@sha256:${"a".repeat(64)}`;
const helloIn = ({ namespace }: PlatformWorld, more: Partial<WorkloadSpec> = {}): WorkloadSpec =>
  specOf(image(), { workload: { kind: "Function", namespace, name: "hello" }, sourceDigest: "one", ...more });

interface Block {
  /** Sets up what stands in the way of the next version. */
  readonly raise?: (world: PlatformWorld) => Promise<void>;
  readonly next: (spec: WorkloadSpec) => WorkloadSpec;
  readonly reason: string;
  readonly message: RegExp;
}

const otherMemory = (spec: WorkloadSpec) => ({ ...spec, memoryMB: 512 });

const BLOCKS: Record<string, Block> = {
  "a limit of the namespace that refuses its pods": {
    raise: async (world) => {
      const limits = [{ type: "Container", max: { memory: "256Mi" } }];
      await made(world, childPath(world.deployNamespace, "limitranges"), {
        metadata: { name: "small" },
        spec: { limits },
      });
      await untilRefused(world, "pods");
    },
    next: otherMemory,
    reason: "PodRefused",
    message: /maximum memory usage per Container is 256Mi.*tried again by itself/s,
  },
  "a quota of the namespace": {
    raise: async (world) => {
      const hard = { "limits.memory": "300Mi" };
      await made(world, childPath(world.deployNamespace, "resourcequotas"), {
        metadata: { name: "tenant" },
        spec: { hard },
      });
      const known = async () => (await world.get("resourcequotas", "tenant")).status?.hard?.["limits.memory"];
      await eventually("the quota holds", known, (memory) => memory === "300Mi");
    },
    next: otherMemory,
    reason: "QuotaExceeded",
    message: /exceeded quota: tenant.*have the quota raised/s,
  },
  "a webhook for pods that does not answer": {
    raise: (world) => silentWebhook(world, "", "pods"),
    next: otherMemory,
    reason: "PodRefused",
    message: /failed calling webhook.*tried again by itself/s,
  },
  "a webhook for Deployments that does not answer": {
    raise: (world) => silentWebhook(world, "apps", "deployments"),
    next: otherMemory,
    reason: "Refused",
    message: /failed calling webhook.*tried again by itself/s,
  },
  "no node with so much memory": {
    next: (spec) => ({ ...spec, memoryMB: 100 * 1024 * 1024 }),
    reason: "Unschedulable",
    message: /No node takes its pod: .*Insufficient memory.*Add a node/s,
  },
  "an image that cannot be pulled": {
    next: (spec) => ({ ...spec, imageRef: image("missing") }),
    reason: "ImagePullBackOff",
    message: /cannot be pulled/,
  },
  "a Secret that is not there": {
    next: (spec) => ({ ...spec, secretEnv: { TOKEN: { secret: "api", key: "token" } } }),
    reason: "SecretMissing",
    message: /api.*token/s,
  },
};

describeOnCluster("what stands in the way of a version", (cluster) => {
  it.each(Object.entries(BLOCKS))("%s is told with what to do, and the one before goes on", async (_, block) => {
    const world = await platformOnCluster(cluster());
    const spec = helloIn(world);
    await world.platform.apply(spec, 1);
    await untilCurrent(world.platform, spec.workload);
    await block.raise?.(world);
    const blocked = block.next(spec);
    await world.platform.apply(blocked, 1);
    const told = await untilState(world.platform, spec.workload, (state) => state?.failure !== undefined);
    expect(told).toMatchObject({ serving: 1, ...servedBy(spec), current: false, failure: { reason: block.reason } });
    expect(told?.failure?.message).toMatch(block.message);
  });

  it("a namespace that is being deleted is told with what holds it, and its end brings everything back", async () => {
    const world = await platformOnCluster(cluster());
    const spec = helloIn(world);
    await world.keep(spec, 1);
    await untilCurrent(world.platform, spec.workload);
    await hold(world, ["example.com/hold"]);
    await made(world, `/api/v1/namespaces/${world.deployNamespace}`, undefined, "DELETE");
    const told = await untilState(world.platform, spec.workload, (now) =>
      /example\.com\/hold/.test(now?.failure?.message ?? ""),
    );
    expect(told).toMatchObject({ current: false, failure: { reason: "NamespaceTerminating" } });
    expect(told?.failure?.message).toContain(`Namespace ${world.deployNamespace}, where it runs, is being deleted`);
    const before = world.requests();
    await world.platform.apply(spec, 1);
    expect(world.requests()).toBe(before);
    await hold(world, []);
    expect(await untilCurrent(world.platform, spec.workload)).toMatchObject({ serving: 1, current: true });
  });

  it("a child that somebody keeps from going is told with what holds it, and made anew once it is gone", async () => {
    const world = await platformOnCluster(cluster());
    const spec = helloIn(world);
    await world.keep(spec, 1);
    await untilCurrent(world.platform, spec.workload);
    await world.edit("services", "hello", { metadata: { finalizers: ["example.com/hold"] } });
    const held = async () => (await world.get("services", "hello")).metadata.finalizers;
    await world.drop("services", "hello");
    const told = await untilState(world.platform, spec.workload, (now) => now?.failure !== undefined);
    expect(told).toMatchObject({ current: false, failure: { reason: "ChildTerminating" } });
    expect(told?.failure?.message).toContain(
      "Its Service hello is being deleted, and is held by finalizers: example.com/hold.",
    );
    expect(await held()).toEqual(["example.com/hold"]);
    await world.edit("services", "hello", { metadata: { finalizers: [] } });
    expect(await untilCurrent(world.platform, spec.workload)).toMatchObject({ serving: 1 });
    expect(await held()).toBeUndefined();
  });

  it("a run waits for a namespace that is being deleted, and is made once that is gone", async () => {
    const world = await platformOnCluster(cluster());
    await world.platform.apply(helloIn(world), 0);
    await hold(world, ["example.com/hold"]);
    await made(world, `/api/v1/namespaces/${world.deployNamespace}`, undefined, "DELETE");
    const workload = { kind: "FunctionJob" as const, namespace: world.namespace, name: "report" };
    const run = () =>
      world.platform
        .runJob({ spec: helloIn(world, { workload }), runID: 1, eventJSON: undefined })
        .catch((error) => error);
    const told = Promise.withResolvers<void>();
    await eventually("the run waits", run, ({ code }) => code === "namespace_terminating");
    world.platform.onChange(({ kind }) => void (kind === "FunctionJob" && told.resolve()));
    await hold(world, []);
    await told.promise;
    await eventually("it was run", run, ({ phase }) => phase === "succeeded");
  });
});

/** Something in the deploy namespace that goes only when somebody lets it go. */
async function hold(world: PlatformWorld, finalizers: string[]): Promise<void> {
  const path = childPath(world.deployNamespace, "configmaps");
  if (finalizers.length > 0) await made(world, path, { metadata: { name: "held", finalizers } });
  else await world.edit("configmaps", "held", { metadata: { finalizers } });
}

async function made({ cluster }: PlatformWorld, path: string, body: unknown, method: "POST" | "DELETE" = "POST") {
  const answer = await cluster.request(method, path, { body });
  if (answer.status >= 400) throw new Error(JSON.stringify(answer.body));
}

/** The API server goes by what was just made a moment later. */
async function untilRefused(world: PlatformWorld, resource: "pods" | "deployments"): Promise<void> {
  const { spec } = await world.get("deployments", "hello");
  const [container] = spec.template.spec.containers;
  const resources = { ...container.resources, limits: { ...container.resources.limits, memory: "512Mi" } };
  const pod = { ...spec.template.spec, containers: [{ ...container, resources }] };
  const body =
    resource === "pods"
      ? { metadata: { generateName: "try-" }, spec: pod }
      : { metadata: { generateName: "try-" }, spec };
  const path = `${childPath(world.deployNamespace, resource)}?dryRun=All`;
  const status = async () => (await world.cluster.request("POST", path, { body })).status;
  await eventually("it is refused", status, (answer) => answer >= 400);
}

/** Of this world's deploy namespace alone. */
async function silentWebhook(world: PlatformWorld, apiGroup: string, resource: "pods" | "deployments"): Promise<void> {
  const { deployNamespace: name } = world;
  await made(world, "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", {
    metadata: { name },
    webhooks: [
      {
        name: "silent.example.com",
        // Nothing listens on the port of discard.
        clientConfig: { url: "https://127.0.0.1:9/" },
        rules: [
          { apiGroups: [apiGroup], resources: [resource], apiVersions: ["v1"], operations: ["CREATE", "UPDATE"] },
        ],
        namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": name } },
        failurePolicy: "Fail",
        sideEffects: "None",
        admissionReviewVersions: ["v1"],
      },
    ],
  });
  await untilRefused(world, resource);
}
