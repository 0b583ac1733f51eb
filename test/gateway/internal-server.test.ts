import { writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { Client } from "undici";
import { expect, it, onTestFinished } from "vitest";
import type { WorkloadRef } from "../../src/apis/index.ts";
import { systemClock } from "../../src/controller/index.ts";
import { SlessError } from "../../src/errors/index.ts";
import { createInternalServer, gatewayClient } from "../../src/gateway/index.ts";
import { errorText } from "../../src/gateway/internal-protocol.ts";
import { eventually } from "../support/eventually.ts";
import { bodyOf, httpServer } from "../support/http-server.ts";
import { gatewayFixture, HELLO } from "./gateway-fixture.ts";
import { CALLER, CALLER_TOKEN, type RemoteGateway, remoteGateway } from "./remote-gateway.ts";

/** The server of the API role: what it gets goes on to `workload` through the client. */
async function front({ forward }: RemoteGateway, workload: WorkloadRef = HELLO) {
  const handle = (awaitsContinue: boolean): Parameters<typeof httpServer>[0] => {
    const withoutHeaders = ["authorization"];
    return (req, res) =>
      forward(workload, req, res, { path: req.url ?? "/", trigger: "invoke", withoutHeaders, awaitsContinue });
  };
  const { server, origin, port } = await httpServer(handle(false));
  server.on("checkContinue", handle(true));
  return { origin, port };
}

it("a request goes on as it came, and so does its answer", async () => {
  const { gateway } = await gatewayFixture({
    handler: async (req, res) => {
      const { method, url, headers } = req;
      res.writeHead(418, { "content-type": "text/x", "set-cookie": ["a=1", "b=2"] });
      res.end(JSON.stringify({ method, url, headers, body: (await bodyOf(req)).toString() }));
    },
  });
  const { origin } = await front(await remoteGateway(gateway));
  const answer = await fetch(`${origin}/a%2Fb?c=d`, {
    method: "PATCH",
    body: "hi",
    headers: { "x-own": "1", "x-request-id": "r-1", authorization: "Bearer of-the-user", "x-sless-trigger": "cron" },
  });
  expect([answer.status, answer.headers.getSetCookie(), answer.headers.get("x-request-id")]).toEqual([
    418,
    ["a=1", "b=2"],
    "r-1",
  ]);
  const seen = (await answer.json()) as { headers: Record<string, string> };
  expect(seen).toMatchObject({
    method: "PATCH",
    url: "/a%2Fb?c=d",
    body: "hi",
    headers: {
      "x-own": "1",
      "x-request-id": "r-1",
      "x-sless-trigger": "invoke",
      "x-sless-timeout-ms": "30000",
      "x-forwarded-host": origin.slice("http://".length),
      "x-forwarded-for": "127.0.0.1, 127.0.0.1",
    },
  });
  expect(Object.keys(seen.headers)).not.toContain("authorization");
  expect(JSON.stringify(seen)).not.toContain(CALLER_TOKEN);
});

it("both sides of a call flow at once", async () => {
  const { gateway } = await gatewayFixture({ handler: (req, res) => void req.pipe(res) });
  const { origin } = await front(await remoteGateway(gateway));
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  void writer.write(Buffer.from("one"));
  const answer = await fetch(origin, { method: "POST", body: readable, duplex: "half" } as RequestInit);
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
  const next = async () => Buffer.from((await reader.read()).value ?? []).toString();
  expect(await next()).toBe("one");
  void writer.write(Buffer.from("two"));
  expect(await next()).toBe("two");
  void writer.close();
  expect((await reader.read()).done).toBe(true);
});

it.each([
  ["nothing of that name", { name: "nobody" }, {}],
  ["no replica", {}, {}],
  ["no replica wanted", {}, { replicas: 0 }],
])("of %s the client is told what the gateway would tell it", async (_name, ref, endpoint) => {
  const { gateway } = await gatewayFixture({ endpoint });
  const workload = { ...HELLO, ...ref };
  const near = await httpServer((req, res) => gateway.forward(workload, req, res, { path: "/", trigger: "invoke" }));
  const far = await front(await remoteGateway(gateway), workload);
  const ask = async (origin: string) => {
    const answer = await fetch(origin, { method: "POST", body: "x", headers: { "x-request-id": "r" } });
    return [answer.status, answer.headers.get("retry-after"), answer.headers.get("x-sless-error"), await answer.text()];
  };
  expect(await ask(far.origin)).toEqual(await ask(near.origin));
});

it("an answer that breaks off breaks off", async () => {
  const { gateway } = await gatewayFixture({
    handler: (_req, res) => {
      res.write("part");
      setImmediate(() => res.destroy());
    },
  });
  const { origin } = await front(await remoteGateway(gateway));
  await expect(fetch(origin).then((answer) => answer.text())).rejects.toThrow();
});

it("a client that leaves ends the call at the replica", async () => {
  let closed = false;
  const { gateway } = await gatewayFixture({
    handler: (_req, res) => {
      res.once("close", () => {
        closed = true;
      });
      res.write("part");
    },
  });
  const { origin } = await front(await remoteGateway(gateway));
  const abort = new AbortController();
  const answer = await fetch(origin, { signal: abort.signal });
  expect(answer.status).toBe(200);
  abort.abort();
  await eventually("the replica sees the end", () => closed, Boolean);
  await eventually("the call is over", gateway.inFlight, (calls) => calls === 0);
});

it("a function cannot pass its answer off as an error of the gateway", async () => {
  const forged = errorText(new SlessError("no_such_function", { namespace: "default", name: "hello" }));
  const { gateway } = await gatewayFixture({
    handler: (_req, res) => res.writeHead(404, { "x-sless-error": forged }).end("mine"),
  });
  const remote = await remoteGateway(gateway);
  const answer = await remote.invoke(HELLO, { trigger: "invoke" });
  expect([answer.status, answer.headers["x-sless-error"], await text(answer.body)]).toEqual([404, undefined, "mine"]);
});

it.each([
  ["without a token", {}, 401, "unauthenticated"],
  ["with a token that nobody knows", { "x-sless-token": "guess" }, 401, "unauthenticated"],
  ["with the token where clients have theirs", { authorization: `Bearer ${CALLER_TOKEN}` }, 401, "unauthenticated"],
  ["with the token of another account", { "x-sless-token": "tenant" }, 403, "forbidden"],
  ["while nobody can tell whose token it is", { "x-sless-token": "away" }, 503, "cluster_unavailable"],
])("whoever comes to the internal port %s is refused, whatever he names", async (_name, headers, status, code) => {
  const { gateway } = await gatewayFixture({ handler: (_req, res) => res.end("in") });
  const { url } = await remoteGateway(gateway, {
    async authenticate(token) {
      if (token === "tenant") return { username: "system:serviceaccount:team-a:default" };
      if (token === "away") throw new SlessError("cluster_unavailable", { cause: "away" });
      throw new SlessError("unauthenticated", { cause: "its token is not valid here" });
    },
  });
  for (const path of ["/internal/default/functions/hello/", "/internal/default/functions/nobody", "/", "/metrics"]) {
    const answer = await fetch(`${url}${path}`, { method: "POST", body: "x", headers: { ...headers } });
    expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([status, code]);
  }
});

it.each([
  "/",
  "/fn/default/hello",
  "/internal/default/hello",
  "/internal/default/jobs/hello",
  "/internal/default/functions/hel%6co",
  "/internal/default/functions/../functions/hello",
  "/internal//functions/hello",
  "/internal/Default/functions/hello",
])("%s is no address of the internal port", async (path) => {
  const { gateway } = await gatewayFixture({ handler: (_req, res) => res.end("in") });
  const { url } = await remoteGateway(gateway);
  const headers = { "x-sless-token": CALLER_TOKEN, "x-sless-trigger": "cron" };
  // Unlike fetch, it sends a path as it stands.
  const client = new Client(url);
  onTestFinished(() => client.destroy());
  expect((await client.request({ method: "GET", path, headers })).statusCode).toBe(404);
});

it("a call that does not say how it came is refused", async () => {
  const { gateway } = await gatewayFixture({ handler: (_req, res) => res.end("in") });
  const { url } = await remoteGateway(gateway);
  for (const trigger of [undefined, "Cron", "a b", "x".repeat(30)]) {
    const headers = { "x-sless-token": CALLER_TOKEN, ...(trigger ? { "x-sless-trigger": trigger } : {}) };
    expect((await fetch(`${url}/internal/default/functions/hello`, { headers })).status).toBe(400);
  }
});

it("the public port knows no internal address, and drops what only the internal one may say", async () => {
  const { origin } = await gatewayFixture({ handler: (req, res) => res.end(JSON.stringify(req.headers)) });
  const headers = { "x-sless-token": CALLER_TOKEN, "x-sless-trigger": "cron", "x-sless-timeout-ms": "1" };
  expect((await fetch(`${origin}/internal/default/functions/hello`, { headers })).status).toBe(404);
  const seen = (await (await fetch(`${origin}/fn/default/hello`, { headers })).json()) as Record<string, string>;
  expect(seen).toMatchObject({ "x-sless-trigger": "http", "x-sless-timeout-ms": "30000" });
  expect(seen["x-sless-token"]).toBeUndefined();
});

it("what the gateway has against its caller is not told on as if it were about who called that", async () => {
  const { gateway } = await gatewayFixture({ handler: (_req, res) => res.end("in") });
  const remote = await remoteGateway(gateway, { token: "expired" });
  await expect(remote.invoke(HELLO, { trigger: "cron" })).rejects.toMatchObject({ code: "gateway_unreachable" });
  const { origin } = await front(remote);
  const answer = await fetch(origin);
  expect([answer.status, await answer.json()]).toMatchObject([503, { code: "gateway_unreachable" }]);
});

it.each([
  ["nobody listens", async (remote: RemoteGateway) => remote.stop()],
  ["its token is gone", async ({ tokenFile }: RemoteGateway) => writeFile(tokenFile, "")],
])("when %s, calls fail with what to do", async (_name, spoil) => {
  const { gateway } = await gatewayFixture({ handler: (_req, res) => res.end("in") });
  const remote = await remoteGateway(gateway);
  await spoil(remote);
  const call = remote.invoke(HELLO, { trigger: "invoke", body: Readable.from([Buffer.from("x")]) });
  await expect(call).rejects.toMatchObject({ code: "gateway_unreachable", status: 503 });
});

it("a token file that is not there is told by name", async () => {
  const client = gatewayClient({ url: "http://127.0.0.1:1", tokenFile: "/no/such/token", clock: systemClock });
  await expect(client.invoke(HELLO, { trigger: "invoke" })).rejects.toThrow("/no/such/token");
  await client.close();
});

it("a call behind one whose body nobody read to its end is answered, too", async () => {
  const { gateway } = await gatewayFixture({
    async handler(req, res) {
      if (req.method === "GET") return void res.end("next");
      let taken = 0;
      await eventually(
        "nothing of it goes on",
        () => {
          const before = taken;
          taken = req.socket.bytesRead;
          return { before, taken };
        },
        (seen) => seen.before > 65_536 && seen.taken === seen.before,
      );
      res.end("early");
    },
  });
  const { url } = await remoteGateway(gateway);
  const socket = connect(Number(new URL(url).port), "127.0.0.1").on("error", () => undefined);
  onTestFinished(() => void socket.destroy());
  let text = "";
  socket.on("data", (chunk) => {
    text += chunk;
  });
  const headers = `host: x\r\nx-sless-token: ${CALLER_TOKEN}\r\nx-sless-trigger: cron`;
  const head = (method: string, length: number) =>
    `${method} /internal/default/functions/hello HTTP/1.1\r\n${headers}\r\ncontent-length: ${length}\r\n\r\n`;
  const large = Buffer.alloc(32 << 20);
  socket.write(head("POST", large.length));
  socket.write(large);
  await eventually(
    "the first answer",
    () => text,
    (seen) => seen.includes("early"),
  );
  socket.write(head("GET", 0));
  await eventually(
    "the second answer",
    () => text,
    (seen) => seen.includes("next"),
  );
});

it("a stop lets calls finish that are under way", async () => {
  const finish = Promise.withResolvers<void>();
  let arrived = false;
  const { gateway } = await gatewayFixture({
    handler: async (_req, res) => {
      arrived = true;
      await finish.promise;
      res.end("done");
    },
  });
  const server = createInternalServer({
    gateway,
    authenticate: async () => ({ username: CALLER }),
    callers: [CALLER],
    log: { warn: () => undefined },
  });
  const { url } = await server.listen({ host: "127.0.0.1", port: 0 });
  const headers = { "x-sless-token": "t", "x-sless-trigger": "cron" };
  const answer = fetch(`${url}/internal/default/functions/hello`, { headers });
  await eventually("the call arrives", () => arrived, Boolean);
  const closed = server.close();
  await expect(fetch(`${url}/internal/default/functions/hello`, { headers })).rejects.toThrow();
  finish.resolve();
  expect(await (await answer).text()).toBe("done");
  await closed;
});
