import { createServer, type IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { httpServer } from "../support/http-server.ts";
import { rawExchange } from "../support/raw-exchange.ts";
import { liveService, type ServerFixture, serverFixture } from "./server-fixture.ts";

const HELLO = { kind: "Service", namespace: "default", name: "hello" } as const;
const head = (path: string, more = "") =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: k\r\n${more}\r\n`;

type OnUpgrade = (req: IncomingMessage, socket: Duplex, head: Buffer) => void;

/** The service `default/hello`, whose server takes upgrades. */
async function serveUpgrades(fixture: ServerFixture, onUpgrade: OnUpgrade | undefined, spec: object = {}) {
  const server = createServer((_req, res) => res.writeHead(426, { "x-why": "plain" }).end("plain only"));
  if (onUpgrade) server.on("upgrade", onUpgrade);
  const { origin } = await httpServer(() => undefined, server);
  fixture.reachable.set("default/hello", liveService("hello", spec));
  fixture.platform.serve(HELLO, [{ replica: "hello-0", origin }]);
}

/** Takes every upgrade and answers each chunk with `<path>:<chunk>`. */
const echo: OnUpgrade = (req, socket) => {
  socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nX-Own: 1\r\n\r\n");
  socket.on("data", (chunk) => socket.write(`${req.url}:${chunk}`)).on("error", () => undefined);
  socket.on("end", () => socket.end());
};

const released = ({ platform }: ServerFixture) =>
  eventually(
    "the lease is released",
    () => platform.leases("hello-0"),
    (leases) => leases === 0,
  );

function collecting(socket: Socket): () => string {
  let text = "";
  socket.on("data", (chunk) => {
    text += chunk;
  });
  socket.on("error", () => undefined);
  return () => text;
}

it("a WebSocket goes through to its function with bytes both ways", async () => {
  const fixture = await serverFixture();
  await serveUpgrades(fixture, echo);
  const client = connect(fixture.port, "127.0.0.1");
  const seen = collecting(client);
  client.write(`${head("/fn/default/hello/chat?room=1")}early`);
  await eventually("the first answer", seen, (text) => text.endsWith("/chat?room=1:early"));
  expect(seen()).toMatch(/^HTTP\/1.1 101 Switching Protocols\r\n/);
  expect(seen()).toMatch(/X-Own: 1\r\nx-request-id: [^\r]+\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n/);
  client.write("later");
  await eventually("the second answer", seen, (text) => text.endsWith("/chat?room=1:later"));
  expect(fixture.platform.leases("hello-0")).toBe(1);
  client.end();
  await released(fixture);
});

it("a function that takes no upgrades answers as to any call", async () => {
  const fixture = await serverFixture();
  await serveUpgrades(fixture, undefined);
  const answer = await rawExchange(fixture.port, head("/fn/default/hello"));
  expect(answer).toMatch(/^HTTP\/1.1 426 /);
  expect(answer).toContain("x-why: plain");
  expect(answer).toContain("plain only");
  await released(fixture);
});

it.each([
  ["nobody", "/fn/default/nobody", "404", "no_such_function"],
  ["no address", "/fn/default", "404", "not_found"],
])("an upgrade to %s is refused with a reason", async (_name, path, status, code) => {
  const { port } = await serverFixture();
  const answer = await rawExchange(port, head(path));
  expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(answer).toContain(`"code":"${code}"`);
});

it("an upgrade to what no replica serves is told so", async () => {
  const fixture = await serverFixture();
  fixture.reachable.set("default/hello", liveService("hello"));
  expect(await rawExchange(fixture.port, head("/fn/default/hello"))).toMatch(/^HTTP\/1.1 503 /);
});

it("a replica that closes before it answers is told as such", async () => {
  const fixture = await serverFixture();
  await serveUpgrades(fixture, (_req, socket) => socket.destroy());
  expect(await rawExchange(fixture.port, head("/fn/default/hello"))).toContain('"code":"connection_refused"');
});

it("a replica that does not answer in time is told as a timeout", async () => {
  const fixture = await serverFixture({}, { graceMs: 50 });
  await serveUpgrades(fixture, (_req, socket) => void socket.resume().once("end", () => socket.end()), {
    timeoutSec: 0.05,
  });
  expect(await rawExchange(fixture.port, head("/fn/default/hello"))).toContain('"code":"function_timeout"');
});

it("an upgrade by a foreign host is refused", async () => {
  const { port } = await serverFixture();
  const answer = await rawExchange(port, head("/fn/default/hello").replace("localhost", "evil.example"));
  expect(answer).toMatch(/^HTTP\/1.1 421 /);
});

it("an upgrade to another protocol, or elsewhere, is answered as a plain request", async () => {
  const { port } = await serverFixture();
  const more = "Connection: close\r\n";
  expect(await rawExchange(port, head("/healthz", more).replace("Connection: Upgrade\r\n", ""))).toMatch(/ 200 OK/);
  const h2c = head("/healthz", "")
    .replace("websocket", "h2c")
    .replace("Connection: Upgrade", "Connection: Upgrade, close");
  expect(await rawExchange(port, h2c)).toMatch(/^HTTP\/1.1 200 OK/);
});

it("an upgrade behind a call that is not answered yet is answered after it, as a plain request", async () => {
  const fixture = await serverFixture();
  let asking = Promise.withResolvers<() => void>();
  const server = createServer((req, res) => {
    if (req.url === "/slow") asking.resolve(() => res.end("slow"));
    else res.end("plain");
  });
  const { origin } = await httpServer(() => undefined, server);
  fixture.reachable.set("default/hello", liveService("hello"));
  fixture.platform.serve(HELLO, [{ replica: "hello-0", origin }]);
  const slow = "GET /fn/default/hello/slow HTTP/1.1\r\nHost: localhost\r\n\r\n";
  for (const [path, answer] of [
    ["/fn/default/hello/chat", / 200 OK.*plain$/s],
    ["/fn/default/nobody", / 404 .*no_such_function/s],
    ["/fn/default", / 404 .*not_found/s],
  ] as const) {
    asking = Promise.withResolvers();
    const answers = rawExchange(fixture.port, slow + head(path));
    (await asking.promise)();
    expect(await answers).toMatch(/ 200 OK.*slowHTTP/s);
    expect(await answers).toMatch(answer);
  }
});

it("a request that asks for an upgrade and has a body keeps it", async () => {
  const fixture = await serverFixture();
  const server = createServer((req, res) => void req.pipe(res));
  const { origin } = await httpServer(() => undefined, server);
  fixture.reachable.set("default/hello", liveService("hello"));
  fixture.platform.serve(HELLO, [{ replica: "hello-0", origin }]);
  const asking = head("/fn/default/hello", "Content-Length: 5\r\n").replace("Upgrade\r\n", "Upgrade, close\r\n");
  for (const method of ["GET", "POST"])
    expect(await rawExchange(fixture.port, `${asking.replace("GET", method)}hello`)).toMatch(/^HTTP\/1.1 200 .*hello/s);
});

it("a client that was refused and does not close is closed", async () => {
  const { port } = await serverFixture();
  const client = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  const ended = new Promise<void>((resolve) => client.once("end", resolve));
  const closed = new Promise<void>((resolve) => client.once("error", () => resolve()));
  client.resume().write(head("/fn/default/nobody"));
  await ended;
  const more = setInterval(() => client.write("more"), 50);
  await closed;
  clearInterval(more);
});

it("closing the server ends open WebSockets", async () => {
  const fixture = await serverFixture();
  await serveUpgrades(fixture, echo);
  const client = connect(fixture.port, "127.0.0.1");
  const seen = collecting(client);
  client.write(head("/fn/default/hello"));
  await eventually("the upgrade is there", seen, (text) => text.includes("101"));
  const ended = new Promise((resolve) => client.once("close", resolve));
  await fixture.server.close();
  await ended;
  await released(fixture);
});

it("upgrades that are refused are told why, and leave no connection behind, whatever comes after", async () => {
  const fixture = await serverFixture();
  const answers = Array.from({ length: 20 }, async () => {
    const client = connect(fixture.port, "127.0.0.1");
    const seen = collecting(client);
    client.write(head("/fn/default/hello", "Host: other\r\n"));
    const text = await eventually("it is answered", seen, (answer) => answer.includes("\r\n\r\n{"));
    client.write("more");
    client.destroy();
    return text;
  });
  for (const answer of answers) expect(await answer).toMatch(/^HTTP\/1.1 400 .*2 Host headers.*invalid_request/s);
  const connections = async () => {
    const text = await (await fetch(`http://127.0.0.1:${fixture.port}/metrics`)).text();
    return Number(/^sless_http_connections (\d+)$/m.exec(text)?.[1]);
  };
  await eventually("they are gone", connections, (count) => count <= 2);
});
