import fc from "fast-check";
import { expect, it } from "vitest";
import { type CallFacts, requestHeaders, requestIdOf, responseHeaders } from "../../src/gateway/headers.ts";

const FACTS: CallFacts = {
  clientAddress: "10.1.2.3",
  host: "sless.example",
  protocol: "http",
  prefix: "/fn/default/hello",
  requestId: "r1",
  timeoutMs: 30_000,
  trigger: "http",
  trustForwarded: false,
};
const OWN = [
  ["x-forwarded-for", "10.1.2.3"],
  ["x-forwarded-host", "sless.example"],
  ["x-forwarded-proto", "http"],
  ["x-forwarded-prefix", "/fn/default/hello"],
  ["x-request-id", "r1"],
  ["x-sless-timeout-ms", "30000"],
  ["x-sless-trigger", "http"],
].flat();

const requests: Record<string, { sent: string[]; arrives: string[] }> = {
  "ordinary headers keep their spelling, order and repetitions": {
    sent: ["Accept", "a/b", "X-Multi", "1", "x-multi", "2", "Cookie", "a=1"],
    arrives: ["Accept", "a/b", "X-Multi", "1", "x-multi", "2", "Cookie", "a=1"],
  },
  "headers of the connection end here": {
    sent: [
      ["Connection", "keep-alive"],
      ["Keep-Alive", "timeout=5"],
      ["TE", "trailers"],
      ["Trailer", "X-Sum"],
      ["Transfer-Encoding", "chunked"],
      ["Upgrade", "h2c"],
      ["Proxy-Authorization", "Basic x"],
      ["Proxy-Connection", "keep-alive"],
      ["Expect", "100-continue"],
    ].flat(),
    arrives: [],
  },
  "headers that Connection names end here": {
    sent: ["Connection", "close, X-Private", "X-Private", "1", "x-other", "2", "connection", "X-More", "X-More", "3"],
    arrives: ["x-other", "2"],
  },
  "Connection cannot hide how long the body is": {
    sent: ["Connection", "content-length", "Content-Length", "5"],
    arrives: ["Content-Length", "5"],
  },
  "Connection cannot take away what the gateway sets": {
    sent: ["Connection", "x-forwarded-for, x-sless-timeout-ms, x-request-id"],
    arrives: [],
  },
  "a client cannot pose as the gateway": {
    sent: ["X-Sless-Timeout-Ms", "0", "x-sless-trigger", "cron", "X-SLESS-ANYTHING", "1", "X-Request-Id", "other"],
    arrives: [],
  },
  "a client cannot make up where it comes from": {
    sent: [
      "X-Forwarded-For",
      "1.1.1.1",
      "X-Forwarded-Host",
      "bank",
      "X-Forwarded-Proto",
      "https",
      "Forwarded",
      "for=1",
    ],
    arrives: [],
  },
  "the Host goes on as X-Forwarded-Host alone": { sent: ["Host", "sless.example"], arrives: [] },
};

it.each(Object.entries(requests))("%s", (_name, { sent, arrives }) => {
  expect(requestHeaders(sent, FACTS)).toEqual([...arrives, ...OWN]);
});

it("a trusted proxy's word on the client is kept and continued", () => {
  const sent = ["X-Forwarded-For", "1.1.1.1", "X-Forwarded-Host", "sless.example.org", "X-Forwarded-Proto", "https"];
  const arrives = requestHeaders(sent, { ...FACTS, trustForwarded: true });
  expect(arrives).toEqual([
    ...["X-Forwarded-Host", "sless.example.org", "X-Forwarded-Proto", "https"],
    ...["x-forwarded-for", "1.1.1.1, 10.1.2.3"],
    ...OWN.slice(6),
  ]);
});

it("no time limit is said as 0", () => {
  expect(requestHeaders([], { ...FACTS, timeoutMs: 0 }).join(" ")).toContain("x-sless-timeout-ms 0 ");
});

it("an answer loses the headers of the replica's connection and gets the call's request id", () => {
  const raw = ["Connection", "close, X-Inner", "X-Inner", "1", "Transfer-Encoding", "chunked", "Set-Cookie", "a=1"];
  raw.push("Set-Cookie", "b=2", "X-Request-Id", "theirs");
  expect(responseHeaders(raw, "r1", 200)).toEqual(["Set-Cookie", "a=1", "Set-Cookie", "b=2", "x-request-id", "r1"]);
});

it.each(["abc", "0f8fad5b-d9cb-469f-a165-70867728950e", "a.b:c/d=+_"])("the request id %s is kept", (id) => {
  expect(requestIdOf(id)).toBe(id);
});

it.each([undefined, "", "a b", "a\nb", "é", "-x", "x".repeat(129)])("the request id %j is replaced", (id) => {
  expect(requestIdOf(id)).toMatch(/^[0-9a-f-]{36}$/);
});

it("whatever a client sends, each of the gateway's headers arrives once and with its own value", () => {
  const names = [
    "Connection",
    "x-sless-trigger",
    "X-Sless-New",
    "X-Forwarded-For",
    "x-request-id",
    "Host",
    "X-A",
    "TE",
  ];
  const values = ["x-a", "close, x-request-id", "x-sless-trigger,x-forwarded-for", "v", ""];
  const header = fc.tuple(fc.constantFrom(...names), fc.constantFrom(...values));
  fc.assert(
    fc.property(fc.array(header, { maxLength: 8 }), (sent) => {
      const arrived = requestHeaders(sent.flat(), FACTS);
      const pairs = arrived.flatMap((name, at) => (at % 2 === 0 ? [[name.toLowerCase(), arrived[at + 1]]] : []));
      const ours = pairs.filter(([name]) =>
        /^(x-sless-|x-forwarded-|x-request-id|host|connection|te$)/.test(name ?? ""),
      );
      expect(ours.flat()).toEqual(OWN);
    }),
  );
});
