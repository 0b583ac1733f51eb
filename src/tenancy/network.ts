import { isIP } from "node:net";

/** A block of addresses: the first of them as a number, and how many leading bits they share. */
export interface Network {
  readonly version: 4 | 6;
  readonly first: bigint;
  readonly bits: number;
}

const WIDTH = { 4: 32, 6: 128 } as const;

/** Of `10.1.0.0/16`, `fd00::/8` or one address; bits behind the prefix count as 0. Undefined for what is none. */
export function parseNetwork(text: string): Network | undefined {
  const [address = "", prefix, ...rest] = text.split("/");
  const version = isIP(address);
  if (version === 0 || rest.length > 0 || address.includes("%")) return undefined;
  const width = WIDTH[version as 4 | 6];
  if (prefix !== undefined && !/^\d{1,3}$/.test(prefix)) return undefined;
  const bits = prefix === undefined ? width : Number(prefix);
  if (bits > width) return undefined;
  const number = version === 4 ? numberOfV4(address) : numberOfV6(address);
  const free = BigInt(width - bits);
  return unmapped({ version: version as 4 | 6, first: (number >> free) << free, bits });
}

/** `::ffff:10.0.0.0/104` is another way to write `10.0.0.0/8`, which policies do not understand. */
function unmapped(network: Network): Network {
  const { version, first, bits } = network;
  return version === 6 && bits >= 96 && first >> 32n === 0xffffn
    ? { version: 4, first: first & 0xffffffffn, bits: bits - 96 }
    : network;
}

function numberOfV4(address: string): bigint {
  return address.split(".").reduce((number, part) => (number << 8n) | BigInt(part), 0n);
}

function numberOfV6(address: string): bigint {
  const dotted = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(address);
  if (dotted) {
    const low = numberOfV4(dotted[2]!);
    return numberOfV6(`${dotted[1]}${(low >> 16n).toString(16)}:${(low & 0xffffn).toString(16)}`);
  }
  const [head = "", tail] = address.split("::");
  const groups = (text: string) => (text === "" ? [] : text.split(":"));
  const left = groups(head);
  const right = tail === undefined ? [] : groups(tail);
  const zeros = new Array<string>(8 - left.length - right.length).fill("0");
  return [...left, ...zeros, ...right].reduce((number, part) => (number << 16n) | BigInt(`0x${part}`), 0n);
}

/** As NetworkPolicies want it, `10.0.0.0/8`, `fc00::/7`. */
export function networkText({ version, first, bits }: Network): string {
  return `${version === 4 ? v4Text(first) : v6Text(first)}/${bits}`;
}

function v4Text(number: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => (number >> shift) & 0xffn).join(".");
}

function v6Text(number: bigint): string {
  const groups = Array.from({ length: 8 }, (_, index) => (number >> BigInt(112 - index * 16)) & 0xffffn);
  const text = groups.map((group) => group.toString(16)).join(":");
  const zeros = (text.match(/(?:^|:)0(?::0)+(?=:|$)/g) ?? []).sort((a, b) => b.length - a.length)[0];
  if (zeros === undefined) return text;
  const at = text.indexOf(zeros);
  return `${text.slice(0, at)}::${text.slice(at + zeros.length).replace(/^:/, "")}`;
}

/** Every address of `inner` is one of `outer`. */
export function contains(outer: Network, inner: Network): boolean {
  if (outer.version !== inner.version || outer.bits > inner.bits) return false;
  const free = BigInt(WIDTH[outer.version] - outer.bits);
  return outer.first >> free === inner.first >> free;
}

/** Each once, and none that lies within another; in the order of their addresses. */
export function outermost(networks: readonly Network[]): Network[] {
  const sorted = [...networks].sort((a, b) => a.version - b.version || compare(a.first, b.first) || a.bits - b.bits);
  const kept: Network[] = [];
  // In this order whatever contains a network stands right before it, but for others within the same.
  for (const network of sorted) if (!kept.at(-1) || !contains(kept.at(-1)!, network)) kept.push(network);
  return kept;
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
