// Renders with "helm".
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { manifestFiles } from "../../scripts/manifest-files.ts";
import { readClusterSettings } from "../../src/config/index.ts";
import type { ApiObject } from "../../src/kubernetes/index.ts";
import { CHART, helm, renderChart } from "../support/helm.ts";
import { describeWithServers } from "../support/kubernetes/index.ts";
import { SHARED_CLAIM, VALUE_SETS } from "./value-sets.ts";

interface SchemaNode {
  description?: string;
  type?: string;
  additionalProperties?: unknown;
  properties?: Record<string, SchemaNode>;
}

// biome-ignore lint/suspicious/noExplicitAny: tests read what they asked for
type Rendered = ApiObject & Record<string, any>;
const find = (objects: readonly ApiObject[], kind: string, name: string) =>
  objects.find((object) => object.kind === kind && object.metadata.name === name) as Rendered;
const environmentOf = (objects: readonly ApiObject[]) => ({
  ...(find(objects, "ConfigMap", "sless-settings").data as Record<string, string>),
  KUBERNETES_SERVICE_HOST: "10.96.0.1",
});

describeWithServers("the chart", () => {
  it("passes helm lint", async () => {
    expect(await helm(["lint", "--strict", CHART])).toContain("1 chart(s) linted, 0 chart(s) failed");
  });

  it("has the version of sless", async () => {
    const { version } = JSON.parse(await readFile(join(CHART, "../../package.json"), "utf8"));
    expect(parse(await readFile(join(CHART, "Chart.yaml"), "utf8"))).toMatchObject({ version, appVersion: version });
  });

  it("renders to the manifests that are committed", async () => {
    const wanted = await manifestFiles();
    const folder = join(CHART, "../manifests");
    for (const [name, text] of Object.entries(wanted))
      expect(await readFile(join(folder, name), "utf8"), `run \`npm run generate:manifests\` for ${name}`).toBe(text);
  });

  it.each(
    Object.entries({
      "a mode that is none": { mode: "cluster" },
      "a value that does not exist": { replicas: 3 },
      "a value of a role that does not exist": { gateway: { replica: 3 } },
      "replicas that are no number": { gateway: { replicas: "three" } },
      "no replicas at all": { gateway: { replicas: 0 } },
      "an address without a scheme": { externalURL: "sless.example.org" },
      "a digest that is cut off": { image: { digest: "sha256:abc" } },
      "a registry with a scheme": { registry: { host: "https://registry.example.org" } },
      "memory in a unit that is none": { api: { resources: { limits: { memory: "512MB" } } } },
      "a network that is a name": { tenants: { egress: { denied: ["example.org"] } } },
      "a network of more bits than an address has": { tenants: { egress: { denied: ["10.0.0.0/33"] } } },
      "a network of IPv6 with as many": { tenants: { egress: { allowed: ["fd00::/129"] } } },
      "a network with a number that no address has": { git: { networks: ["10.256.0.0/16"] } },
      "a way to DNS that is a way to everything": { dns: [{ ports: [{ port: 53 }] }] },
      "an amount that is none": { tenants: { quota: { "limits.memory": "40GB" } } },
      "an amount in a unit that Kubernetes writes with a large letter": {
        tenants: { quota: { "limits.memory": "40ki" } },
      },
      "an amount below nothing": { tenants: { objects: { "count/secrets": -1 } } },
      "a limit without a type": { tenants: { limits: [{ default: { cpu: "1" } }] } },
      "a log level that is none": { log: { level: "loud" } },
      "a pull secret as a mere name": { image: { pullSecrets: ["registry"] } },
    }),
  )("refuses %s", async (_name, values) => {
    await expect(renderChart(values)).rejects.toThrow("values don't meet the specifications of the schema");
  });

  it.each(
    Object.entries({
      "sources on a volume of one node with roles apart": [{ mode: "roles" }, "ReadWriteMany"],
      "sources in the pod with several replicas": [
        { all: { replicas: 2 }, objects: { persistence: { type: "emptyDir" } } },
        "a claim with accessMode ReadWriteMany",
      ],
      "a folder of the node without a name": [
        { objects: { persistence: { type: "hostPath" } } },
        "hostPath names no folder",
      ],
      "an Ingress without a host": [{ ingress: { enabled: true } }, "needs externalURL"],
      "an Ingress for an address": [
        { externalURL: "https://192.0.2.7", ingress: { enabled: true } },
        "an externalURL with a host name",
      ],
      "builds without a bucket": [{ builds: { image: "kaniko" } }, "needs objects.s3.bucket"],
      "builds beside sless": [{ builds: { namespace: "sless" } }, "builds.namespace sless is not for builds alone"],
      "builds beside the cluster's own": [{ builds: { namespace: "kube-system" } }, "is not for builds alone"],
      "builds beside functions": [{ builds: { namespace: "sless-fn-team" } }, "is not for builds alone"],
      "builds that ask for more memory than they may have": [
        { builds: { limits: { memoryRequestMB: 4096 } } },
        "memoryRequestMB is more than memoryMB",
      ],
      "builds that ask for more CPU than they may have": [
        { builds: { limits: { cpuMilli: 100 } } },
        "cpuRequestMilli is more than cpuMilli",
      ],
      "two ways to name a function": [
        { externalURL: "https://a.example.org", triggerIngress: { host: "fn.example.org" } },
        "exclude each other",
      ],
    }),
  )("refuses %s and says what to do", async (_name, [values, message]) => {
    await expect(renderChart(values as object)).rejects.toThrow(message as string);
  });

  it("refuses a release where functions run", async () => {
    await expect(renderChart({}, "sless-fn-team")).rejects.toThrow("may not begin with sless-fn-");
  });

  it("describes every value, knows no other, and has a default for each", async () => {
    const schema: SchemaNode = JSON.parse(await readFile(join(CHART, "values.schema.json"), "utf8"));
    const defaults = parse(await readFile(join(CHART, "values.yaml"), "utf8"));
    const missing: string[] = [];
    function walk(path: string, node: SchemaNode, value: unknown): void {
      if (!node.description) missing.push(`${path}: no description`);
      if (!node.properties) return;
      if (node.additionalProperties !== false) missing.push(`${path}: is open`);
      for (const [name, child] of Object.entries(node.properties)) {
        if (name === "global") continue;
        const inner = (value as Record<string, unknown>)[name];
        if (inner === undefined) missing.push(`${path}.${name}: no default`);
        else walk(`${path}.${name}`, child, inner);
      }
    }
    walk("", schema, defaults);
    expect(missing).toEqual([]);
  });

  it.each(Object.entries(VALUE_SETS))("gives processes settings that they take: %s", async (_name, values) => {
    const objects = await renderChart(values);
    expect(() => readClusterSettings(environmentOf(objects))).not.toThrow();
  });

  it("hands its values on as settings", async () => {
    const objects = await renderChart({
      externalURL: "https://sless.example.org/a",
      registry: { host: "registry.example.org/team", secret: "registry", plainHTTP: true },
      tenants: { egress: { denied: ["203.0.113.0/24"], allowed: ["10.1.0.0/16", "10.2.0.0/16"] } },
      kubeAPI: { qps: 7, burst: 8 },
      dns: [{ to: [{ ipBlock: { cidr: "169.254.20.10/32" } }], ports: [{ port: 53, protocol: "UDP" }] }],
    });
    expect(readClusterSettings(environmentOf(objects))).toMatchObject({
      dns: [{ to: [{ ipBlock: { cidr: "169.254.20.10/32" } }], ports: [{ port: 53, protocol: "UDP" }] }],
      externalUrl: "https://sless.example.org/a",
      registry: { host: "registry.example.org", prefix: "team/", secret: "registry", plainHttp: true },
      tenant: {
        quota: { pods: "100", "requests.cpu": "20" },
        limits: [{ type: "Container" }],
        objects: { "count/functions.sless.kube5s.ru": "500", "count/secrets": "500" },
        egressDenied: ["203.0.113.0/24"],
        egressAllowed: ["10.1.0.0/16", "10.2.0.0/16"],
      },
      api: { perSecond: 7, burst: 8 },
      gateway: { url: "http://sless-gateway.sless.svc:9091", callers: ["system:serviceaccount:sless:sless"] },
    });
  });

  it("keeps sources in the bucket alone where there is one, and its credentials from the gateway", async () => {
    const objects = (await renderChart(VALUE_SETS["sources in a bucket"])) as Rendered[];
    const settings = readClusterSettings({ ...environmentOf(objects), S3_ACCESS_KEY: "a", S3_SECRET_KEY: "b" });
    expect(settings.s3).toMatchObject({ bucket: "sless", endpoint: "https://s3.example.org", forcePathStyle: true });
    expect(objects.filter(({ kind }) => kind === "PersistentVolumeClaim")).toEqual([]);
    const secretsOf = (name: string) =>
      find(objects, "Deployment", name).spec.template.spec.containers[0].envFrom.flatMap((from: Rendered) =>
        from.secretRef ? [from.secretRef.name] : [],
      );
    expect(["sless-api", "sless-controller", "sless-gateway"].map(secretsOf)).toEqual([["s3"], ["s3"], []]);
  });

  it("builds by what it is told, with its own image to push", async () => {
    const { builds } = readClusterSettings({
      ...environmentOf(await renderChart(VALUE_SETS["builds in Jobs"])),
      S3_ACCESS_KEY: "a",
      S3_SECRET_KEY: "b",
    });
    expect(builds).toMatchObject({
      namespace: "sless-builds",
      concurrency: 4,
      builderFlags: ["--snapshot-mode=full", "--image-format=oci"],
      egressAllowed: ["10.0.0.0/8"],
      egressNamespaces: ["storage"],
      pullSecret: "pull",
    });
    expect(builds?.slessImage).toMatch(/^sless:/);
  });

  it("lets only its own accounts into the gateway's internal port", async () => {
    const objects = await renderChart({ mode: "roles", ...SHARED_CLAIM }, "functions");
    const accounts = objects.filter(({ kind }) => kind === "ServiceAccount").map(({ metadata }) => metadata.name);
    expect(accounts.sort()).toEqual(["sless-api", "sless-controller", "sless-gateway"]);
    expect(readClusterSettings(environmentOf(objects)).gateway.callers).toEqual([
      "system:serviceaccount:functions:sless-controller",
      "system:serviceaccount:functions:sless-api",
    ]);
  });

  it.each([
    ["roles", "sless-api", "sless-controller", { "app.kubernetes.io/component": "api" }],
    ["all", "sless", "sless", {}],
  ])("lets the api alone ask the controller that leads: mode %s", async (mode, asking, leading, from) => {
    const objects = (await renderChart({ mode, ...SHARED_CLAIM }, "functions")) as Rendered[];
    const settings = readClusterSettings(environmentOf(objects));
    expect(settings.controller.callers).toEqual([`system:serviceaccount:functions:${asking}`]);
    const podOf = (name: string) => find(objects, "Deployment", name).spec.template.spec;
    const portsOf = (name: string) => podOf(name).containers[0].ports.map(({ name: port }: Rendered) => port);
    expect(podOf(leading).containers[0].ports).toContainEqual({
      name: "leader",
      containerPort: settings.controller.port,
    });
    const audiencesOf = (name: string) =>
      podOf(name).volumes.flatMap(({ projected }: Rendered) =>
        (projected?.sources ?? []).map((source: Rendered) => source.serviceAccountToken.audience),
      );
    expect(audiencesOf(asking)).toEqual(["sless-gateway", "sless-controller"]);
    const deployments = objects.filter(({ kind }) => kind === "Deployment").map(({ metadata: { name } }) => name);
    for (const name of deployments.filter((each) => each !== asking))
      expect(audiencesOf(name)).not.toContain("sless-controller");
    for (const name of deployments.filter((each) => each !== leading)) expect(portsOf(name)).not.toContain("leader");
    const policies = objects.filter(({ kind }) => kind === "NetworkPolicy");
    const toLeader = policies.flatMap(({ spec }) =>
      spec.ingress.filter(({ ports }: Rendered) => ports.some(({ port }: Rendered) => port === "leader")),
    );
    const peers = [{ podSelector: { matchLabels: { "app.kubernetes.io/name": "sless", ...from } } }];
    expect(toLeader).toEqual([{ ports: [{ port: "leader" }], from: peers }]);
    const services = objects.filter(({ kind }) => kind === "Service");
    expect(services.flatMap(({ spec }) => spec.ports.map((port: Rendered) => port.targetPort))).not.toContain("leader");
  });

  it("keeps CRDs and sources when it is uninstalled", async () => {
    const kept = (await renderChart()).filter(
      (object) => object.metadata.annotations?.["helm.sh/resource-policy"] === "keep",
    );
    expect(kept.map(({ kind, metadata }) => `${kind} ${metadata.name}`).sort()).toEqual([
      "CustomResourceDefinition functionjobs.sless.kube5s.ru",
      "CustomResourceDefinition functions.sless.kube5s.ru",
      "CustomResourceDefinition repositories.sless.kube5s.ru",
      "CustomResourceDefinition services.sless.kube5s.ru",
      "CustomResourceDefinition triggers.sless.kube5s.ru",
      "PersistentVolumeClaim sless-objects",
    ]);
  });

  it("installs no CRD where somebody else does", async () => {
    const objects = await renderChart({ crds: { install: false } });
    expect(objects.filter(({ kind }) => kind === "CustomResourceDefinition")).toEqual([]);
  });

  it.each(["all", "roles"])("marks the pods that may reach functions as gateway: mode %s", async (mode) => {
    const objects = (await renderChart({ mode, ...SHARED_CLAIM })) as Rendered[];
    const gateways = objects.filter(
      ({ kind, spec }) =>
        kind === "Deployment" && spec.template.metadata.labels["app.kubernetes.io/component"] === "gateway",
    );
    expect(gateways.map(({ metadata }) => metadata.name)).toEqual([mode === "all" ? "sless" : "sless-gateway"]);
    expect(gateways[0]!.spec.template.metadata.labels).toMatchObject({ "app.kubernetes.io/name": "sless" });
  });

  it("starts pods anew when a setting changes, and not otherwise", async () => {
    const sum = async (values: object) =>
      find(await renderChart(values), "Deployment", "sless").spec.template.metadata.annotations["checksum/settings"];
    expect(await sum({})).toBe(await sum({ all: { nodeSelector: { a: "b" } } }));
    expect(await sum({})).not.toBe(await sum({ log: { level: "debug" } }));
  });

  it("pulls by digest where one is given", async () => {
    const digest = `sha256:${"a".repeat(64)}`;
    const objects = await renderChart({ image: { repository: "registry.example.org/sless", tag: "1.2.3", digest } });
    expect(find(objects, "Deployment", "sless").spec.template.spec.containers[0].image).toBe(
      `registry.example.org/sless@${digest}`,
    );
  });

  it("routes the path of the external address and nothing beside it", async () => {
    const objects = await renderChart({
      externalURL: "https://example.org/sless/",
      ingress: { enabled: true, className: "nginx", tlsSecret: "tls" },
    });
    const [rule] = find(objects, "Ingress", "sless").spec.rules;
    expect(rule.host).toBe("example.org");
    expect(rule.http.paths.map((path: Rendered) => [path.path, path.backend.service.name])).toEqual([
      ["/sless/fn", "sless-gateway"],
      ["/sless/", "sless-api"],
    ]);
  });
});
