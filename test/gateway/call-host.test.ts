import fc from "fast-check";
import { expect, it } from "vitest";
import { isCallHost, parseCallHost } from "../../src/gateway/call-path.ts";
import { callAddresses } from "../../src/gateway/index.ts";
import { rawExchange } from "../support/raw-exchange.ts";
import { gatewayFixture } from "./gateway-fixture.ts";

const HOST = "fn.example.org";

it.each(["hello.default.fn.example.org", "Hello.DEFAULT.fn.Example.org:8080", "hello.default.fn.example.org."])(
  "%s is the function hello of default, with its path as it stands",
  (host) => {
    const found = parseCallHost(host, "/v1/a%2Fb?c=/fn/x/y", HOST);
    expect(found).toEqual({ namespace: "default", name: "hello", path: "/v1/a%2Fb?c=/fn/x/y" });
  },
);

it.each([
  "default.fn.example.org",
  "a.hello.default.fn.example.org",
  ".default.fn.example.org",
  "hello..fn.example.org",
  "1hello.default.fn.example.org",
  "hel_lo.default.fn.example.org",
  `${"a".repeat(53)}.default.fn.example.org`,
])("%s is nobody's, and leads nowhere else", (host) => {
  expect([isCallHost(host, HOST), parseCallHost(host, "/", HOST)]).toEqual([true, undefined]);
});

it.each([
  "fn.example.org",
  "hello.default.xfn.example.org",
  "hello.default.fn.example.org.evil.com",
  "hello.default.fn.example.org@evil.com",
  "127.0.0.1:9090",
  "[::1]:9090",
  "",
  undefined,
])("%s is no host of functions", (host) => {
  expect([isCallHost(host, HOST), parseCallHost(host, "/", HOST)]).toEqual([false, undefined]);
});

it("whatever the host is, it names at most one function", () => {
  const piece = fc.constantFrom("hello", "default", ".", HOST, ":80", "-", "A", "é", "%2e", "1");
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      const found = parseCallHost(pieces.join(""), "/", HOST);
      if (found) expect(pieces.join("").toLowerCase()).toContain(`${found.name}.${found.namespace}.${HOST}`);
    }),
  );
});

it.each([
  [{ externalUrl: "https://example.org/sless" }, "https://example.org/sless/fn/team/hello", undefined],
  [
    { externalUrl: "https://example.org", ingress: { host: HOST, isTls: true } },
    "https://example.org/fn/team/hello",
    undefined,
  ],
  [{ ingress: { host: HOST, isTls: true } }, "https://hello.team.fn.example.org", HOST],
  [{ ingress: { host: HOST, isTls: false } }, "http://hello.team.fn.example.org", HOST],
  [{}, "http://sless-gateway.sless.svc/fn/team/hello", undefined],
])("with %j a function is at %s", (options, url, ingressHost) => {
  const addresses = callAddresses({ nearbyUrl: "http://sless-gateway.sless.svc", ...options });
  expect(addresses.urlOf({ namespace: "team", name: "hello" })).toBe(url);
  expect(addresses.ingressHost).toBe(ingressHost);
});

it("a host below which names would be too long for DNS is refused at the start", () => {
  const open = (length: number) =>
    callAddresses({ nearbyUrl: "", ingress: { host: "a".repeat(length), isTls: false } });
  expect(() => open(146)).toThrow("too long for DNS");
  const longest = open(145).urlOf({ namespace: "n".repeat(54), name: "f".repeat(52) });
  expect(longest.slice("http://".length)).toHaveLength(253);
});

it("a call by host reaches the function with all of its path, and hears of no prefix", async () => {
  const { port, gateway } = await gatewayFixture({
    ingressHost: HOST,
    handler: (req, res) => res.end(JSON.stringify({ url: req.url, headers: req.headers })),
  });
  const ask = (host: string, path: string) =>
    rawExchange(port, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  const answer = await ask("hello.default.fn.example.org", "/fn/default/other?x=1");
  expect(answer).toContain('"url":"/fn/default/other?x=1"');
  expect(answer).toContain('"x-forwarded-host":"hello.default.fn.example.org"');
  expect(answer).not.toContain("x-forwarded-prefix");
  expect(await ask("other.default.fn.example.org", "/")).toContain("no_such_function");
  expect(await ask("default.fn.example.org", "/fn/default/hello")).toContain("not_found");
  expect(await ask("sless.example.org", "/fn/default/hello")).toContain('"x-forwarded-prefix":"/fn/default/hello"');
  expect(gateway.isCall({ url: "/v1/whoami", headers: { host: "hello.default.fn.example.org" } })).toBe(true);
  expect(gateway.isCall({ url: "/v1/whoami", headers: { host: "fn.example.org" } })).toBe(false);
});
