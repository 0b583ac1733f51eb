import { type AddressInfo, createServer, type Socket } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { rawExchange } from "../support/raw-exchange.ts";
import { type GatewayFixture, gatewayFixture, HELLO } from "./gateway-fixture.ts";

/** Answers each request with these bytes, whatever they are: code of users shares a process with the runtime's server. */
async function rawReplica({ platform }: GatewayFixture, answer: string): Promise<void> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.once("data", () => socket.write(answer, "latin1"));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const { port } = server.address() as AddressInfo;
  platform.serve(HELLO, [{ replica: "hello-0", origin: `http://127.0.0.1:${port}` }]);
}

const OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const header = (line: string) => `HTTP/1.1 200 OK\r\n${line}\r\nContent-Length: 2\r\n\r\nok`;
const WAYS = {
  "a call": "GET /fn/default/hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
  "an upgrade": "GET /fn/default/hello HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
};
const ways = Object.entries(WAYS);

async function answerTo(way: string, answer: string): Promise<string> {
  const fixture = await gatewayFixture();
  await rawReplica(fixture, answer);
  return rawExchange(fixture.port, way);
}

describe.each(ways)("what is no answer to %s is told as that, and harms nobody else", (_name, way) => {
  it.each([
    [
      "a length and chunks",
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
    ],
    ["two lengths", header("Content-Length: 4")],
    ["a length that is none", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nok"],
    ["a header that goes on in the next line", header("X: a\r\n set-cookie: b")],
    ["half a line end in a header", header("X: a\rset-cookie: b")],
    ["a NUL in a header", header("X: a\0b")],
    ["a name with a space", header("X Y: a")],
    ["headers without end", `HTTP/1.1 200 OK\r\nX: ${"x".repeat(200_000)}`],
    ["interim answers without end", "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n".repeat(10_000)],
    ["another protocol", "220 mail ESMTP\r\n\r\n"],
    ["a status below all", "HTTP/1.1 042 What\r\nContent-Length: 2\r\n\r\nok"],
  ])("%s", async (_case, answer) => {
    const fixture = await gatewayFixture();
    await rawReplica(fixture, answer);
    const told = await rawExchange(fixture.port, way);
    expect(told).toMatch(/^HTTP\/1.1 502 Bad Gateway\r\n/);
    expect(told).toMatch(/"code":"(response_invalid|connection_refused)"/);
    expect(told).not.toContain("set-cookie");
    await rawReplica(fixture, OK);
    expect(await rawExchange(fixture.port, WAYS["a call"])).toMatch(/^HTTP\/1.1 200 OK\r\n/);
  });
});

it.each(ways)("%s is answered once, however many answers there are", async (_name, way) => {
  const told = await answerTo(way, OK + header("X-Second: 1"));
  expect(told.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200"]);
  expect(told).toMatch(/\r\n\r\nok$/);
});

it.each(ways)("an answer without a body to %s tells no length of one", async (_name, way) => {
  const told = await answerTo(way, "HTTP/1.1 204 No Content\r\nContent-Length: 40\r\nX-Own: 1\r\n\r\n");
  expect(told).toMatch(/^HTTP\/1.1 204 No Content\r\n.*X-Own: 1/s);
  expect(told.toLowerCase()).not.toContain("content-length");
});

it("a few interim answers are none of the caller's", async () => {
  const told = await answerTo(WAYS["a call"], "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n".repeat(3) + OK);
  expect(told).toMatch(/^HTTP\/1.1 200 OK\r\n/);
  expect(told).not.toContain("Link");
});
