import { expect, it } from "vitest";
import { type EgressSettings, egressRules } from "../../src/tenancy/egress-rules.ts";
import { contains, parseNetwork } from "../../src/tenancy/network.ts";

/** @param port of TCP */
function reaches(settings: Partial<EgressSettings>, address: string, port = 443): boolean {
  const inside = (text: string) => contains(parseNetwork(text)!, parseNetwork(address)!);
  return egressRules({ denied: [], allowed: [], apiServer: [], ...settings }).some(
    ({ to, ports = [{ protocol: "TCP", port: 1, endPort: 65_535 }] }) =>
      to.some(({ ipBlock: { cidr, except = [] } }) => inside(cidr) && !except.some(inside)) &&
      ports.some((range) => range.protocol === "TCP" && range.port <= port && port <= range.endPort),
  );
}

/** Of a Service, which nothing shares. */
const only = (address: string) => [{ address, ports: [] }];

const cases: [string, Partial<EgressSettings>, string, boolean][] = [
  ["the internet is reached", {}, "93.184.216.34", true],
  ["the internet is reached by IPv6", {}, "2606:2800:220:1::1", true],
  ["the internet is reached through a NAT64", {}, "64:ff9b::93.184.216.34", true],
  ["private addresses are not", {}, "10.1.2.3", false],
  ["private addresses are not (172)", {}, "172.31.255.255", false],
  ["what is next to private addresses is", {}, "172.32.0.1", true],
  ["private addresses are not (192)", {}, "192.168.0.1", false],
  ["private addresses are not, through a NAT64 either", {}, "64:ff9b::10.1.2.3", false],
  ["site-local and other old ranges of IPv6 are not", {}, "fec0::1", false],
  ["private addresses are not, as mapped IPv6 either", {}, "::ffff:10.1.2.3", false],
  ["shared addresses of providers are not", {}, "100.64.0.10", false],
  ["loopback is not", {}, "127.0.0.1", false],
  ["loopback is not (IPv6)", {}, "::1", false],
  ["unique local addresses are not", {}, "fd12::1", false],
  ["multicast is not", {}, "239.1.1.1", false],
  ["metadata is not", {}, "169.254.169.254", false],
  ["metadata is not, whatever is allowed", { allowed: ["169.254.0.0/16", "0.0.0.0/0"] }, "169.254.169.254", false],
  ["metadata is not (IPv6)", { allowed: ["fd00::/8", "fe80::/10"] }, "fd00:ec2::254", false],
  ["an allowed private network is", { allowed: ["10.1.0.0/16"] }, "10.1.2.3", true],
  ["the one beside it is not", { allowed: ["10.1.0.0/16"] }, "10.2.2.3", false],
  ["a denied public network is not", { denied: ["93.184.216.0/24"] }, "93.184.216.34", false],
  ["denied within allowed is not", { allowed: ["10.0.0.0/8"], denied: ["10.9.0.0/16"] }, "10.9.0.1", false],
  ["allowed within denied is not", { allowed: ["10.9.0.0/16"], denied: ["10.0.0.0/8"] }, "10.9.0.1", false],
  ["an API server with a public address is not", { apiServer: only("93.184.216.34") }, "93.184.216.34", false],
  [
    "an API server within what is allowed is not",
    { allowed: ["10.0.0.0/8"], apiServer: only("10.96.0.1") },
    "10.96.0.1",
    false,
  ],
  [
    "an API server that is allowed by itself is not",
    { allowed: ["10.96.0.1"], apiServer: only("10.96.0.1") },
    "10.96.0.1",
    false,
  ],
  ["an API server with IPv6 is not", { apiServer: only("2001:db8::1") }, "2001:db8::1", false],
];

it.each(cases)("%s", (_name, settings, address, expected) => {
  expect(reaches(settings, address)).toBe(expected);
});

const NODE = "10.1.0.5";
const onNode: [string, Partial<EgressSettings>, number, boolean][] = [
  ["by itself, is reached", { allowed: [NODE] }, 5000, true],
  ["by itself, is reached next to the API server's port", { allowed: [NODE] }, 6442, true],
  ["by itself, is not reached on the API server's port", { allowed: [NODE] }, 6443, false],
  ["by itself, is not reached on the other of two either", { allowed: [NODE] }, 8443, false],
  ["by itself and with its network, is reached", { allowed: ["10.1.0.0/16", `${NODE}/32`] }, 5000, true],
  ["by itself and denied, is not reached", { allowed: [NODE], denied: ["10.1.0.0/24"] }, 5000, false],
  ["within a network, is not reached", { allowed: ["10.1.0.0/16"] }, 5000, false],
];

it.each(onNode)("a node that serves the API too, and is allowed %s", (_name, settings, port, expected) => {
  expect(reaches({ apiServer: [{ address: NODE, ports: [6443, 8443] }], ...settings }, NODE, port)).toBe(expected);
});

it.each([2379, 2380, 10_250, 10_255, 10_257])(
  "a node that serves the API keeps port %i of the cluster closed",
  (port) => {
    expect(reaches({ apiServer: [{ address: NODE, ports: [6443] }], allowed: [NODE] }, NODE, port)).toBe(false);
  },
);

const server = (ports: number[], address = NODE) => ({ address, ports });
it.each<[string, EgressSettings["apiServer"], number, boolean]>([
  ["each of its ports", [server([443]), server([6443])], 443, false],
  ["each of its ports", [server([443]), server([6443])], 6443, false],
  ["what is between them", [server([6443]), server([443])], 5000, true],
  ["nothing, if one of them says that it is all its own", [server([6443]), server([])], 5000, false],
  ["each of its ports, however it is written", [server([443]), server([6443], "::ffff:10.1.0.5")], 6443, false],
])("an address of the API server that is told twice keeps closed %s", (_what, apiServer, port, expected) => {
  expect(reaches({ apiServer, allowed: [NODE] }, NODE, port)).toBe(expected);
});

it("an API server that listens on the last port leaves those before it", () => {
  const apiServer = [{ address: NODE, ports: [65_535] }];
  expect(reaches({ apiServer, allowed: [NODE] }, NODE, 65_534)).toBe(true);
  expect(reaches({ apiServer, allowed: [NODE] }, NODE, 65_535)).toBe(false);
});

it("every exception lies strictly within its block, as Kubernetes wants it", () => {
  const settings = {
    denied: ["0.0.0.0/1"],
    allowed: ["10.0.0.0/8", "10.1.0.0/16", "fd00::/8"],
    apiServer: only("10.96.0.1"),
  };
  const blocks = egressRules(settings).flatMap(({ to }) => to.map(({ ipBlock }) => ipBlock));
  for (const { cidr, except = [] } of blocks)
    for (const inner of except) {
      expect(contains(parseNetwork(cidr)!, parseNetwork(inner)!)).toBe(true);
      expect(inner).not.toBe(cidr);
    }
});
