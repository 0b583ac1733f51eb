import { once } from "node:events";
import { realpath } from "node:fs/promises";
import { Agent, get } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import { act, send, sendRaw } from "./exchange.ts";
import { hasWritten } from "./replica.ts";
import type { Subject } from "./subject.ts";

/** What a handler learns about its call, and how connections are used. */
export function callCases(subject: Subject): void {
  it("the context tells what the call is", async () => {
    const reply = await send(subject.shared().origin, {
      method: "PUT",
      path: "/about?a=1&b=x%20y",
      body: "raw body",
      headers: {
        "content-type": "text/plain",
        "X-Test": "seen",
        "x-request-id": "id-1",
        "x-sless-trigger": "cron",
        "x-sless-timeout-ms": "60000",
      },
    });
    expect(reply.json).toEqual({
      requestId: "id-1",
      function: "hello",
      namespace: "default",
      trigger: "cron",
      limited: true,
      remainingMs: expect.any(Number),
      method: "PUT",
      query: { a: "1", b: "x y" },
      header: "seen",
      body: "raw body",
    });
    const { remainingMs } = reply.json as { remainingMs: number };
    expect(remainingMs).toBeGreaterThan(50_000);
    expect(remainingMs).toBeLessThanOrEqual(60_000);
    expect(reply.headers["x-request-id"]).toBe("id-1");
  });

  it("without a limit there is no deadline, and an id is made", async () => {
    const { json } = await send(subject.shared().origin, { path: "/about", body: "{}", headers: { "x-test": "" } });
    expect(json).toMatchObject({
      limited: false,
      remainingMs: null,
      trigger: "http",
      requestId: expect.stringMatching(/^[0-9a-f]{32}$/),
    });
  });

  it.each(["a b", "x".repeat(200), "é"])("the request id %j is replaced", async (id) => {
    const reply = await act(subject.shared().origin, "describe", {}, { headers: { "x-request-id": id } });
    expect(reply.headers["x-request-id"]).toMatch(/^[0-9a-f]{32}$/);
  });

  it("any method reaches the handler", async () => {
    const reply = await send(subject.shared().origin, {
      method: "PROPFIND",
      path: "/about",
      headers: { "x-test": "" },
    });
    expect(reply.json).toMatchObject({ method: "PROPFIND" });
  });

  it("/health without a deadline is the probe, with one it is a call", async () => {
    const probe = await send(subject.shared().origin, { method: "GET", path: "/health?x=1" });
    expect([probe.status, probe.json]).toEqual([200, { status: "ok" }]);
    const call = await send(subject.shared().origin, {
      method: "GET",
      path: "/health?x=1",
      headers: { "x-sless-timeout-ms": "5000" },
    });
    expect(call.json).toEqual({ kind: "map", event: { x: "1" } });
  });

  it("calls run at the same time", async () => {
    const calls = Array.from({ length: 20 }, () => act(subject.shared().origin, "meet", { calls: 20 }));
    const replies = await Promise.all(calls);
    expect(replies.map((reply) => reply.body.toString())).toEqual(Array(20).fill("met"));
  });

  it("a connection serves one call after another", async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ports = new Set<number>();
    for (let index = 0; index < 5; index += 1) {
      const request = get(`${subject.shared().origin}/describe?n=${index}`, { agent });
      const [answer] = await once(request, "response");
      expect(JSON.parse(await text(answer))).toEqual({ kind: "map", event: { n: String(index) } });
      ports.add(request.socket!.localPort!);
    }
    agent.destroy();
    expect(ports.size).toBe(1);
  });

  it("requests that are sent ahead are answered in order", async () => {
    const one = (n: number, more = "") => `GET /describe?n=${n} HTTP/1.1\r\nHost: x\r\n${more}\r\n`;
    const answers = await sendRaw(subject.shared().port, one(1) + one(2) + one(3, "Connection: close\r\n"));
    expect([...answers.matchAll(/"n":"(\d)"/g)].map((match) => match[1])).toEqual(["1", "2", "3"]);
  });

  it("HTTP/1.0 is answered and the connection closed", async () => {
    const answer = await sendRaw(subject.shared().port, "GET /describe?a=b HTTP/1.0\r\n\r\n");
    expect(answer).toMatch(/^HTTP\/1\.[01] 200 /);
    expect(answer).toContain('{"kind":"map","event":{"a":"b"}}'.slice(1, 10));
  });

  it("a body that waits for 100 Continue is asked for", async () => {
    const socket = connect(subject.shared().port, "127.0.0.1").setEncoding("latin1");
    socket.write(
      "POST /describe HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Length: 7\r\n\r\n",
    );
    const [first] = await once(socket, "data");
    expect(first).toMatch(/^HTTP\/1\.1 100 /);
    socket.write('{"a":1}');
    expect(await text(socket)).toContain('"event":{"a":1}');
  });

  it.each([
    ["two lengths", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 5\r\n\r\nabcde"],
    [
      "a length and chunks",
      "POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
    ["a length that is no number", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n"],
    ["no HTTP at all", "HELLO\r\n\r\n"],
    ["a chunk size that is none", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n"],
  ])("%s is refused and ends the connection", async (what, bytes) => {
    const answer = await sendRaw(subject.shared().port, bytes);
    // Go takes chunks before a length, as RFC 9112 allows, and closes; nothing of it reaches a second request.
    if (what === "a length and chunks") expect(answer.match(/HTTP\/1\.1 /g)?.length ?? 0).toBeLessThanOrEqual(1);
    else expect(answer).toMatch(/^(HTTP\/1\.1 [45]|$)/);
    expect((await act(subject.shared().origin, "describe")).status).toBe(200);
  });

  it("the code's folder is the working directory", async () => {
    const { json } = await act(subject.shared().origin, "where");
    const { source } = await subject.image("main");
    expect(json).toEqual({ cwd: await realpath(source), data: "data beside the code" });
  });

  it("what a handler prints is in the log line by line, and its logger adds level and request id on one line", async () => {
    await act(subject.shared().origin, "log", {}, { headers: { "x-request-id": "logging-call" } });
    await hasWritten(subject.shared().stdout, "printed\n");
    await hasWritten(subject.shared().stdout, "INFO [logging-call] logged\\nINFO [forged] line\n");
    await hasWritten(subject.shared().stderr, "printed as error\n");
  });
}
