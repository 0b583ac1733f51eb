import { randomBytes } from "node:crypto";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { bodyOf } from "../support/http-server.ts";
import { rawExchange } from "../support/raw-exchange.ts";
import { gatewayFixture } from "./gateway-fixture.ts";
import { standsStill } from "./stands-still.ts";

/** Answers with what arrived. */
async function echo(req: IncomingMessage): Promise<string> {
  const body = await bodyOf(req);
  return JSON.stringify({ method: req.method, url: req.url, headers: req.headers, body: body.toString("latin1") });
}
const echoing = async () =>
  gatewayFixture({
    handler: async (req, res) => res.setHeader("content-type", "application/json").end(await echo(req)),
  });

interface Echo {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: string;
}

it.each(["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"])(
  "a %s arrives with its path, query, headers and body",
  async (method) => {
    const { origin } = await echoing();
    const body = method === "GET" ? null : '{"name":"Ada"}';
    const headers = { "content-type": "application/json", "x-one": "1", ...(body ? {} : { "x-two": "2" }) };
    const answer = await fetch(`${origin}/fn/default/hello/a%2Fb/c?x=%20&y`, { method, headers, body });
    const seen = (await answer.json()) as Echo;
    expect(answer.status).toBe(200);
    expect(seen).toMatchObject({ method, url: "/a%2Fb/c?x=%20&y", body: body ?? "" });
    expect(seen.headers).toMatchObject({
      "x-one": "1",
      "x-forwarded-for": "127.0.0.1",
      "x-forwarded-host": origin.slice("http://".length),
      "x-forwarded-proto": "http",
      "x-forwarded-prefix": "/fn/default/hello",
      "x-sless-timeout-ms": "30000",
      "x-sless-trigger": "http",
    });
    expect(seen.headers["x-request-id"]).toBe(answer.headers.get("x-request-id"));
  },
);

it("a GET with a body arrives with it", async () => {
  const { port } = await echoing();
  const text = "GET /fn/default/hello HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi";
  const answer = await rawExchange(port, text);
  expect(answer).toContain('"body":"hi"');
});

it("a body of unknown length arrives whole, and its trailers are left out", async () => {
  const { port } = await echoing();
  const answer = await rawExchange(
    port,
    [
      "POST /fn/default/hello HTTP/1.1",
      "Host: x",
      "Transfer-Encoding: chunked",
      "Trailer: X-Sum",
      "Connection: close",
      "",
      "3\r\nabc\r\n2\r\nde\r\n0\r\nX-Sum: 5\r\n\r\n",
    ].join("\r\n"),
  );
  expect(answer).toContain('"body":"abcde"');
  expect(answer.toLowerCase()).not.toContain("x-sum");
});

it("bytes pass unchanged in both directions", async () => {
  const { origin } = await gatewayFixture({ handler: async (req, res) => res.end(await bodyOf(req)) });
  const sent = randomBytes(3_000_000);
  const answer = await fetch(`${origin}/fn/default/hello`, { method: "POST", body: sent });
  expect(Buffer.from(await answer.arrayBuffer()).equals(sent)).toBe(true);
});

it("status, repeated headers and custom ones come back as the function set them", async () => {
  const { port } = await gatewayFixture({
    handler: (_req, res) => res.writeHead(418, ["Set-Cookie", "a=1", "Set-Cookie", "b=2", "X-Kind", "t\xe9"]).end("no"),
  });
  const answer = await rawExchange(port, "GET /fn/default/hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  expect(answer).toMatch(/^HTTP\/1.1 418 /);
  expect(answer).toContain("Set-Cookie: a=1\r\nSet-Cookie: b=2\r\nX-Kind: t\xe9\r\n");
});

it.each([204, 304])("a %i has no body and the connection serves the next call", async (status) => {
  const { origin } = await gatewayFixture({ handler: (_req, res) => res.writeHead(status).end() });
  for (const _ of [1, 2]) {
    const answer = await fetch(`${origin}/fn/default/hello`);
    expect([answer.status, await answer.text()]).toEqual([status, ""]);
  }
});

it("HEAD tells the length and sends nothing", async () => {
  const { origin } = await gatewayFixture({
    handler: (_req, res) => res.setHeader("content-length", "5").end("hello"),
  });
  const answer = await fetch(`${origin}/fn/default/hello`, { method: "HEAD" });
  expect(answer.headers.get("content-length")).toBe("5");
  expect(await answer.text()).toBe("");
});

it("the client is told to go on with its body only when the replica takes it", async () => {
  const { port } = await echoing();
  const head = (path: string) =>
    `POST ${path} HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\nConnection: close\r\n\r\n`;
  expect(await rawExchange(port, `${head("/fn/default/hello")}hi`)).toMatch(
    /^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200 OK/,
  );
  expect(await rawExchange(port, head("/fn/default/nobody"))).toMatch(/^HTTP\/1.1 404 /);
});

it("an HTTP/1.0 client gets an answer without chunks", async () => {
  const { port } = await gatewayFixture({
    handler: (_req, res) => {
      res.write("a");
      res.end("b");
    },
  });
  const answer = await rawExchange(port, "GET /fn/default/hello HTTP/1.0\r\n\r\n");
  expect(answer.toLowerCase()).not.toContain("transfer-encoding");
  expect(answer.endsWith("\r\n\r\nab")).toBe(true);
});

it("each event of a stream arrives when it is sent", async () => {
  let send: (text: string) => void = () => undefined;
  const { origin } = await gatewayFixture({
    handler: (_req, res) => {
      res.writeHead(200, { "content-type": "text/event-stream" });
      res.flushHeaders();
      send = (text) => res.write(`data: ${text}\n\n`);
    },
  });
  const answer = await fetch(`${origin}/fn/default/hello`);
  const reader = answer.body!.getReader();
  for (const text of ["one", "two"]) {
    send(text);
    expect(Buffer.from((await reader.read()).value!).toString()).toBe(`data: ${text}\n\n`);
  }
  await reader.cancel();
});

it("request and response stream at the same time", async () => {
  const { origin } = await gatewayFixture({ handler: (req, res) => void req.pipe(res) });
  const call = httpRequest(`${origin}/fn/default/hello`, { method: "POST" });
  call.write("ping");
  const answer = await new Promise<IncomingMessage>((resolve) => call.once("response", resolve));
  const chunks = answer[Symbol.asyncIterator]();
  expect(String((await chunks.next()).value)).toBe("ping");
  call.write("pong");
  expect(String((await chunks.next()).value)).toBe("pong");
  call.end();
  expect((await chunks.next()).done).toBe(true);
});

it("a client that does not read stops the function's writing", async () => {
  let written = 0;
  const { port } = await gatewayFixture({
    handler: (_req, res) => {
      const more = () => {
        while (written < 200_000_000) {
          written += 1_000_000;
          if (!res.write(Buffer.alloc(1_000_000))) return void res.once("drain", more);
        }
        res.end();
      };
      more();
    },
  });
  const socket = connect(port, "127.0.0.1");
  socket.pause();
  socket.write("GET /fn/default/hello HTTP/1.1\r\nHost: x\r\n\r\n");
  await standsStill(() => written);
  expect(written).toBeLessThan(50_000_000);
  socket.destroy();
});

it("a function that does not read stops the client's sending", async () => {
  const { origin } = await gatewayFixture({ handler: () => undefined });
  const call = httpRequest(`${origin}/fn/default/hello`, { method: "POST" });
  call.on("error", () => undefined);
  let sent = 0;
  while (sent < 100_000_000 && call.writableLength < 10_000_000) {
    sent += 1_000_000;
    call.write(Buffer.alloc(1_000_000));
    await new Promise(setImmediate);
  }
  expect(sent).toBeLessThan(100_000_000);
  // Nothing is read from a client that is held back, so that it goes may be noticed no sooner than by the call's limit.
  call.destroy();
});

it("forty calls at once each get their own answer", async () => {
  const { origin, gateway, platform } = await gatewayFixture({
    handler: async (req, res) => res.end(`${req.url}:${await bodyOf(req)}`),
  });
  const calls = Array.from({ length: 40 }, async (_, index) => {
    const answer = await fetch(`${origin}/fn/default/hello/${index}`, { method: "POST", body: `n${index}` });
    return answer.text();
  });
  expect(await Promise.all(calls)).toEqual(Array.from({ length: 40 }, (_, index) => `/${index}:n${index}`));
  await eventually(
    "all are over",
    () => [gateway.inFlight(), platform.leases("hello-0")],
    (left) => left.join() === "0,0",
  );
});

it("calls in a row share a connection to the replica", async () => {
  const ports = new Set<number | undefined>();
  const { origin } = await gatewayFixture({
    handler: (req, res) => {
      ports.add(req.socket.remotePort);
      res.end("ok");
    },
  });
  for (const _ of Array.from({ length: 5 })) await (await fetch(`${origin}/fn/default/hello`)).text();
  expect(ports.size).toBe(1);
});

it("an answer before the end of the request's body reaches the client", async () => {
  const { origin } = await gatewayFixture({ handler: (_req, res) => res.writeHead(413).end("too much") });
  const call = httpRequest(`${origin}/fn/default/hello`, { method: "POST" });
  call.on("error", () => undefined);
  call.write(Buffer.alloc(10_000));
  const answer = await new Promise<IncomingMessage>((resolve) => call.once("response", resolve));
  expect([answer.statusCode, String(await bodyOf(answer))]).toEqual([413, "too much"]);
  call.destroy();
});

it("early hints stay with the replica and the answer follows", async () => {
  const { origin } = await gatewayFixture({
    handler: (_req, res) => res.writeEarlyHints({ link: "</a.css>; rel=preload" }, () => void res.end("late")),
  });
  expect(await (await fetch(`${origin}/fn/default/hello`)).text()).toBe("late");
});
