import { performance } from "node:perf_hooks";
import { expect, it } from "vitest";
import { httpServer } from "./http-server.ts";
import { slowLink } from "./slow-link.ts";

it("a slow link takes its latency and its bandwidth both ways, and changes nothing", async () => {
  const server = await httpServer(async (request, answer) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    answer.end(Buffer.concat(parts));
  });
  const link = await slowLink(server.port, { latencyMs: 20, bytesPerSecond: 1_000_000 });
  const body = Buffer.from(Uint8Array.from({ length: 200_000 }, (_, index) => index % 251));
  const started = performance.now();
  const answer = await fetch(`http://${link.host}/`, { method: "POST", body });
  expect(Buffer.compare(Buffer.from(await answer.arrayBuffer()), body)).toBe(0);
  // 200 ms of bytes each way, a round trip to connect and one for the request.
  expect(performance.now() - started).toBeGreaterThan(400 + 4 * 20 - 10);
  expect(link.passed.toServer).toBeGreaterThan(body.length);
  expect(link.passed.toClient).toBeGreaterThan(body.length);
});

it("an answer whose end closes the connection arrives whole", async () => {
  const server = await httpServer((_request, answer) => {
    answer.setHeader("connection", "close");
    answer.end(Buffer.alloc(100_000));
  });
  const link = await slowLink(server.port);
  expect((await (await fetch(`http://${link.host}/`)).arrayBuffer()).byteLength).toBe(100_000);
});

it("connections share the bandwidth of a link", async () => {
  const server = await httpServer((_request, answer) => void answer.end(Buffer.alloc(100_000)));
  const link = await slowLink(server.port, { latencyMs: 0, bytesPerSecond: 1_000_000 });
  const started = performance.now();
  await Promise.all(Array.from({ length: 3 }, async () => (await fetch(`http://${link.host}/`)).arrayBuffer()));
  expect(performance.now() - started).toBeGreaterThan(290);
});

it("a link that is cut ends what runs and lets new connections pass", async () => {
  const server = await httpServer((_request, answer) => void answer.end(Buffer.alloc(300_000)));
  const link = await slowLink(server.port);
  const answer = await fetch(`http://${link.host}/`);
  const body = answer.arrayBuffer();
  link.cut();
  await expect(body).rejects.toThrow();
  expect((await fetch(`http://${link.host}/`)).status).toBe(200);
});
