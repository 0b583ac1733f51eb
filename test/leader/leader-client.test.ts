import type { RequestListener } from "node:http";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import { systemClock } from "../../src/controller/index.ts";
import { SlessError } from "../../src/errors/index.ts";
import { type Leader, leaderClient } from "../../src/leader/index.ts";
import { eventually } from "../support/eventually.ts";
import { httpServer } from "../support/http-server.ts";
import { manualClock } from "../support/manual-clock.ts";
import { CALLER_TOKEN, clientOf, fakeLeader, leaderPort, REPORT } from "./leader-fixture.ts";

const HELLO = { kind: "Function", namespace: "team", name: "hello" } as const;
const CODE = { namespace: "team", name: "code" };
const never = new AbortController().signal;

const logsOf = async (client: Leader, signal = never) => text(client.buildLogs(HELLO, { follow: true, signal }));

it("the leader tells another process what it tells its own", async () => {
  const asked: unknown[] = [];
  const leader = fakeLeader({
    async placeOf(object, repository) {
      asked.push([object, repository]);
      return object.name === "hello" ? { file: "a.yaml", line: 7 } : undefined;
    },
    async *buildLogs(workload, { follow }) {
      asked.push([workload, follow]);
      yield Buffer.from("one\n");
      yield Buffer.from("two\n");
    },
    async collectGarbage(options) {
      asked.push(options);
      return REPORT;
    },
  });
  const client = await clientOf((await leaderPort(leader)).url);
  expect(await client.placeOf(HELLO, CODE)).toEqual({ file: "a.yaml", line: 7 });
  expect(await client.placeOf({ ...HELLO, kind: "Trigger", name: "other" }, CODE)).toBeUndefined();
  expect(await logsOf(client)).toBe("one\ntwo\n");
  expect(await client.collectGarbage({ dryRun: true })).toEqual(REPORT);
  expect(asked).toEqual([
    [HELLO, CODE],
    [{ ...HELLO, kind: "Trigger", name: "other" }, CODE],
    [HELLO, true],
    { dryRun: true },
  ]);
});

it("errors of a collection are the leader's own", async () => {
  const collectGarbage = async () => {
    throw new SlessError("garbage_of_others", { others: "another" });
  };
  const client = await clientOf((await leaderPort(fakeLeader({ collectGarbage }))).url);
  const expected = { code: "garbage_of_others", status: 409, details: { others: "another" } };
  await expect(client.collectGarbage({ dryRun: false })).rejects.toMatchObject(expected);
});

it("who leaves a log that is followed lets go of it at the leader", async () => {
  let isLet = false;
  const leader = fakeLeader({
    async *buildLogs(_workload, { signal }) {
      yield Buffer.from("begins\n");
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      isLet = true;
    },
  });
  const client = await clientOf((await leaderPort(leader)).url);
  const leaving = new AbortController();
  for await (const chunk of client.buildLogs(HELLO, { follow: true, signal: leaving.signal })) {
    expect(Buffer.from(chunk).toString()).toBe("begins\n");
    leaving.abort();
  }
  await eventually("it is let go", () => isLet, Boolean);
});

/** Why each question stays without an answer. */
async function refusals(client: Leader): Promise<SlessError[]> {
  const questions = [client.placeOf(HELLO, CODE), logsOf(client), client.collectGarbage({ dryRun: false })];
  const settled = await Promise.allSettled<unknown>(questions);
  return settled.map((one) => (one.status === "rejected" ? one.reason : expect.fail("it was answered")));
}

const answering =
  (status: number, body: string): RequestListener =>
  (_req, res) =>
    res.writeHead(status).end(body);
const HUGE = `{"report":"${"x".repeat(17 * 1024 * 1024)}"}`;

it.each<[string, RequestListener]>([
  ["refuses", answering(403, JSON.stringify({ error: { code: "forbidden", details: { what: "The port" } } }))],
  [
    "does not lead any more",
    answering(503, JSON.stringify({ error: { code: "controller_unreachable", details: { cause: "it does not" } } })),
  ],
  [
    "knows no such address, as an older one",
    answering(404, JSON.stringify({ error: { code: "not_found", details: { what: "It" } } })),
  ],
  ["is something else", answering(502, "<html>")],
  ["tells an error that nobody knows", answering(500, JSON.stringify({ error: { code: "toString", details: {} } }))],
  ["hangs up", (_req, res) => res.destroy()],
  ["breaks off", (_req, res) => void res.writeHead(200).write('{"rep', () => res.destroy())],
  ["tells more than anybody has memory for", answering(200, HUGE)],
])("a leader that %s is told of as one that does not answer", async (_name, handler) => {
  const { origin } = await httpServer(handler);
  const client = await clientOf(origin);
  for (const refusal of await refusals(client))
    expect(refusal).toMatchObject({ code: "controller_unreachable", status: 503 });
});

it.each([
  ["no JSON", "<html>"],
  ["JSON of another kind", "[1]"],
  ["nothing", ""],
  ["an error that nobody knows", '{"error":{"code":"constructor"}}'],
])("a report that is %s is none", async (_name, body) => {
  const { origin } = await httpServer(answering(200, body));
  const client = await clientOf(origin);
  await expect(client.collectGarbage({ dryRun: true })).rejects.toMatchObject({ code: "controller_unreachable" });
});

it.each([
  [
    { file: "a.yaml", line: 3, column: 4, more: "x" },
    { file: "a.yaml", line: 3 },
  ],
  [{ file: "a.yaml", line: "3" }, { file: "a.yaml" }],
  [{ file: "a.yaml", line: 0 }, { file: "a.yaml" }],
  [{ file: "a.yaml", line: 1.5 }, { file: "a.yaml" }],
  [{ file: 5, line: 3 }, undefined],
  ["a.yaml", undefined],
  [null, undefined],
])("of the place %j it takes %j", async (place, taken) => {
  const { origin } = await httpServer(answering(200, JSON.stringify({ place })));
  expect(await (await clientOf(origin)).placeOf(HELLO, CODE)).toEqual(taken);
});

it("a leader that does not answer in time is not waited for, nor asked again for a while", async () => {
  const clock = manualClock();
  let asked = 0;
  const { origin } = await httpServer(() => {
    asked += 1;
  });
  const client = await clientOf(origin, { clock });
  await expect(client.placeOf(HELLO, CODE)).rejects.toMatchObject({ code: "controller_unreachable" });
  await expect(client.placeOf(HELLO, CODE)).rejects.toMatchObject({ code: "controller_unreachable" });
  expect(asked).toBe(1);
  clock.advance(5_000);
  await expect(client.placeOf(HELLO, CODE)).rejects.toMatchObject({ code: "controller_unreachable" });
  expect(asked).toBe(2);
});

it("another leader is found after a while, and at once by who collects garbage", async () => {
  const clock = manualClock();
  const old = await leaderPort(fakeLeader({ placeOf: async () => ({ file: "old.yaml" }) }));
  const next = await leaderPort(fakeLeader({ placeOf: async () => ({ file: "new.yaml" }) }));
  let where = old.url;
  let looks = 0;
  const find = async () => {
    looks += 1;
    return where;
  };
  const client = await clientOf(find, { clock });
  for (let n = 0; n < 5; n += 1) expect(await client.placeOf(HELLO, CODE)).toEqual({ file: "old.yaml" });
  expect(looks).toBe(1);
  await old.close();
  where = next.url;
  expect(await client.collectGarbage({ dryRun: true })).toEqual(REPORT);
  await expect(client.placeOf(HELLO, CODE)).rejects.toMatchObject({ code: "controller_unreachable" });
  clock.advance(5_000);
  expect(await client.placeOf(HELLO, CODE)).toEqual({ file: "new.yaml" });
});

it("while nobody leads, every question says so", async () => {
  const client = await clientOf(async () => {
    throw new SlessError("controller_unreachable", { cause: "none leads now" });
  });
  for (const { message } of await refusals(client)) expect(message).toContain("none leads now");
});

it("a token is never told, and a file of it that is not there is", async () => {
  const { origin } = await httpServer(answering(500, CALLER_TOKEN));
  for (const { message } of await refusals(await clientOf(origin))) expect(message).not.toContain(CALLER_TOKEN);
  const address = { find: async () => origin };
  const client = leaderClient({ address, tokenFile: "/no/such/token", clock: systemClock });
  for (const { message } of await refusals(client)) expect(message).toContain("/no/such/token");
  await client.close();
});

it("a token with a line break in it goes nowhere", async () => {
  const { origin } = await httpServer(answering(200, "{}"));
  const client = await clientOf(origin, { token: "a\r\nx-evil: 1" });
  await expect(client.collectGarbage({ dryRun: true })).rejects.toMatchObject({
    code: "controller_unreachable",
    message: expect.not.stringContaining("evil"),
  });
});
