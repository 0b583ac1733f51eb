import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { act, send, sendRaw } from "./exchange.ts";
import { hasWritten, type Replica } from "./replica.ts";
import type { Subject } from "./subject.ts";

/** Soon, and yet time enough for a handler to begin on a busy machine. */
const SOON = { headers: { "x-sless-timeout-ms": "1000" } };

/** Streams, deadlines and bounds. The cases wait, so they run at the same time. */
export function limitCases(subject: Subject): void {
  describe.concurrent("streams", () => streamCases(subject));
  describe.concurrent("deadlines", () => deadlineCases(subject));
  describe.concurrent("bounds", () => boundCases(subject));
}

function streamCases(subject: Subject): void {
  it("a stream is sent chunk by chunk", async () => {
    const outgoing = request(`${subject.shared().origin}/stream`, { method: "POST" });
    outgoing.end(JSON.stringify({ count: 2, hangAt: 1 }));
    const [incoming] = await once(outgoing, "response");
    expect(incoming.headers["content-type"]).toBe("text/plain; charset=utf-8");
    const [first] = await once(incoming, "data");
    expect(String(first)).toBe("chunk 0\n");
    outgoing.on("error", () => {}).destroy();
  });

  it("a stream that ends is a whole answer", async () => {
    const reply = await act(subject.shared().origin, "stream", { count: 3 });
    expect([reply.status, reply.body.toString()]).toEqual([200, "chunk 0\nchunk 1\nchunk 2\n"]);
  });

  it("a stream of nothing is an empty answer", async () => {
    const reply = await act(subject.shared().origin, "stream", { count: 0 });
    expect([reply.status, reply.body.length]).toEqual([200, 0]);
  });

  it("an error before the first chunk is a plain 500", async () => {
    const reply = await act(subject.shared().origin, "stream", { count: 1, failAt: 0 });
    expect([reply.status, reply.json]).toEqual([500, expect.objectContaining({ reason: "handler_error" })]);
  });

  it("an error after the first chunk resets the connection, its reason is in the log", async () => {
    const headers = { "x-request-id": "broken-stream" };
    await expect(act(subject.shared().origin, "stream", { count: 2, failAt: 1 }, { headers })).rejects.toThrow();
    await hasWritten(subject.shared().stderr, "ERROR [broken-stream]");
  });

  it("a deadline after the first chunk resets the connection, its reason is in the log", async () => {
    const replica = await subject.start();
    const headers = { ...SOON.headers, "x-request-id": "late-stream" };
    await expect(act(replica.origin, "stream", { count: 2, hangAt: 1 }, { headers })).rejects.toThrow();
    await hasWritten(replica.stderr, "ERROR [late-stream]");
    expect(replica.stderr()).toContain("function_timeout");
  });

  it("a client that goes away ends its stream", async () => {
    const replica = await subject.start();
    const outgoing = request(`${replica.origin}/endless`, { method: "POST" });
    outgoing.on("error", () => {}).end("{}");
    const [incoming] = await once(outgoing, "response");
    await once(incoming, "data");
    outgoing.destroy();
    await hasWritten(replica.stdout, "endless stream closed");
  });
}

function deadlineCases(subject: Subject): void {
  it("a call that waits too long is 504 with a reason", async () => {
    const replica = await subject.start();
    const reply = await act(replica.origin, "sleep", { ms: 1_500 }, SOON);
    expect(reply.status).toBe(504);
    expect(reply.json).toMatchObject({
      component: "runtime",
      reason: "function_timeout",
      error: expect.stringContaining("1 s"),
      requestId: expect.any(String),
    });
    await hasWritten(replica.stderr, "function_timeout");
    // It ended within the grace: the replica goes on.
    expect((await act(replica.origin, "sleep", { ms: 600 })).body.toString()).toBe("slept");
    expect((await act(replica.origin, "describe")).status).toBe(200);
  });

  it("the function's own limit holds without a header, and the smaller of both with one", async () => {
    const replica = await subject.start({ SLESS_TIMEOUT_SEC: "1" });
    const [own, larger] = await Promise.all([
      act(replica.origin, "sleep", { ms: 20_000 }),
      act(replica.origin, "sleep", { ms: 20_000 }, { headers: { "x-sless-timeout-ms": "20000" } }),
    ]);
    expect([own.status, larger.status]).toEqual([504, 504]);
    expect(own.json).toMatchObject({ error: expect.stringContaining("1 s") });
  });

  it("a handler that blocks gets 504, the other calls 503, and the replica ends with 75", async () => {
    const replica = await subject.start();
    // It comes before the one that blocks: behind it, a single thread would not even read it.
    const other = act(replica.origin, "sleep", { ms: 30_000 }, { headers: { "x-sless-timeout-ms": "60000" } });
    await hasWritten(replica.stdout, "asleep");
    const blocked = act(replica.origin, "block", {}, SOON);
    const [blockedReply, otherReply] = await Promise.all([blocked, other]);
    expect([blockedReply.status, blockedReply.json]).toEqual([
      504,
      expect.objectContaining({ reason: "function_timeout" }),
    ]);
    expect([otherReply.status, otherReply.json]).toEqual([
      503,
      expect.objectContaining({ reason: "replica_replaced" }),
    ]);
    expect(await replica.exited()).toBe(75);
    expect(replica.stderr()).toMatch(/the replica is replaced; it stands at\n(.*\n)*.*handler\./);
  });

  it("a body that does not come is no reason to wait beyond the deadline", async () => {
    const head = "POST /describe HTTP/1.1\r\nHost: x\r\nx-sless-timeout-ms: 300\r\nContent-Length: 10\r\n\r\nabc";
    const replica = await subject.start();
    expect(await sendRaw(replica.port, head)).toMatch(/^HTTP\/1\.1 504 (.*\r\n)*.*function_timeout/s);
    expect((await act(replica.origin, "describe")).status).toBe(200);
  });
}

function boundCases(subject: Subject): void {
  const bounded = () => subject.start({ SLESS_MAX_BODY: "1000" });

  it("a body at the bound is read, one beyond is 413", async () => {
    const { origin } = await bounded();
    expect((await send(origin, { path: "/describe", body: Buffer.alloc(1000, 1) })).json).toMatchObject({
      length: 1000,
    });
    const reply = await send(origin, { path: "/describe", body: Buffer.alloc(1001, 1) });
    expect([reply.status, reply.json]).toEqual([
      413,
      expect.objectContaining({ component: "runtime", reason: "body_too_large" }),
    ]);
  });

  it("a chunked body beyond the bound is 413", async () => {
    const { origin } = await bounded();
    async function* body() {
      for (let index = 0; index < 3; index += 1) yield Buffer.alloc(600, 1);
    }
    expect((await send(origin, { path: "/describe", body: body() })).status).toBe(413);
  });

  it("a body beyond the bound that waits for 100 Continue is not asked for", async () => {
    const { port } = await bounded();
    const socket = connect(port, "127.0.0.1").setEncoding("latin1");
    socket.write("POST /describe HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5000\r\n\r\n");
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 413 /);
  });

  it("headers without end are refused", async () => {
    const replica: Replica = await bounded();
    const answer = await sendRaw(
      replica.port,
      `GET / HTTP/1.1\r\nHost: x\r\nx-a: ${"a".repeat(100_000)}\r\n\r\n`,
    ).catch(() => "");
    expect(answer).toMatch(/^(HTTP\/1\.1 431 |$)/);
    expect((await act(replica.origin, "describe")).status).toBe(200);
  });
}
