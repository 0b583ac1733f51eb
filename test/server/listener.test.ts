import { connect } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { eventually } from "../support/eventually.ts";
import { openListener } from "./open-listener.ts";

/** What comes back until the server closes the connection, which the client never does. */
async function untilClosed(port: number, sent: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  if (sent) socket.write(sent);
  let answer = "";
  socket.on("data", (chunk) => {
    answer += chunk;
  });
  await new Promise<void>((resolve) => socket.on("error", () => undefined).once("close", () => resolve()));
  return answer;
}

it.each([
  ["that never begins", ""],
  ["that stops in a line", "GET /healthz HT"],
  ["that stops in a header", "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-"],
])("a request %s is given up", async (_name, sent) => {
  const port = await openListener({ headMs: 200 });
  expect(await untilClosed(port, sent)).toMatch(/^HTTP\/1.1 408 Request Timeout\r\n.*its head did not come in time/s);
});

it("a request's head that drips in is given up, too", async () => {
  const port = await openListener({ headMs: 300 });
  const socket = connect(port, "127.0.0.1").on("error", () => undefined);
  socket.write("GET /healthz HTTP/1.1\r\n");
  const drip = setInterval(() => socket.write("x: y\r\n"), 20);
  socket.resume();
  await new Promise<void>((resolve) => socket.once("close", () => resolve()));
  clearInterval(drip);
});

it("a client that was answered may not go on with its body for ever", async () => {
  const port = await openListener({ restMs: 100 });
  const answer = await untilClosed(port, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nabc");
  expect(answer).toMatch(/^HTTP\/1.1 200 OK\r\n.*ok$/s);
});

/** Beyond what a busy machine dawdles between an answer and what its client sends then. */
const REST_MS = 2_000;

it("a request behind a body that nobody read to its end has all the time it needs", async () => {
  const later = Promise.withResolvers<void>();
  const port = await openListener({ restMs: REST_MS }, async (req, res) => {
    if (req.method === "GET") {
      res.flushHeaders();
      await later.promise;
      res.end("late");
      return;
    }
    // As whoever stops in the middle leaves it.
    req.once("data", () => {
      req.pause();
      res.end("early");
    });
  });
  const socket = connect(port, "127.0.0.1").on("error", () => undefined);
  onTestFinished(() => void socket.destroy());
  let text = "";
  const seen = (what: string) =>
    eventually(
      what,
      async () => ({ text, destroyed: socket.destroyed }),
      (now) => now.destroyed || text.includes(what),
    );
  let isSent = false;
  socket.on("data", (chunk) => {
    text += chunk;
    // At once, for the rest of a body may not take long.
    if (!isSent && text.includes("early")) {
      isSent = true;
      socket.write(`${"x".repeat(9000)}GET / HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    }
  });
  socket.write(`POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10000\r\n\r\n${"x".repeat(1000)}`);
  await seen("chunked");
  setTimeout(later.resolve, REST_MS + 500);
  await seen("late");
  expect(text).toContain("late");
});

it("a connection whose body came after the answer goes on", async () => {
  const port = await openListener({ restMs: 60_000 });
  const post = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n";
  const socket = connect(port, "127.0.0.1");
  const answers = new Promise<string>((resolve) => {
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk;
      if (text.split("HTTP/1.1 200").length === 2) socket.write(`hello${post}world`);
      if (text.split("HTTP/1.1 200").length === 3) resolve(text);
    });
  });
  socket.write(post);
  expect(await answers).toMatch(/ok.*ok$/s);
  socket.destroy();
});
