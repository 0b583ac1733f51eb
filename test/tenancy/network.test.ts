import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { contains, networkText, outermost, parseNetwork } from "../../src/tenancy/network.ts";

it.each([
  ["10.0.0.0/8", "10.0.0.0/8"],
  ["10.1.2.3/8", "10.0.0.0/8"],
  ["192.168.1.1", "192.168.1.1/32"],
  ["0.0.0.0/0", "0.0.0.0/0"],
  ["fd00::/8", "fd00::/8"],
  ["FE80::1", "fe80::1/128"],
  ["::/0", "::/0"],
  ["::1", "::1/128"],
  ["2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1/128"],
  ["1:0:3:4:5:6:7:8", "1:0:3:4:5:6:7:8/128"],
  ["64:ff9b::10.0.0.0/104", "64:ff9b::a00:0/104"],
  ["::ffff:0:0/96", "0.0.0.0/0"],
  ["::ffff:10.1.2.3/104", "10.0.0.0/8"],
])("%s is the network %s", (text, expected) => {
  expect(networkText(parseNetwork(text)!)).toBe(expected);
});

it.each([
  "",
  "10.0.0.0/33",
  "10.0.0/8",
  "fd00::/129",
  "fe80::1%eth0",
  "10.0.0.0/8/8",
  "10.0.0.0/-1",
  "host",
  "1::2::3",
])("%j is no network", (text) => {
  expect(parseNetwork(text)).toBeUndefined();
});

const network = fc.oneof(
  fc.tuple(fc.ipV4(), fc.integer({ min: 0, max: 32 })),
  fc.tuple(fc.ipV6(), fc.integer({ min: 0, max: 128 })),
);

describe("any network", () => {
  it("is read as it is written", () => {
    fc.assert(
      fc.property(network, ([address, bits]) => {
        const parsed = parseNetwork(`${address}/${bits}`)!;
        expect(parseNetwork(networkText(parsed))).toEqual(parsed);
        expect(contains(parsed, parseNetwork(address)!) || address.startsWith("::")).toBe(true);
      }),
    );
  });

  it("is covered by the outermost of any that it is among", () => {
    const near = fc
      .tuple(fc.integer({ min: 0, max: 255 }), fc.integer({ min: 4, max: 32 }))
      .map(([part, bits]) => parseNetwork(`10.${part % 4}.0.${part}/${bits}`)!);
    fc.assert(
      fc.property(fc.array(near, { maxLength: 12 }), (networks) => {
        const kept = outermost(networks);
        for (const one of networks) expect(kept.filter((outer) => contains(outer, one))).toHaveLength(1);
        expect(kept.every((one) => networks.includes(one))).toBe(true);
      }),
    );
  });
});
