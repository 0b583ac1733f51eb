import { request as httpRequest, type ServerResponse } from "node:http";
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import type { Endpoint } from "../../src/gateway/index.ts";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-ports.ts";
import { bodyOf, httpServer } from "../support/http-server.ts";
import { manualClock } from "../support/manual-clock.ts";
import { rawExchange } from "../support/raw-exchange.ts";
import { type GatewayFixture, gatewayFixture, HELLO } from "./gateway-fixture.ts";

interface Told {
  status: number;
  code: string;
  reason: string;
  component: string;
  requestId: string;
}

async function call({ origin }: { origin: string }, init: RequestInit = {}, path = "/fn/default/hello"): Promise<Told> {
  const answer = await fetch(`${origin}${path}`, { ...init, headers: { "x-request-id": "r1", ...init.headers } });
  return { status: answer.status, ...((await answer.json()) as Omit<Told, "status">) };
}

const told = (status: number, code: string) => ({ status, code, reason: code, component: "gateway", requestId: "r1" });

describe("what is not reachable is told at once", () => {
  const cases: Record<string, { endpoint?: Partial<Endpoint>; path?: string; expected: Told }> = {
    "a name that nobody has": { path: "/fn/default/nobody", expected: told(404, "no_such_function") },
    "a namespace that nobody has": { path: "/fn/other/hello", expected: told(404, "no_such_function") },
    "a function without an enabled http trigger": {
      endpoint: { public: false },
      expected: told(404, "no_such_function"),
    },
    "a function that is scaled to zero": { endpoint: { replicas: 0 }, expected: told(503, "scaled_to_zero") },
    "a function that no replica serves yet": { expected: told(503, "function_not_ready") },
    "an address without a name": { path: "/fn/default", expected: told(404, "not_found") },
    "an encoded name": { path: "/fn/default/%68ello", expected: told(404, "not_found") },
    "an encoding that is none": { path: "/fn/default/%zz", expected: told(404, "not_found") },
  };
  it.each(Object.entries(cases))("%s", async (_name, { endpoint = {}, path, expected }) => {
    expect(await call(await gatewayFixture({ endpoint }), {}, path)).toMatchObject(expected);
  });

  it.each(["Function", "Service"] as const)("a %s that is not ready is told how to look at it", async (kind) => {
    const workload = { kind, namespace: "default", name: "hello" };
    const { error } = (await call(await gatewayFixture({ endpoint: { workload } }))) as Told & { error: string };
    expect(error).toContain(`\`sless describe ${kind.toLowerCase()} hello\``);
  });

  it("a large upload to nobody is not read", async () => {
    const { port } = await gatewayFixture();
    const head = "POST /fn/default/nobody HTTP/1.1\r\nHost: x\r\nContent-Length: 900000000\r\n\r\n";
    const answer = await rawExchange(port, head);
    expect(answer).toMatch(/^HTTP\/1.1 404 /);
    expect(answer.toLowerCase()).toContain("connection: close");
  });
});

describe("requests that are none are refused before they reach a function", () => {
  const post = "POST /fn/default/hello HTTP/1.1\r\nHost: x\r\n";
  const smuggled = "0\r\n\r\nGET /admin HTTP/1.1\r\n\r\n";
  const cases: Record<string, string> = {
    "a length and chunks together": `${post}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n${smuggled}`,
    "two lengths": `${post}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello`,
    "a length that is no number": `${post}Content-Length: +5\r\n\r\nhello`,
    "a coding beside chunked": `${post}Transfer-Encoding: gzip, chunked\r\nConnection: close\r\n\r\n${smuggled}`,
    "a space before the colon": `${post}Content-Length : 5\r\n\r\nhello`,
    "a control character in the path": "GET /fn/default/hello/\x01 HTTP/1.1\r\nHost: x\r\n\r\n",
    "a path that is no ASCII": "GET /fn/default/hello/\xe9 HTTP/1.1\r\nHost: x\r\n\r\n",
    "headers without an end": `GET /fn/default/hello HTTP/1.1\r\nHost: x\r\nX-Big: ${"a".repeat(20_000)}\r\n\r\n`,
  };
  it.each(Object.entries(cases))("%s", async (_name, text) => {
    const seen: string[] = [];
    const { port } = await gatewayFixture({
      handler: (req, res) => {
        seen.push(req.url ?? "");
        res.end();
      },
    });
    expect(await rawExchange(port, text)).toMatch(/^HTTP\/1.1 4(00|31) /);
    expect(seen).toEqual([]);
  });
});

describe("a call that takes too long", () => {
  const slow = { endpoint: { timeoutSec: 0.1 }, graceMs: 100 };

  it("ends with 504 and the gateway as the reason when the runtime did not end it", async () => {
    const fixture = await gatewayFixture({ ...slow, handler: () => undefined });
    expect(await call(fixture)).toMatchObject(told(504, "function_timeout"));
    expect(fixture.platform.leases("hello-0")).toBe(0);
    expect(fixture.finished).toMatchObject([{ namespace: "default", name: "hello", status: 504 }]);
  });

  it("breaks off after the first byte, so that the part is not taken for the whole", async () => {
    const clock = manualClock();
    const fixture = await gatewayFixture({ ...slow, clock, handler: (_req, res) => void res.write("part") });
    const answer = await fetch(`${fixture.origin}/fn/default/hello`);
    clock.advance(1_000);
    await expect(answer.text()).rejects.toThrow();
  });

  it("is not ended at all without a limit", async () => {
    let answer: ServerResponse | undefined;
    const fixture = await gatewayFixture({
      endpoint: { timeoutSec: 0 },
      graceMs: 0,
      handler: (req, res) => {
        expect(req.headers["x-sless-timeout-ms"]).toBe("0");
        answer = res;
      },
    });
    const running = fetch(`${fixture.origin}/fn/default/hello`);
    await eventually(
      "the call arrives",
      () => answer,
      (seen) => seen !== undefined,
    );
    answer?.end("late");
    expect(await (await running).text()).toBe("late");
  });
});

describe("a replica that goes away", () => {
  it("while it blocks ends its blocking call with 504 and the others with 503", async () => {
    // The first call is beyond its deadline when the replica is killed, the others are not.
    const clock = manualClock();
    const fixture = await gatewayFixture({ endpoint: { timeoutSec: 1 }, graceMs: 60_000, clock });
    const replica = await fixture.addReplica(() => undefined);
    const blocking = call(fixture, { method: "POST" });
    await eventually(
      "it is there",
      () => fixture.platform.leases("hello-0"),
      (leases) => leases === 1,
    );
    clock.advance(1_001);
    const bystanders = [call(fixture, { method: "POST" }), call(fixture)];
    await eventually(
      "all calls are there",
      () => fixture.platform.leases("hello-0"),
      (leases) => leases === 3,
    );
    fixture.platform.serve(HELLO, []);
    await replica.kill();
    expect(await blocking).toMatchObject({ ...told(504, "function_timeout") });
    for (const bystander of bystanders) expect(await bystander).toMatchObject(told(503, "replica_replaced"));
  });

  it("for a blocking call whose client has left is explained by that call", async () => {
    const clock = manualClock();
    const fixture = await gatewayFixture({ endpoint: { timeoutSec: 1 }, graceMs: 60_000, clock });
    const replica = await fixture.addReplica(() => undefined);
    const impatient = connect(fixture.port, "127.0.0.1");
    impatient.write("GET /fn/default/hello HTTP/1.1\r\nHost: x\r\n\r\n");
    await eventually(
      "the call is there",
      () => fixture.platform.leases("hello-0"),
      (leases) => leases === 1,
    );
    impatient.destroy();
    await eventually(
      "it is over",
      () => fixture.platform.leases("hello-0"),
      (leases) => leases === 0,
    );
    clock.advance(1_001);
    const bystander = call(fixture, { method: "POST" });
    await eventually(
      "the other is there",
      () => fixture.platform.leases("hello-0"),
      (leases) => leases === 1,
    );
    fixture.platform.serve(HELLO, []);
    await replica.kill();
    expect(await bystander).toMatchObject(told(503, "replica_replaced"));
  });

  it("without a reason is told as a closed connection", async () => {
    const fixture = await gatewayFixture({ handler: (req) => void req.socket.destroy() });
    expect(await call(fixture, { method: "POST", body: "x" })).toMatchObject(told(502, "connection_refused"));
    expect(fixture.platform.leases("hello-0")).toBe(0);
  });

  it("in the middle of an answer breaks the answer off", async () => {
    const fixture = await gatewayFixture({
      handler: (_req, res) => {
        res.write("part");
        setImmediate(() => res.destroy());
      },
    });
    const answer = await fetch(`${fixture.origin}/fn/default/hello`);
    await expect(answer.text()).rejects.toThrow();
    expect(fixture.finished).toMatchObject([{ status: 200 }]);
  });

  it("in the middle of an answer of unknown length resets an HTTP/1.0 client", async () => {
    const { port } = await gatewayFixture({
      handler: (_req, res) => {
        res.write("part");
        setImmediate(() => res.destroy());
      },
    });
    await expect(rawExchange(port, "GET /fn/default/hello HTTP/1.0\r\n\r\n")).rejects.toThrow("ECONNRESET");
  });
});

describe("a second attempt", () => {
  /** Two replicas; the first one closes every connection on which a request arrives, the other one counts. */
  async function halfBroken(): Promise<GatewayFixture & { seen: string[] }> {
    const fixture = await gatewayFixture();
    const seen: string[] = [];
    await fixture.addReplica((req) => {
      seen.push(`${req.method} broken`);
      req.socket.destroy();
    });
    await fixture.addReplica(async (req, res) => {
      seen.push(`${req.method} sound`);
      res.end(await bodyOf(req));
    });
    return { ...fixture, seen };
  }

  it.each(["GET", "HEAD", "OPTIONS", "DELETE", "PUT"])(
    "repeats a %s without a body on another replica",
    async (method) => {
      const fixture = await halfBroken();
      const answer = await fetch(`${fixture.origin}/fn/default/hello`, { method });
      expect(answer.status).toBe(200);
      expect(fixture.seen).toEqual([`${method} broken`, `${method} sound`]);
    },
  );

  it.each([
    ["POST", null],
    ["PATCH", null],
    ["POST", "body"],
    ["PUT", "body"],
  ])("never repeats a %s with body %j that may have reached the handler", async (method, body) => {
    const fixture = await halfBroken();
    expect(await call(fixture, { method, body })).toMatchObject(told(502, "connection_refused"));
    expect(fixture.seen).toEqual([`${method} broken`]);
  });

  it("takes a POST with its whole body elsewhere when nobody took the connection", async () => {
    const fixture = await gatewayFixture();
    const gone = await fixture.addReplica((_req, res) => res.end());
    await gone.kill();
    await fixture.addReplica(async (req, res) => res.end(await bodyOf(req)));
    const body = "x".repeat(200_000);
    const answer = await fetch(`${fixture.origin}/fn/default/hello`, { method: "POST", body });
    expect([answer.status, await answer.text()]).toEqual([200, body]);
    expect([fixture.platform.leases("hello-0"), fixture.platform.leases("hello-1")]).toEqual([0, 0]);
  });

  it("is the last one", async () => {
    const fixture = await gatewayFixture();
    for (const _ of [1, 2, 3]) await (await fixture.addReplica((_req, res) => res.end())).kill();
    expect(await call(fixture)).toMatchObject(told(502, "connection_refused"));
  });
});

describe("a client that goes away", () => {
  it.each([
    ["before the answer", (): void => undefined],
    ["in the middle of the answer", (res: ServerResponse): void => void res.write("part")],
  ])("%s cancels the call at the replica", async (_name, respond) => {
    const state = { arrived: false, closed: false };
    const fixture = await gatewayFixture({
      handler: (_req, res) => {
        state.arrived = true;
        res.once("close", () => {
          state.closed = true;
        });
        respond(res);
      },
    });
    const client = connect(fixture.port, "127.0.0.1");
    client.write("GET /fn/default/hello HTTP/1.1\r\nHost: x\r\n\r\n");
    await eventually("the call arrives", () => state.arrived, Boolean);
    client.destroy();
    await eventually("the replica sees the end", () => state.closed, Boolean);
    await eventually(
      "it is over",
      () => fixture.gateway.inFlight(),
      (calls) => calls === 0,
    );
    expect(fixture.platform.leases("hello-0")).toBe(0);
    expect(fixture.finished).toMatchObject([{ status: 499 }]);
  });

  it("in the middle of its body ends the replica's request with an error", async () => {
    const state = { arrived: false, aborted: false };
    const fixture = await gatewayFixture({
      handler: (req) => {
        state.arrived = true;
        req.on("data", () => undefined);
        req.once("error", () => {
          state.aborted = true;
        });
      },
    });
    const client = httpRequest(`${fixture.origin}/fn/default/hello`, { method: "POST" });
    client.on("error", () => undefined);
    client.write("part");
    await eventually("the call arrives", () => state.arrived, Boolean);
    client.destroy();
    await eventually("the replica sees the end", () => state.aborted, Boolean);
  });
});

describe("an answer that is none", () => {
  const cases: Record<string, string> = {
    "no HTTP at all": "hello\r\n\r\n",
    "headers beyond all measure": `HTTP/1.1 200 OK\r\nX-Big: ${"a".repeat(200_000)}\r\n\r\n`,
    "an upgrade that nobody asked for": "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n",
  };
  it.each(Object.entries(cases))("is 502 for %s", async (_name, text) => {
    const fixture = await gatewayFixture();
    await fixture.addReplica((req) => req.socket.end(text));
    expect(await call(fixture, { method: "POST" })).toMatchObject(told(502, "response_invalid"));
  });
});

it("calls beyond the limit of one function are refused and the others go on", async () => {
  const answers: ServerResponse[] = [];
  const fixture = await gatewayFixture({ callsMax: 2, handler: (_req, res) => void answers.push(res) });
  const running = [1, 2].map(async () => (await fetch(`${fixture.origin}/fn/default/hello`)).text());
  await eventually(
    "two calls run",
    () => answers.length,
    (count) => count === 2,
  );
  expect(await call(fixture)).toMatchObject(told(503, "capacity_exceeded"));
  for (const answer of answers) answer.end("done");
  expect(await Promise.all(running)).toEqual(["done", "done"]);
});

it("closing the gateway breaks off what is still in flight", async () => {
  const fixture = await gatewayFixture({ handler: (_req, res) => void res.write("part") });
  const answer = await fetch(`${fixture.origin}/fn/default/hello`);
  await fixture.gateway.close();
  await expect(answer.text()).rejects.toThrow();
});

it("a port that another process answers now is not taken for the old replica", async () => {
  const fixture = await gatewayFixture();
  const port = await freePort();
  const old = await httpServer((_req, res) => res.end("old"), undefined, port);
  fixture.platform.serve(HELLO, [{ replica: "hello-0", origin: old.origin }]);
  await (await fetch(`${fixture.origin}/fn/default/hello`)).text();
  await old.kill();
  await httpServer((_req, res) => res.end("new"), undefined, port);
  fixture.platform.serve(HELLO, [{ replica: "another", origin: old.origin }]);
  const answer = await fetch(`${fixture.origin}/fn/default/hello`, { method: "POST", body: "x" });
  expect(await answer.text()).toBe("new");
});
