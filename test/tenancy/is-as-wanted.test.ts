import { describe, expect, it } from "vitest";
import type { ApiObject } from "../../src/kubernetes/index.ts";
import { isAsWanted } from "../../src/tenancy/is-as-wanted.ts";
import { parseQuantity } from "../../src/tenancy/parse-quantity.ts";
import { deployNamespace, policiesOf, type Wanted } from "../../src/tenancy/wanted-objects.ts";

// biome-ignore lint/suspicious/noExplicitAny: changes reach deep into objects of several kinds
type Live = any;

const settings = {
  ownNamespace: "sless",
  quota: { "requests.cpu": "2000m", "limits.memory": "4Gi" },
  limits: [{ type: "Container", default: { cpu: "0.5" } }],
};
const [policy, quota, limits] = policiesOf("demo", settings, [{ address: "10.96.0.1", ports: [] }]) as [
  Wanted,
  Wanted,
  Wanted,
];

it("functions ask DNS where the installation says that it is, and nowhere else", () => {
  const dns = [{ to: [{ ipBlock: { cidr: "169.254.20.10/32" } }], ports: [{ port: 53, protocol: "UDP" }] }];
  const egressOf = ({ object }: Wanted) => (object.spec as { egress: unknown[] }).egress;
  const [asked] = policiesOf("demo", { ...settings, dns }, []);
  expect(egressOf(asked!)[0]).toEqual(dns[0]);
  expect(JSON.stringify(egressOf(asked!))).not.toContain("kube-dns");
  expect(JSON.stringify(egressOf(policy))).toContain("kube-dns");
});

function changed({ object }: Wanted, change: (live: Live) => void): ApiObject {
  const live = structuredClone(object);
  change(live);
  return live;
}

describe("as wanted", () => {
  const same: [string, Wanted, (live: Live) => void][] = [
    ["an equal object", policy, () => {}],
    ["labels and annotations of others", policy, ({ metadata }) => Object.assign(metadata.labels, { team: "a" })],
    [
      "quantities that are written in another way",
      quota,
      ({ spec }) => Object.assign(spec.hard, { "requests.cpu": "2" }),
    ],
    [
      "limits that the API server adds",
      limits,
      ({ spec }) => Object.assign(spec.limits[0], { defaultRequest: { cpu: "500m" } }),
    ],
    [
      "a namespace with labels of the API server",
      deployNamespace("demo"),
      ({ metadata }) => Object.assign(metadata.labels, { "kubernetes.io/metadata.name": "sless-fn-demo" }),
    ],
  ];
  it.each(same)("%s", (_, wanted, change) => {
    expect(isAsWanted(wanted, changed(wanted, change))).toBe(true);
  });
});

describe("not as wanted", () => {
  const other: [string, Wanted, (live: Live) => void][] = [
    ["a policy of some pods only", policy, ({ spec }) => Object.assign(spec.podSelector, { matchLabels: { a: "b" } })],
    ["one more way in", policy, ({ spec }) => spec.ingress.push({})],
    ["one more way out", policy, ({ spec }) => spec.egress[1].to.push({ ipBlock: { cidr: "10.0.0.0/8" } })],
    ["an exception less", policy, ({ spec }) => spec.egress[1].to[0].ipBlock.except.pop()],
    ["no egress policy any more", policy, ({ spec }) => spec.policyTypes.pop()],
    ["more than the quota", quota, ({ spec }) => Object.assign(spec.hard, { "limits.memory": "8Gi" })],
    ["a resource that is not limited any more", quota, ({ spec }) => delete spec.hard["limits.memory"]],
    [
      "a pod security label less",
      deployNamespace("demo"),
      ({ metadata }) => delete metadata.labels["pod-security.kubernetes.io/enforce"],
    ],
    ["another default", limits, ({ spec }) => Object.assign(spec.limits[0].default, { cpu: "1" })],
  ];
  it.each(other)("%s", (_, wanted, change) => {
    expect(isAsWanted(wanted, changed(wanted, change))).toBe(false);
  });

  it("what is not there", () => {
    expect(isAsWanted(policy, undefined)).toBe(false);
  });
});

it.each([
  ["100m", "0.1"],
  ["1Gi", "1073741824"],
  ["1e3", "1k"],
  ["0.5", "500m"],
  ["2.5G", "2500M"],
])("%s is as much as %s", (a, b) => {
  expect(parseQuantity(a)).toBe(parseQuantity(b));
  expect(parseQuantity(a)).toBeDefined();
});

it.each(["", "a", "1x", "1 Gi", "--1", undefined, {}])("%j is no quantity", (text) => {
  expect(parseQuantity(text)).toBeUndefined();
});
