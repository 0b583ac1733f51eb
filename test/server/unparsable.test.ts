import { connect } from "node:net";
import { expect, it } from "vitest";
import { httpServer } from "../support/http-server.ts";
import { rawExchange } from "../support/raw-exchange.ts";
import { liveService, serverFixture } from "./server-fixture.ts";

const HELLO = { kind: "Service", namespace: "default", name: "hello" } as const;
const HOST = "Host: localhost\r\n";
const OK = `GET /healthz HTTP/1.1\r\n${HOST}\r\n`;

function statuses(answer: string): string[] {
  return [...answer.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => match[1]!);
}

const faults: Record<string, [request: string, status: string, cause: string]> = {
  "a length and chunks": [
    `POST /fn/default/hello HTTP/1.1\r\n${HOST}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    "400",
    "Content-Length",
  ],
  "two lengths": [
    `POST /healthz HTTP/1.1\r\n${HOST}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello`,
    "400",
    "Content-Length",
  ],
  "headers without end": [`GET /healthz HTTP/1.1\r\n${HOST}X: ${"x".repeat(20_000)}\r\n\r\n`, "431", "16 KiB"],
  "no HTTP at all": ["hello, is there anybody?\r\n\r\n", "400", "no HTTP/1.1"],
  "two hosts": [
    `GET /healthz HTTP/1.1\r\n${HOST}Host: 127.0.0.1\r\nConnection: close\r\n\r\n`,
    "400",
    "2 Host headers",
  ],
  "no host": ["GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n", "400", "no Host header"],
  "two hosts for a WebSocket": [
    `GET /fn/default/hello HTTP/1.1\r\n${HOST}Host: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
    "400",
    "",
  ],
  "chunks of HTTP/1.0": [
    `POST /fn/default/hello HTTP/1.0\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    "400",
    "HTTP/1.0 has no Transfer-Encoding",
  ],
  "a target that is no path": [`GET healthz HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`, "400", ""],
};

it.each(Object.entries(faults))("%s is answered as every other fault", async (_name, [request, status, cause]) => {
  const { port } = await serverFixture();
  const answer = await rawExchange(port, request);
  expect(statuses(answer)).toEqual([status]);
  if (cause === "") return;
  const [, body = ""] = answer.split("\r\n\r\n");
  expect(JSON.parse(body)).toEqual({
    error: expect.stringContaining(cause),
    code: "invalid_request",
    details: [],
  });
});

it("what is no HTTP behind an answered request is answered once, however much of it comes", async () => {
  const { port } = await serverFixture();
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => undefined);
  let answer = "";
  socket.write(OK);
  for await (const chunk of socket) {
    const isFirst = answer === "";
    answer += (chunk as Buffer).toString("latin1");
    if (isFirst) for (let part = 0; part < 10; part++) socket.write("garbage\r\n\r\n".repeat(10));
  }
  expect(statuses(answer)).toEqual(["200", "400"]);
});

it("a request whose body turns out to be none after its answer began gets no second answer", async () => {
  const fixture = await serverFixture();
  const { origin } = await httpServer((_req, res) => void res.writeHead(200).end("early"));
  fixture.reachable.set("default/hello", liveService("hello"));
  fixture.platform.serve(HELLO, [{ replica: "hello-0", origin }]);
  const socket = connect(fixture.port, "127.0.0.1");
  socket.on("error", () => undefined);
  let answer = "";
  socket.write(`POST /fn/default/hello HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n`);
  for await (const chunk of socket) {
    const isFirst = answer === "";
    answer += (chunk as Buffer).toString("latin1");
    if (isFirst) socket.write("no chunk\r\n\r\n");
  }
  expect(statuses(answer)).toEqual(["200"]);
});

it("an answer that is under way is sent to its end, whatever comes meanwhile", async () => {
  const fixture = await serverFixture();
  const sent = Promise.withResolvers<void>();
  const { origin } = await httpServer(async (_req, res) => {
    res.writeHead(200).write("slow ");
    await sent.promise;
    res.end("but whole");
  });
  fixture.reachable.set("default/hello", liveService("hello"));
  fixture.platform.serve(HELLO, [{ replica: "hello-0", origin }]);
  const socket = connect(fixture.port, "127.0.0.1");
  let answer = "";
  socket.write(`GET /fn/default/hello HTTP/1.1\r\n${HOST}\r\n`);
  for await (const chunk of socket) {
    const isFirst = answer === "";
    answer += (chunk as Buffer).toString("latin1");
    if (isFirst) socket.write("garbage\r\n\r\n", () => sent.resolve());
  }
  expect(statuses(answer)).toEqual(["200"]);
  expect(answer).toContain("but whole");
});

it.each(["http://127.0.0.1:9191", "HTTP://localhost"])(
  "a target with its whole URL is understood (%s)",
  async (url) => {
    const fixture = await serverFixture();
    const { origin } = await httpServer((req, res) => void res.end(`${req.url} ${req.headers["x-forwarded-host"]}`));
    fixture.reachable.set("default/hello", liveService("hello"));
    fixture.platform.serve(HELLO, [{ replica: "hello-0", origin }]);
    const rest = "Host: ignored.example\r\nConnection: close\r\n\r\n";
    const call = await rawExchange(fixture.port, `GET ${url}/fn/default/hello/a?b=c HTTP/1.1\r\n${rest}`);
    expect(call).toContain(`/a?b=c ${url.slice(7)}`);
    const health = await rawExchange(fixture.port, `GET ${url}/healthz HTTP/1.1\r\n${rest}`);
    expect(statuses(health)).toEqual(["200"]);
  },
);

it.each(["http://evil.example/healthz", "http://localhost@evil.example/fn/default/hello", "http:///healthz"])(
  "a URL of elsewhere is refused, whatever Host says (%s)",
  async (url) => {
    const { port } = await serverFixture();
    const answer = await rawExchange(port, `GET ${url} HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`);
    expect(statuses(answer)).toEqual(["421"]);
  },
);
