import { request as httpRequest, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { expect, it } from "vitest";
import { createMetrics, createServer } from "../../src/server/index.ts";
import { eventually } from "../support/eventually.ts";
import { bodyOf, httpServer } from "../support/http-server.ts";
import { rawExchange } from "../support/raw-exchange.ts";
import { liveService, type ServerFixture, serverFixture } from "./server-fixture.ts";

const HELLO = { kind: "Service", namespace: "default", name: "hello" } as const;

/** Makes the service `default/hello` answer with this handler. */
async function serveHello(
  { platform, reachable }: ServerFixture,
  handler: Parameters<typeof httpServer>[0],
): Promise<void> {
  const { origin } = await httpServer(handler);
  reachable.set("default/hello", liveService("hello"));
  platform.serve(HELLO, [{ replica: "hello-0", origin }]);
}

it("a call reaches its function with any method, type and size of body", async () => {
  const fixture = await serverFixture();
  await serveHello(fixture, async (req, res) => res.end(`${req.method} ${req.url} ${(await bodyOf(req)).length}`));
  const answer = await fetch(`${fixture.url}/fn/default/hello/a?b`, {
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: "{".repeat(3_000_000),
  });
  expect(await answer.text()).toBe("PUT /a?b 3000000");
});

it("a call that waits for leave to send its body gets it from its function", async () => {
  const fixture = await serverFixture();
  await serveHello(fixture, async (req, res) => res.end(await bodyOf(req)));
  const head = "Host: localhost\r\nExpect: 100-continue\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi";
  const answer = await rawExchange(fixture.port, `POST /fn/default/hello HTTP/1.1\r\n${head}`);
  expect(answer.match(/HTTP\/1.1 \d+/g)).toEqual(["HTTP/1.1 100", "HTTP/1.1 200"]);
  const api = await rawExchange(fixture.port, `POST /v1/namespaces/default/repositories/x/approve HTTP/1.1\r\n${head}`);
  expect(api.match(/HTTP\/1.1 \d+/g)).toEqual(["HTTP/1.1 100", "HTTP/1.1 415"]);
});

it.each([
  ["a foreign host", "/healthz", "Host: evil.example", "421"],
  ["a foreign host, calling a function", "/fn/default/hello", "Host: evil.example", "421"],
  ["no host", "/healthz", "X-Nothing: 1", "400"],
  ["a page of elsewhere", "/v1/namespaces/default/functions", "Host: localhost\r\nOrigin: http://evil.example", "403"],
  [
    "a page of elsewhere, calling a function",
    "/fn/default/hello",
    "Host: localhost\r\nOrigin: http://evil.example",
    "404",
  ],
])("%s is answered as such", async (_name, path, headers, status) => {
  const { port } = await serverFixture();
  const answer = await rawExchange(port, `GET ${path} HTTP/1.1\r\n${headers}\r\nConnection: close\r\n\r\n`);
  expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
});

it("health tells that the process answers, readiness what it still waits for", async () => {
  let missing: string | undefined = "not synced yet";
  const { json } = await serverFixture({
    readiness: { functions: () => missing, triggers: () => undefined },
  });
  expect(await json("/healthz")).toEqual({ status: 200, body: { status: "ok" } });
  expect(await json("/readyz")).toEqual({
    status: 503,
    body: { ready: false, reasons: ["functions: not synced yet"] },
  });
  missing = undefined;
  expect(await json("/readyz")).toEqual({ status: 200, body: { ready: true, reasons: [] } });
});

it("a check that fails and one that throws make it unready", async () => {
  const { json } = await serverFixture({
    readiness: {
      store: () => Promise.reject(new Error("disk gone")),
      git: () => {
        throw new Error("no git");
      },
    },
  });
  expect((await json("/readyz")).body).toEqual({ ready: false, reasons: ["store: disk gone", "git: no git"] });
});

it("calls are counted by function and status", async () => {
  const fixture = await serverFixture();
  await serveHello(fixture, (_req, res) => res.writeHead(201).end());
  await (await fetch(`${fixture.url}/fn/default/hello`)).text();
  await (await fetch(`${fixture.url}/fn/default/nobody`)).text();
  const text = await eventually(
    "the call is counted",
    async () => (await fetch(`${fixture.url}/metrics`)).text(),
    (seen) => seen.includes('sless_gateway_calls_total{namespace="default",function="hello",status="201"} 1'),
  );
  expect(text).toContain('sless_gateway_call_duration_seconds_count{namespace="default",function="hello"} 1');
  expect(text).not.toContain("nobody");
});

it("invoking needs no trigger, passes body and answer, and keeps the caller's credentials to itself", async () => {
  const fixture = await serverFixture();
  await fixture.store.create(
    { kind: "Service", metadata: { name: "hello", namespace: "default" }, spec: { runtime: "python3.11" } },
    { owner: "api" },
  );
  await serveHello(fixture, async (req, res) => {
    const { authorization, cookie, "x-sless-trigger": trigger, "content-type": type } = req.headers;
    res.statusCode = 202;
    res.end(JSON.stringify({ url: req.url, authorization, cookie, trigger, type, body: String(await bodyOf(req)) }));
  });
  const answer = await fixture.json("/v1/namespaces/default/services/hello/invoke", {
    method: "POST",
    headers: { authorization: "Bearer secret", cookie: "a=1", "content-type": "application/json" },
    body: '{"name": "Ada"}',
  });
  expect(answer).toEqual({
    status: 202,
    body: { url: "/", trigger: "invoke", type: "application/json", body: '{"name": "Ada"}' },
  });
  expect(await fixture.json("/v1/namespaces/default/services/nobody/invoke", { method: "POST" })).toMatchObject({
    status: 404,
    body: { code: "not_found" },
  });
});

it("a taken port is told as such", async () => {
  const { port } = await serverFixture();
  const other = await serverFixture();
  const deps = { store: other.store, runtimes: new Map(), metrics: createMetrics() } as unknown as Parameters<
    typeof createServer
  >[0];
  const second = createServer({ ...deps, gateway: { close: async () => undefined } as never });
  await expect(second.listen({ host: "127.0.0.1", port })).rejects.toMatchObject({ code: "port_taken" });
  await second.close();
});

it("closing lets a running call finish and refuses new ones", async () => {
  const fixture = await serverFixture();
  const begun = Promise.withResolvers<() => void>();
  await serveHello(fixture, (_req, res) => begun.resolve(() => res.end("done")));
  const running = fetch(`${fixture.url}/fn/default/hello`);
  const finish = await begun.promise;
  const closed = fixture.server.close();
  const refused = () =>
    new Promise<boolean>((resolve) => {
      const socket = connect(fixture.port, "127.0.0.1");
      socket.once("connect", () => resolve(false)).once("error", () => resolve(true));
      socket.once("connect", () => socket.destroy());
    });
  await eventually("new connections are refused", refused, Boolean);
  finish();
  const answer = await running;
  expect([answer.status, await answer.text(), answer.headers.get("connection")]).toEqual([200, "done", "close"]);
  await closed;
});

it("closing breaks off what does not finish in time", async () => {
  const fixture = await serverFixture({ closeTimeoutMs: 50 });
  await serveHello(fixture, (_req, res) => void res.write("part"));
  const answer = await fetch(`${fixture.url}/fn/default/hello`);
  await fixture.server.close();
  await expect(answer.text()).rejects.toThrow();
  expect(fixture.platform.leases("hello-0")).toBe(0);
});

it("closing does not wait for idle connections", async () => {
  const fixture = await serverFixture();
  const agentless = httpRequest(`${fixture.url}/healthz`, { headers: { connection: "keep-alive" } }).end();
  const answer = await new Promise<IncomingMessage>((resolve) => agentless.once("response", resolve));
  await bodyOf(answer);
  const began = performance.now();
  await fixture.server.close();
  expect(performance.now() - began).toBeLessThan(20_000);
});
