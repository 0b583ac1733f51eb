import { createServer } from "node:http";
import { connect } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { eventually } from "../support/eventually.ts";
import { httpServer } from "../support/http-server.ts";
import { rawExchange } from "../support/raw-exchange.ts";
import { liveService, serverFixture } from "./server-fixture.ts";

const HELLO = { kind: "Service", namespace: "default", name: "hello" } as const;
const HOST = "hello.default.fn.example.org";

/** A server whose functions have hosts; the service `default/hello` answers with its path, and takes upgrades. */
async function openHosts() {
  const asked: unknown[] = [];
  const authorize = (request: unknown) => void asked.push(request);
  const fixture = await serverFixture(
    { guard: { refusal: () => undefined }, authorize },
    { ingressHost: "fn.example.org" },
  );
  const server = createServer((req, res) => res.end(`function ${req.url}`));
  server.on("upgrade", (req, socket) => {
    socket.end(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n${req.url}`);
  });
  const { origin } = await httpServer(() => undefined, server);
  fixture.reachable.set("default/hello", liveService("hello"));
  fixture.platform.serve(HELLO, [{ replica: "hello-0", origin }]);
  return { ...fixture, asked };
}

it.each(["/", "/v1/whoami", "/metrics", "/healthz", "/internal/default/functions/hello", "/fn/default/other"])(
  "at the host of a function %s is the function's own",
  async (path) => {
    const { port, asked } = await openHosts();
    const answer = await rawExchange(port, `GET ${path} HTTP/1.1\r\nHost: ${HOST}\r\nConnection: close\r\n\r\n`);
    expect(answer).toContain(`function ${path}`);
    expect(asked).toEqual([]);
  },
);

it("at every other host sless answers", async () => {
  const { port } = await openHosts();
  const ask = (host: string) =>
    rawExchange(port, `GET /v1/whoami HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  expect(await ask("fn.example.org")).toContain('"subject":"local"');
  expect(await ask("sless.example.org")).toContain('"subject":"local"');
  expect(await ask("nobody.default.fn.example.org")).toContain("no_such_function");
});

it("a request in absolute form goes where its URL says, not where its Host header does", async () => {
  const { port } = await openHosts();
  const request = `GET http://${HOST}/v1/whoami HTTP/1.1\r\nHost: sless.example.org\r\nConnection: close\r\n\r\n`;
  expect(await rawExchange(port, request)).toContain("function /v1/whoami");
});

it("WebSocket goes through by host, too", async () => {
  const { port } = await openHosts();
  const socket = connect(port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  let seen = "";
  socket.on("data", (chunk) => {
    seen += chunk;
  });
  const head = `GET /chat HTTP/1.1\r\nHost: ${HOST}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: k\r\n\r\n`;
  socket.write(head);
  await eventually(
    "the function answers",
    () => seen,
    (text) => text.includes("101") && text.includes("/chat"),
  );
});
