import type { IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import { expect, it } from "vitest";
import { isSlessError, SlessError } from "../../src/errors/index.ts";
import { type BodyLimits, requestBody } from "../../src/server/request-body.ts";
import { openListener } from "./open-listener.ts";

const LIMITS: BodyLimits = { maxBytes: 1_000, idleMs: 300_000, totalMs: 300_000 };

/** A listener that answers how many bytes came, or the code of the refusal, and a socket to it. */
async function exchange(
  limits: Partial<BodyLimits>,
  ready: (req: IncomingMessage) => Promise<unknown> = async () => 0,
  sent = "Content-Length: 1000\r\n\r\nabc",
) {
  const outcome = Promise.withResolvers<number | string>();
  const begun = Promise.withResolvers<void>();
  const port = await openListener({ restMs: 50 }, (req, res) => {
    begun.resolve();
    ready(req)
      .then(() => buffer(requestBody(req, { ...LIMITS, ...limits })))
      .then((bytes) => bytes.length)
      .catch((error: unknown) => (isSlessError(error) ? error.code : String(error)))
      .then((result) => {
        outcome.resolve(result);
        res.end(String(result));
      });
  });
  const socket = connect(port, "127.0.0.1").on("error", () => undefined);
  socket.write(`POST / HTTP/1.1\r\nHost: x\r\n${sent}`);
  await begun.promise;
  return { socket, outcome: outcome.promise };
}

const answered = (socket: Socket) =>
  new Promise<string>((resolve) => socket.once("data", (data) => resolve(data.toString())));
const closed = (socket: Socket) => new Promise<void>((resolve) => socket.resume().once("close", () => resolve()));

it("a body of several parts is read whole", async () => {
  const { socket, outcome } = await exchange({ maxBytes: 1_000 });
  socket.write("x".repeat(500));
  socket.write("y".repeat(497));
  expect(await outcome).toBe(1_000);
});

it("a body that is too long is refused before its end, and the client gets to read that", async () => {
  const chunks = "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n";
  const { socket, outcome } = await exchange({ maxBytes: 10 }, undefined, chunks);
  socket.write(`14\r\n${"x".repeat(20)}\r\n`);
  expect(await outcome).toBe("too_large");
  expect(await answered(socket)).toContain("too_large");
});

it("a body whose head says that it is too long is refused before anything of it is taken", async () => {
  const { outcome } = await exchange({ maxBytes: 999 });
  expect(await outcome).toBe("too_large");
});

it("a body that drips in is given up, though something comes all the time", async () => {
  const { socket, outcome } = await exchange({ maxBytes: 1_000, pace: { bytesPerSecond: 1_000, afterMs: 200 } });
  const drip = setInterval(() => socket.write("x"), 20);
  expect(await outcome).toBe("invalid_request");
  clearInterval(drip);
});

it("a body that keeps its pace is read whole, however long that takes", async () => {
  const { socket, outcome } = await exchange({ maxBytes: 1_000, pace: { bytesPerSecond: 100, afterMs: 20_000 } });
  socket.write("x".repeat(500));
  await wait(50);
  socket.write("y".repeat(497));
  expect(await outcome).toBe(1_000);
});

it("a body that is wanted no more is left with the reason", async () => {
  const { outcome } = await exchange({ maxBytes: 1_000, signal: AbortSignal.abort(new SlessError("hooks_busy")) });
  expect(await outcome).toBe("hooks_busy");
});

it("a body that stalls is given up, and its connection with it", async () => {
  const { socket, outcome } = await exchange({ idleMs: 50 });
  const isClosed = closed(socket);
  expect(await outcome).toBe("invalid_request");
  await isClosed;
});

it("a body that drips for ever is given up", async () => {
  const { socket, outcome } = await exchange({ maxBytes: 1_000, totalMs: 200 });
  const isClosed = closed(socket);
  let isOver = false;
  void outcome.then(() => {
    isOver = true;
  });
  while (!isOver) {
    socket.write("x");
    await wait(10);
  }
  expect(await outcome).toBe("invalid_request");
  await isClosed;
});

it("a body that breaks off is refused", async () => {
  const { socket, outcome } = await exchange({});
  socket.destroy();
  expect(await outcome).toBe("invalid_request");
});

it("a body whose client left before its turn came is refused at once", async () => {
  const { socket, outcome } = await exchange({}, (req) => new Promise((left) => req.once("close", left)));
  socket.destroy();
  expect(await outcome).toBe("invalid_request");
});
