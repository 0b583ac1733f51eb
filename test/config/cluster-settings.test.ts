import { describe, expect, it } from "vitest";
import { type ClusterSettings, readClusterSettings } from "../../src/config/index.ts";
import { isSlessError } from "../../src/errors/index.ts";

const IN_POD = { KUBERNETES_SERVICE_HOST: "10.96.0.1" };

describe("the settings of a process on a cluster", () => {
  it("need nothing but a cluster", () => {
    expect(readClusterSettings(IN_POD)).toMatchObject({
      port: 9090,
      internalPort: 9091,
      kubeconfig: "in-cluster",
      api: { perSecond: 500, burst: 1_000 },
      pod: { namespace: "sless", name: "sless" },
      externalUrl: undefined,
      ingress: undefined,
      authMode: "kubernetes",
      gateway: { url: undefined, callers: [], trustForwarded: false },
      controller: { port: 9092, callers: [], tokenFile: "/var/run/secrets/sless.kube5s.ru/controller/token" },
      tenant: { quota: undefined, limits: undefined, objects: undefined, egressDenied: [], egressAllowed: [] },
      log: { level: "info", format: "json" },
    });
  });

  it.each<[string, Record<string, string>, Partial<ClusterSettings>]>([
    ["a kubeconfig stands above the pod", { KUBECONFIG: "/k" }, { kubeconfig: { file: "/k" } }],
    [
      "an address loses its final slash",
      { EXTERNAL_URL: "https://fn.example.org/" },
      { externalUrl: "https://fn.example.org" },
    ],
    [
      "a host for Ingresses",
      { INGRESS_HOST: "fn.example.org", INGRESS_CLASS: "nginx" },
      { ingress: { host: "fn.example.org", className: "nginx", tlsSecret: undefined } },
    ],
    [
      "where controllers answer the api",
      { CONTROLLER_PORT: "7", CONTROLLER_TOKEN_FILE: "/t", CONTROLLER_CALLERS: "a:b, c" },
      { controller: { port: 7, tokenFile: "/t", callers: ["a:b", "c"] } },
    ],
    ["an empty variable counts as unset", { INGRESS_HOST: "", PORT: "" }, { ingress: undefined, port: 9090 }],
  ])("%s", (_, env, expected) => {
    expect(readClusterSettings({ ...IN_POD, ...env })).toMatchObject(expected);
  });

  it("take quota and limits as JSON, amounts as text", () => {
    const env = {
      ...IN_POD,
      TENANT_QUOTA: '{"pods":50,"limits.memory":"8Gi"}',
      TENANT_LIMITS: '[{"type":"Container"}]',
      TENANT_OBJECTS: '{"count/secrets":20}',
    };
    const { tenant } = readClusterSettings(env);
    expect(tenant.quota).toEqual({ pods: "50", "limits.memory": "8Gi" });
    expect(tenant.objects).toEqual({ "count/secrets": "20" });
    expect(tenant.limits).toEqual([{ type: "Container" }]);
  });

  it("cannot be changed afterwards", () => {
    const settings = readClusterSettings(IN_POD);
    expect(Object.isFrozen(settings) && Object.isFrozen(settings.controller) && Object.isFrozen(settings.tenant)).toBe(
      true,
    );
  });
});

it("builds are what BUILDER_IMAGE and SLESS_IMAGE name, within the limits that are set", () => {
  const env = { ...IN_POD, BUILDER_IMAGE: "kaniko@sha256:1", SLESS_IMAGE: "sless:1", BUILD_MEMORY: "4096" };
  expect(readClusterSettings(env).builds).toMatchObject({
    builderImage: "kaniko@sha256:1",
    slessImage: "sless:1",
    namespace: "sless-builds",
    limits: { memoryMB: 4096 },
  });
  expect(readClusterSettings(IN_POD).builds).toBeUndefined();
});

it.each([
  [{ BUILDER_IMAGE: "kaniko" }, /SLESS_IMAGE is not/],
  [{ S3_ENDPOINT: "https://s3.example.org" }, /name the bucket/],
  [{ S3_BUCKET: "b", S3_ACCESS_KEY: "a" }, /go together/],
  [{ CLUSTER_DNS: '[{"ports":[{"port":53}]}]' }, /CLUSTER_DNS is no JSON list of rules with "to" and "ports"/],
  [{ CLUSTER_DNS: '[{"to":[],"ports":[{"port":53}]}]' }, /CLUSTER_DNS/],
  [{ CLUSTER_DNS: "169.254.20.10" }, /CLUSTER_DNS/],
])("settings that lack their other half are refused: %j", (env, message) => {
  expect(() => readClusterSettings({ ...IN_POD, ...env })).toThrow(message);
});

it("every fault of the settings of a cluster is told at once, with its variable", () => {
  const env = {
    PORT: "http",
    KUBE_API_QPS: "0",
    INGRESS_HOST: "https://fn.example.org",
    AUTH_MODE: "none",
    TENANT_QUOTA: "[1]",
    TENANT_LIMITS: "{",
    TENANT_OBJECTS: '{"pods":{}}',
    TENANT_EGRESS_DENIED: "10.0.0.0/99",
  };
  try {
    readClusterSettings(env);
    expect.unreachable("they were taken");
  } catch (error) {
    expect(isSlessError(error, "settings_invalid")).toBe(true);
    for (const variable of [...Object.keys(env), "KUBECONFIG"]) expect(String(error)).toContain(variable);
  }
});

it("no setting opens the API of a cluster to everybody", () => {
  for (const mode of ["none", "open", "disabled", "local"])
    expect(() => readClusterSettings({ ...IN_POD, AUTH_MODE: mode })).toThrow(/AUTH_MODE/);
});
