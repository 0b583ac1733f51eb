import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { bodyOf } from "../support/http-server.ts";
import { gatewayFixture, HELLO } from "./gateway-fixture.ts";
import { remoteGateway } from "./remote-gateway.ts";
import { standsStill } from "./stands-still.ts";

type Options = Parameters<typeof gatewayFixture>[0];

const WAYS: [string, (options: Options) => ReturnType<typeof gatewayFixture>][] = [
  ["in this process", gatewayFixture],
  [
    "in another process",
    async (options) => {
      const fixture = await gatewayFixture(options);
      const { invoke } = await remoteGateway(fixture.gateway);
      return { ...fixture, gateway: { ...fixture.gateway, invoke } };
    },
  ],
];

describe.each(WAYS)("through a gateway %s", (_name, open) => {
  it("a call from within needs no http trigger and says how it came", async () => {
    const { gateway } = await open({
      endpoint: { public: false },
      handler: async (req, res) => {
        const { "x-sless-trigger": trigger, "x-request-id": requestId } = req.headers;
        res.end(`${req.method} ${req.url} ${trigger} ${requestId} ${await bodyOf(req)}`);
      },
    });
    const answer = await gateway.invoke(HELLO, { trigger: "cron", requestId: "tick-1", path: "/a?b", body: "hi" });
    expect(await text(answer.body)).toBe("POST /a?b cron tick-1 hi");
    expect(answer).toMatchObject({ status: 200, requestId: "tick-1", headers: { "x-request-id": "tick-1" } });
  });

  it("a function's own error is an answer", async () => {
    const { gateway } = await open({ handler: (_req, res) => res.writeHead(500).end("oh") });
    const answer = await gateway.invoke(HELLO, { trigger: "invoke", body: Readable.from([Buffer.from("x")]) });
    expect([answer.status, await text(answer.body)]).toEqual([500, "oh"]);
  });

  it.each([
    ["nothing of that name", { name: "nobody" }, {}, "no_such_function"],
    ["another kind of that name", { kind: "Service" as const }, {}, "no_such_function"],
    ["no replica", {}, {}, "function_not_ready"],
    ["no replica wanted", {}, { replicas: 0 }, "scaled_to_zero"],
  ])("a call that reaches %s fails with the code", async (_name, ref, endpoint, code) => {
    const { gateway } = await open({ endpoint });
    await expect(gateway.invoke({ ...HELLO, ...ref }, { trigger: "invoke" })).rejects.toMatchObject({ code });
  });

  it("an answer that breaks off fails its reader", async () => {
    const { gateway } = await open({
      handler: (_req, res) => {
        res.write("part");
        setImmediate(() => res.destroy());
      },
    });
    const answer = await gateway.invoke(HELLO, { trigger: "invoke" });
    await expect(text(answer.body)).rejects.toMatchObject({ code: "connection_refused" });
  });

  it.each(["before", "during"])("aborting %s the answer cancels the call", async (when) => {
    let closed = false;
    let arrived = false;
    const { gateway, platform } = await open({
      handler: (_req, res) => {
        arrived = true;
        res.once("close", () => {
          closed = true;
        });
        if (when === "during") res.write("part");
      },
    });
    const abort = new AbortController();
    const answer = gateway.invoke(HELLO, { trigger: "invoke", signal: abort.signal });
    const outcome = when === "during" ? answer.then(({ body }) => text(body)) : answer;
    const ended = expect(outcome).rejects.toThrow("enough");
    await eventually("the call arrives", () => arrived, Boolean);
    if (when === "during") await answer;
    abort.abort(new Error("enough"));
    await ended;
    await eventually("the replica sees the end", () => closed, Boolean);
    await eventually(
      "it is over",
      () => [gateway.inFlight(), platform.leases("hello-0")],
      (left) => left.join() === "0,0",
    );
  });

  it("a caller that does not read stops the function's writing", async () => {
    let written = 0;
    const { gateway } = await open({
      handler: async (_req, res) => {
        await Readable.from(
          (async function* () {
            while (written < 100_000_000) {
              written += 1_000_000;
              yield Buffer.alloc(1_000_000);
            }
          })(),
        )
          .pipe(res)
          .once("error", () => undefined);
      },
    });
    const answer = await gateway.invoke(HELLO, { trigger: "invoke" });
    await standsStill(() => written);
    expect(written).toBeLessThan(50_000_000);
    answer.body.destroy();
    await eventually(
      "it is over",
      () => gateway.inFlight(),
      (calls) => calls === 0,
    );
  });

  it.each([
    ["a path that is none", { path: "no slash" }],
    ["a method that is none", { method: "GET /" }],
    ["a header that is none", { headers: { "x-y": "a\r\nb: c" } }],
  ])("%s is refused and holds nothing", async (_name, call) => {
    const { gateway, platform } = await open({ handler: (_req, res) => res.end() });
    await expect(gateway.invoke(HELLO, { trigger: "invoke", ...call })).rejects.toMatchObject({
      code: "invalid_request",
    });
    expect([gateway.inFlight(), platform.leases("hello-0")]).toEqual([0, 0]);
  });
});
