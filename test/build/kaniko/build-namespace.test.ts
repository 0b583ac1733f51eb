import { expect, it } from "vitest";
import { dockerConfigIn, onlyHost } from "../../../src/build/kaniko/docker-secrets.ts";
import { buildPoliciesOf, KANIKO_DEFAULTS, type KanikoSettings } from "../../../src/build/kaniko/index.ts";
import { BESIDE_API_PORTS } from "../../support/beside-api-ports.ts";

const SETTINGS: KanikoSettings = {
  ...KANIKO_DEFAULTS,
  builderImage: "kaniko",
  slessImage: "sless",
  registry: { host: "registry.example.org" },
};

interface Policy {
  readonly spec: {
    readonly podSelector: object;
    readonly policyTypes: readonly string[];
    readonly ingress?: readonly object[];
    readonly egress: readonly {
      readonly to: readonly { readonly ipBlock?: { cidr: string; except?: string[] } }[];
      readonly ports?: readonly object[];
    }[];
  };
}

const API_SERVER = [
  { address: "10.96.0.1", ports: [] },
  { address: "203.0.113.7", ports: [6443] },
];

function policyOf(settings: Partial<KanikoSettings> = {}) {
  return buildPoliciesOf({ ...SETTINGS, ...settings }, API_SERVER)[0]!.object as unknown as Policy;
}

const blocksOf = ({ spec }: Policy) => spec.egress.flatMap(({ to }) => to.flatMap(({ ipBlock }) => ipBlock ?? []));

it("nothing comes in, and all pods of the namespace are meant", () => {
  const { spec } = policyOf();
  expect(spec).toMatchObject({ podSelector: {}, policyTypes: ["Ingress", "Egress"] });
  expect(spec.ingress).toBeUndefined();
});

it("private networks, metadata and the API server are not reached", () => {
  const [internet] = blocksOf(policyOf());
  expect(internet).toMatchObject({ cidr: "0.0.0.0/0" });
  expect(internet?.except).toEqual(
    expect.arrayContaining(["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "203.0.113.7/32"]),
  );
});

it("a registry and a mirror that are named by their addresses are reached by themselves", () => {
  const registry = { host: "10.1.2.3:5000", mirror: "[fd00::5]:5000" };
  const cidrs = blocksOf(policyOf({ registry })).map(({ cidr }) => cidr);
  expect(cidrs).toEqual(expect.arrayContaining(["10.1.2.3/32", "fd00::5/128"]));
});

it("of a registry on a node that serves the API all is reached but the API and the cluster's parts", () => {
  const { spec } = policyOf({ registry: { host: "203.0.113.7:5000" } });
  const at = spec.egress.filter(({ to }) => to.some(({ ipBlock }) => ipBlock?.cidr === "203.0.113.7/32"));
  expect(at.map(({ ports }) => ports)).toEqual([BESIDE_API_PORTS]);
});

it("no setting lets a build reach the API server or metadata", () => {
  const egressAllowed = ["10.96.0.1/32", "169.254.169.254/32", "10.96.0.0/16"];
  const blocks = blocksOf(policyOf({ egressAllowed }));
  expect(blocks.map(({ cidr }) => cidr)).not.toContain("169.254.169.254/32");
  expect(blocks.find(({ cidr }) => cidr === "10.96.0.0/16")?.except).toEqual(["10.96.0.1/32"]);
});

it("namespaces of a registry or a store inside the cluster are reached", () => {
  const { spec } = policyOf({ egressNamespaces: ["storage"] });
  const namespaceSelector = { matchLabels: { "kubernetes.io/metadata.name": "storage" } };
  expect(spec.egress.at(-1)?.to).toContainEqual({ namespaceSelector });
});

it("DNS is asked where the installation says that it is, and nowhere else", () => {
  const to = [{ ipBlock: { cidr: "169.254.20.10/32" } }];
  const dns = [{ to, ports: [{ port: 53, protocol: "UDP" }] }];
  const [first, internet] = policyOf({ dns }).spec.egress;
  expect(first).toEqual(dns[0]);
  expect(internet?.to[0]?.ipBlock?.cidr).toBe("0.0.0.0/0");
  expect(JSON.stringify(policyOf({ dns }))).not.toContain("kube-dns");
  expect(JSON.stringify(policyOf())).toContain("kube-dns");
});

it("there is a quota where an installation sets one", () => {
  expect(buildPoliciesOf(SETTINGS, []).map(({ object }) => object.kind)).toEqual(["NetworkPolicy"]);
  const [, quota] = buildPoliciesOf({ ...SETTINGS, quota: { pods: "10" } }, []);
  expect(quota?.object).toMatchObject({ kind: "ResourceQuota", spec: { hard: { pods: "10" } } });
});

const CONFIG = JSON.stringify({
  auths: {
    "https://registry.example.org": { auth: Buffer.from("sless:p:w").toString("base64") },
    "other.example.org": { username: "other", password: "secret" },
    "https://index.docker.io/v1/": { username: "hub", password: "hub", identitytoken: "token" },
  },
});

it("of a docker config only what it says of one registry is copied", () => {
  const copy = onlyHost(CONFIG, "registry.example.org")!;
  expect(JSON.parse(copy)).toEqual({
    auths: { "registry.example.org": { auth: Buffer.from("sless:p:w").toString("base64") } },
  });
  expect(JSON.parse(onlyHost(CONFIG, "docker.io")!)).toEqual({
    auths: {
      "https://index.docker.io/v1/": { auth: Buffer.from("hub:hub").toString("base64"), identitytoken: "token" },
    },
  });
});

it.each([
  ["says nothing of the registry", '{"auths":{}}'],
  ["is no JSON", "password"],
  ["is JSON of something else", "[]"],
])("a docker config that %s is not copied", (_name, config) => {
  expect(onlyHost(config, "registry.example.org")).toBeUndefined();
});

it("a Secret of another type holds no docker config", () => {
  expect(dockerConfigIn({ metadata: { name: "x" }, data: { token: "c2VjcmV0" } })).toBeUndefined();
});
