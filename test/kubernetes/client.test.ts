import { describe, expect, it } from "vitest";
import type { ApiError, SentRequest } from "../../src/kubernetes/index.ts";
import { eventually } from "../support/eventually.ts";
import { manualClock } from "../support/manual-clock.ts";
import { clientOf, fails, fakeApiServer, ok, writeKubeconfig } from "./api-server.ts";

const GET = { method: "GET", path: "/api/v1/namespaces" } as const;
const SECRET = "token-that-nobody-sees";

async function serverAndFile(...options: Parameters<typeof fakeApiServer>) {
  const server = await fakeApiServer(...options);
  return { server, file: await writeKubeconfig(server, { token: SECRET }) };
}

describe("connections", () => {
  it("many requests one after the other share a TLS connection or two", async () => {
    const { server, file } = await serverAndFile();
    const client = clientOf(file);
    for (let n = 0; n < 50; n += 1) await client.request(GET);
    expect(server.handshakes()).toBeLessThanOrEqual(2);
    expect(client.sent.requests).toBe(50);
  });

  it("requests at the same time need no more connections than twice as many as are under way", async () => {
    const { server, file } = await serverAndFile();
    const client = clientOf(file);
    const worker = async () => {
      for (let n = 0; n < 20; n += 1) await client.request(GET);
    };
    await Promise.all(Array.from({ length: 8 }, worker));
    expect(server.asked.length).toBe(160);
    expect(server.handshakes()).toBeLessThanOrEqual(16);
  });

  it("a read whose kept connection was closed is sent once more", async () => {
    const { server, file } = await serverAndFile((request, response) => {
      if (server.asked.length === 2) request.socket.destroy();
      else ok(request, response);
    });
    const client = clientOf(file);
    await client.request(GET);
    await client.request(GET);
    expect(server.asked.length).toBe(3);
  });

  it("a write whose connection broke is not sent again: it may have arrived", async () => {
    const { server, file } = await serverAndFile((request) => void request.socket.destroy());
    const write = clientOf(file).request({ ...GET, method: "POST", body: { a: 1 } });
    await expect(write).rejects.toMatchObject({ code: "cluster_unavailable" });
    expect(server.asked.length).toBe(1);
  });

  it("tells of every request by method, path and status", async () => {
    const { file } = await serverAndFile();
    const sent: SentRequest[] = [];
    await clientOf(file, { onSent: (request) => sent.push(request) }).request({ ...GET, query: { limit: 5 } });
    expect(sent).toEqual([{ ...GET, contentType: undefined, status: 200, durationMs: expect.any(Number) }]);
  });

  it("names the namespace of its context", async () => {
    const { file } = await serverAndFile();
    expect(clientOf(file).namespace).toBe("demo");
  });
});

describe("a server that is busy", () => {
  it("is asked again after the time that it says", async () => {
    const clock = manualClock();
    const { server, file } = await serverAndFile((request, response) => {
      if (server.asked.length > 2) ok(request, response);
      else fails(429, {}, { "retry-after": "3" })(request, response);
    });
    const answer = clientOf(file, { clock }).request({ ...GET, method: "PATCH", body: {} });
    for (const count of [1, 2]) {
      await eventually(
        "it waits",
        () => [server.asked.length, ...clock.timers()],
        ([asked, waitMs]) => asked === count && waitMs === 3_000,
      );
      clock.advance(3_000);
    }
    expect(await answer).toMatchObject({ status: "Success" });
  });

  it("a server that starts and says when to come again is asked again", async () => {
    const clock = manualClock();
    const { server, file } = await serverAndFile((request, response) => {
      if (server.asked.length > 1) ok(request, response);
      else fails(503, {}, { "retry-after": "1" })(request, response);
    });
    const answer = clientOf(file, { clock }).request(GET);
    await eventually(
      "it waits",
      () => clock.timers(),
      ({ length }) => length > 0,
    );
    clock.advance(1_000);
    await answer;
    expect(server.asked.length).toBe(2);
  });

  it("is given up after some tries, and never waited for longer than ten seconds at a time", async () => {
    const clock = manualClock();
    const { server, file } = await serverAndFile(fails(429, { message: "too many" }, { "retry-after": "86400" }));
    let isSettled = false;
    const answer = clientOf(file, { clock })
      .request(GET)
      .catch((error: unknown) => error)
      .finally(() => {
        isSettled = true;
      });
    await eventually(
      "it gave up",
      () => {
        clock.advance(10_000);
        return isSettled;
      },
      (is) => is,
    );
    expect(await answer).toMatchObject({ name: "ApiError", status: 429 });
    expect(server.asked.length).toBe(5);
  });

  it("a wait ends when the request is given up", async () => {
    const clock = manualClock();
    const { file } = await serverAndFile(fails(429, {}, { "retry-after": "5" }));
    const abort = new AbortController();
    const answer = clientOf(file, { clock }).request({ ...GET, signal: abort.signal });
    await eventually(
      "it waits",
      () => clock.timers(),
      ({ length }) => length > 0,
    );
    abort.abort(new Error("shut down"));
    await expect(answer).rejects.toThrow("shut down");
    expect(clock.timers()).toEqual([]);
  });
});

describe("a server that is not well", () => {
  it("one that hangs is given up after the time limit", async () => {
    const { server, file } = await serverAndFile(() => {});
    await expect(clientOf(file, { timeoutMs: 2_000 }).request(GET)).rejects.toMatchObject({
      code: "cluster_unavailable",
    });
    expect(server.asked.length).toBe(1);
  });

  it("one that stops in the middle of its answer is given up after the time limit", async () => {
    const { file } = await serverAndFile((_request, response) => void response.write('{"items":['));
    await expect(clientOf(file, { timeoutMs: 2_000 }).request(GET)).rejects.toMatchObject({
      code: "cluster_unavailable",
    });
  });

  it("nobody listens", async () => {
    const { server, file } = await serverAndFile();
    await server.kill();
    await expect(clientOf(file).request(GET)).rejects.toMatchObject({
      code: "cluster_unavailable",
      message: expect.stringContaining("ECONNREFUSED"),
    });
  });

  it("an answer that is no JSON is told without a word of it", async () => {
    const { file } = await serverAndFile((_request, response) => void response.end('{"data":{"password":"hunter2"'));
    const error = (await clientOf(file)
      .request(GET)
      .catch((thrown: unknown) => thrown)) as Error;
    expect(error).toMatchObject({ code: "cluster_unavailable" });
    expect(error.message).not.toContain("hunter2");
  });

  it("what an error page says is cut, and a Status is read", async () => {
    const { file } = await serverAndFile((_request, response) => void response.writeHead(502).end("x".repeat(50_000)));
    const page = (await clientOf(file)
      .request(GET)
      .catch((thrown: unknown) => thrown)) as ApiError;
    expect(page).toMatchObject({ status: 502, reason: "" });
    expect(page.message.length).toBeLessThanOrEqual(1_000);
    const status = {
      reason: "Invalid",
      message: "bad",
      details: { name: "a", kind: "Function", causes: [{ field: "x" }] },
    };
    const other = await serverAndFile(fails(422, status));
    await expect(clientOf(other.file).request(GET)).rejects.toMatchObject({
      status: 422,
      reason: "Invalid",
      about: { kind: "Function", name: "a" },
      causes: [{ field: "x", message: "", reason: "" }],
    });
  });

  it("no error holds the credentials", async () => {
    const { server, file } = await serverAndFile(fails(403, { message: "no" }));
    const client = clientOf(file);
    const refused = await client.request(GET).catch((error: unknown) => error);
    await server.kill();
    const broken = await client.request(GET).catch((error: unknown) => error);
    for (const error of [refused, broken] as Error[])
      expect(
        `${error.stack} ${JSON.stringify(error)} ${String(error.cause)} ${JSON.stringify(error.cause)}`,
      ).not.toContain(SECRET);
  });

  it("another certificate than the kubeconfig knows is refused", async () => {
    const { file } = await serverAndFile();
    const other = await fakeApiServer();
    const wrong = await writeKubeconfig(
      { ...other, certificates: { ca: (await fakeApiServer()).certificates.ca } },
      {},
    );
    await expect(clientOf(wrong).request(GET)).rejects.toMatchObject({ code: "cluster_unavailable" });
    await clientOf(file).request(GET);
  });
});

describe("streams", () => {
  async function chunks(stream: AsyncIterable<Uint8Array>): Promise<string> {
    const all: Uint8Array[] = [];
    for await (const chunk of stream) all.push(chunk);
    return Buffer.concat(all).toString();
  }

  it("gives the bytes as they come and ends with the answer", async () => {
    const { file } = await serverAndFile((_request, response) => {
      response.write("one\n");
      response.end("two\n");
    });
    expect(await chunks(clientOf(file).stream(GET))).toBe("one\ntwo\n");
  });

  it("ends without an error when it is given up", async () => {
    const { file } = await serverAndFile((_request, response) => void response.write("one\n"));
    const abort = new AbortController();
    let text = "";
    for await (const chunk of clientOf(file).stream({ ...GET, signal: abort.signal })) {
      text += Buffer.from(chunk).toString();
      abort.abort();
    }
    expect(text).toBe("one\n");
  });

  it("one that breaks off says so", async () => {
    const { file } = await serverAndFile((request, response) => {
      response.write("one\n", () => request.socket.destroy());
    });
    await expect(chunks(clientOf(file).stream(GET))).rejects.toMatchObject({ code: "cluster_unavailable" });
  });

  it("one that is silent for too long is ended", async () => {
    const { file } = await serverAndFile((_request, response) => void response.write("one\n"));
    const stream = clientOf(file).stream(GET, { quietMs: 300 });
    await expect(chunks(stream)).rejects.toMatchObject({ code: "cluster_unavailable" });
  });

  it("a refusal is the server's own", async () => {
    const { file } = await serverAndFile(fails(400, { message: "container is waiting" }));
    await expect(chunks(clientOf(file).stream(GET))).rejects.toThrow("container is waiting");
  });
});
