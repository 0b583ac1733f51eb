import { lookup } from "node:dns/promises";
import { expect, it } from "vitest";
import { networkPolicy } from "../../../src/source/index.ts";
import { guardedLookup } from "../../../src/source/remote/guarded-lookup.ts";

const nothing = networkPolicy([]);

it.each([
  "127.0.0.1",
  "127.9.9.9",
  "0.0.0.0",
  "10.1.2.3",
  "172.16.0.1",
  "172.31.255.255",
  "192.168.1.1",
  "169.254.169.254",
  "100.64.0.1",
  "198.18.0.1",
  "224.0.0.1",
  "255.255.255.255",
  "::1",
  "::",
  "fe80::1",
  "fe80::1%eth0",
  "fc00::1",
  "fd12:3456::1",
  "ff02::1",
  "::ffff:127.0.0.1",
  "::ffff:a00:1",
  "::127.0.0.1",
  "64:ff9b::7f00:1",
  "2002:7f00:1::",
  "2001:db8::1",
  "no address",
  "",
])("%s is not reached without leave", (address) => {
  expect(nothing.allows(address)).toBe(false);
});

it.each(["1.1.1.1", "140.82.121.4", "172.32.0.1", "2606:4700::1111", "::ffff:1.1.1.1", "64:ff9b::101:101"])(
  "%s is public",
  (address) => {
    expect(nothing.allows(address)).toBe(true);
  },
);

it("networks that are named are reached, in either form of their addresses, and no others", () => {
  const policy = networkPolicy(["10.1.0.0/16", "192.168.7.7", "fd00::/8"]);
  const allowed = ["10.1.2.3", "192.168.7.7", "fd12::1", "::ffff:10.1.2.3", "1.1.1.1"];
  const refused = ["10.2.0.1", "192.168.7.8", "fc00::1", "127.0.0.1"];
  expect([...allowed, ...refused].filter((address) => policy.allows(address))).toEqual(allowed);
});

it("a name of a refused address is not resolved, one of an allowed address to nothing else", async () => {
  const answers = (policy: ReturnType<typeof networkPolicy>, all: boolean) =>
    new Promise((resolve) =>
      guardedLookup(policy)("localhost", { all }, (error, addresses, family) =>
        resolve(error ? (error as { code?: string }).code : all ? addresses : { address: addresses, family }),
      ),
    );
  expect(await answers(nothing, true)).toBe("address_refused");
  expect(await answers(nothing, false)).toBe("address_refused");
  const all = networkPolicy(["127.0.0.0/8", "::1"]);
  expect(await answers(all, true)).toEqual(await lookup("localhost", { all: true }));
  expect(await answers(networkPolicy(["127.0.0.1"]), false)).toEqual({ address: "127.0.0.1", family: 4 });
});
