import { BlockList, isIP, isIPv4 } from "node:net";

/** Which addresses a repository may be fetched from. */
export interface NetworkPolicy {
  /** @param address an IP address as text */
  allows(address: string): boolean;
}

/** Everything that is not the public internet (RFC 6890, RFC 8190): this machine, links, private networks, multicast. */
const NOT_PUBLIC_V4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/3",
];
/** Of IPv6 only global unicast is public, less what carries other addresses in it, and documentation. */
const PUBLIC_V6 = ["2000::/3"];
const NOT_PUBLIC_V6 = ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"];

/**
 * Public addresses, and those of the networks that are named.
 *
 * @param allowed networks in CIDR form (`10.0.0.0/8`, `fd00::/8`) or single addresses, as the settings checked them
 */
export function networkPolicy(allowed: readonly string[]): NetworkPolicy {
  const named = blockList(allowed);
  const notPublic = blockList([...NOT_PUBLIC_V4, ...NOT_PUBLIC_V6]);
  const publicV6 = blockList(PUBLIC_V6);
  return {
    allows(text) {
      const address = embeddedV4(text) ?? text;
      if (isIP(address) === 0) return false;
      const family = isIPv4(address) ? "ipv4" : "ipv6";
      if (named.check(address, family)) return true;
      return !notPublic.check(address, family) && (family === "ipv4" || publicV6.check(address, family));
    },
  };
}

function blockList(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = "", prefix] = network.split("/");
    const family = isIPv4(address) ? "ipv4" : "ipv6";
    list.addSubnet(address, prefix === undefined ? (family === "ipv4" ? 32 : 128) : Number(prefix), family);
  }
  return list;
}

/** The IPv4 address that an IPv6 one stands for: mapped (`::ffff:0:0/96`), or translated by NAT64 (`64:ff9b::/96`). */
function embeddedV4(text: string): string | undefined {
  if (isIP(text) !== 6 || text.includes("%")) return undefined;
  const canonical = new URL(`http://[${text}]`).hostname.slice(1, -1);
  const [, high, low] = /^(?:::ffff:|64:ff9b::)([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(canonical) ?? [];
  if (high === undefined || low === undefined) return undefined;
  const bytes = [high, low].flatMap((word) => [Number.parseInt(word, 16) >> 8, Number.parseInt(word, 16) & 255]);
  return bytes.join(".");
}
