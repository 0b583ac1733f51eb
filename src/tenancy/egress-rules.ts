import type { ApiServerAddress } from "./api-server-addresses.ts";
import { contains, type Network, networkText, outermost, parseNetwork } from "./network.ts";

/** An ipBlock of a NetworkPolicy. */
export interface IpBlock {
  readonly cidr: string;
  readonly except?: readonly string[];
}

/** A rule under `egress` of a NetworkPolicy. */
export interface EgressRule {
  readonly to: readonly { readonly ipBlock: IpBlock }[];
  readonly ports?: readonly { readonly protocol: "TCP" | "UDP"; readonly port: number; readonly endPort: number }[];
}

export interface EgressSettings {
  /** Networks that functions may not reach, besides those that are never public. */
  readonly denied: readonly string[];
  /** Networks within the private ranges that functions may reach. */
  readonly allowed: readonly string[];
  /** Never reached where it listens, whatever is allowed. */
  readonly apiServer: readonly ApiServerAddress[];
}

/** Behind this prefix a NAT64 reaches the whole of IPv4 (RFC 6052). */
const NAT64 = "64:ff9b::/96";
/** All of IPv4, the public part of IPv6 (RFC 4291 §2.4), and IPv4 through a NAT64. */
const INTERNET = ["0.0.0.0/0", "2000::/3", NAT64];

/** Private, shared (CGNAT), loopback, benchmarking, multicast and reserved ranges, and "this host" (RFC 6890). */
const NOT_PUBLIC = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "224.0.0.0/3",
];
/** Here a cloud tells its secrets to whoever asks: nothing allows it. */
const METADATA = ["169.254.0.0/16", "fe80::/10", "fd00:ec2::254/128"];
const LAST_PORT = 65_535;
/**
 * etcd, kubelet, proxy, controller manager and scheduler: where the API is served they listen, too.
 * https://kubernetes.io/docs/reference/networking/ports-and-protocols/
 */
const CONTROL_PLANE = [2379, 2380, 10_248, 10_249, 10_250, 10_255, 10_256, 10_257, 10_259];

/**
 * Where functions may go: the internet, without what is not public, and the networks that the settings allow. Pure.
 *
 * A network that is allowed and denied by the settings is denied; link-local addresses (the metadata of clouds) and the
 * API server always are. On a node that serves the API and something else, a registry for one, that address may be
 * allowed by itself: then all of it is reached but the ports of the API server, and of what runs a cluster beside it.
 */
export function egressRules(settings: EgressSettings): EgressRule[] {
  const to = egressBlocks(settings).map((ipBlock) => ({ ipBlock }));
  return [{ to }, ...besideApiServer(settings)];
}

function egressBlocks({ denied, allowed, apiServer }: EgressSettings): IpBlock[] {
  const servers = apiServer.map(({ address }) => address);
  const never = withNat64(parsed([...METADATA, ...servers, ...denied]));
  const notPublic = withNat64(parsed(NOT_PUBLIC));
  const internet = parsed(INTERNET).map((all) => block(all, [...notPublic, ...never]));
  const more = outermost(parsed(allowed)).map((network) => block(network, never));
  return [...internet, ...more].filter((each) => each !== undefined);
}

function besideApiServer({ denied, allowed, apiServer }: EgressSettings): EgressRule[] {
  const never = parsed([...METADATA, ...denied]);
  const named = new Set(parsed(allowed).map(networkText));
  return servers(apiServer).flatMap(({ network, ports }) => {
    if (ports.length === 0 || !named.has(networkText(network))) return [];
    if (never.some((other) => contains(other, network))) return [];
    return [{ to: [{ ipBlock: { cidr: networkText(network) } }], ports: portsBeside(ports) }];
  });
}

/** Each address once, however often and in whatever way it is written: rules add up, and one would open what another spares. */
function servers(apiServer: readonly ApiServerAddress[]) {
  const byText = Map.groupBy(apiServer, ({ address }) => textOf(address));
  return [...byText].flatMap(([text, same]) => {
    const network = parseNetwork(text);
    const isAll = same.some(({ ports }) => ports.length === 0);
    const ports = new Set(isAll ? [] : [...same.flatMap((each) => each.ports), ...CONTROL_PLANE]);
    return network ? [{ network, ports: [...ports].sort((a, b) => a - b) }] : [];
  });
}

function textOf(address: string): string {
  const network = parseNetwork(address);
  return network ? networkText(network) : address;
}

/** @param taken of TCP, in ascending order */
function portsBeside(taken: readonly number[]): NonNullable<EgressRule["ports"]> {
  const starts = [1, ...taken.map((port) => port + 1)];
  const ends = [...taken.map((port) => port - 1), LAST_PORT];
  const free = starts.map((port, index) => ({ protocol: "TCP" as const, port, endPort: ends[index]! }));
  return [...free.filter(({ port, endPort }) => port <= endPort), { protocol: "UDP", port: 1, endPort: LAST_PORT }];
}

function parsed(networks: readonly string[]): Network[] {
  return networks.map(parseNetwork).filter((network) => network !== undefined);
}

/** The IPv4 networks among them also as a NAT64 reaches them. */
function withNat64(networks: readonly Network[]): Network[] {
  const base = parseNetwork(NAT64)!.first;
  const translated = networks
    .filter(({ version }) => version === 4)
    .map(({ first, bits }): Network => ({ version: 6, first: base | first, bits: bits + 96 }));
  return [...networks, ...translated];
}

/** Undefined when nothing of the network is left. */
function block(network: Network, never: readonly Network[]): IpBlock | undefined {
  if (never.some((other) => contains(other, network))) return undefined;
  const except = outermost(never.filter((other) => contains(network, other)));
  return { cidr: networkText(network), ...(except.length > 0 && { except: except.map(networkText) }) };
}
