import { Client } from "undici";
import { expect, it, onTestFinished } from "vitest";
import { SlessError } from "../../src/errors/index.ts";
import { eventually } from "../support/eventually.ts";
import { manualClock } from "../support/manual-clock.ts";
import { CALLER_TOKEN, fakeLeader, leaderPort, REPORT } from "./leader-fixture.ts";

const HELLO = "Function/team/hello";
const headers = { "x-sless-token": CALLER_TOKEN };

it.each([
  ["without a token", {}, 401, "unauthenticated"],
  ["with a token that nobody knows", { "x-sless-token": "guess" }, 401, "unauthenticated"],
  ["with the token where clients have theirs", { authorization: `Bearer ${CALLER_TOKEN}` }, 401, "unauthenticated"],
  ["with a tenant's token", { "x-sless-token": "tenant" }, 403, "forbidden"],
  ["while nobody can tell whose token it is", { "x-sless-token": "away" }, 503, "cluster_unavailable"],
])("whoever comes %s learns nothing, and makes it do nothing", async (_name, forged, status, code) => {
  const asked: string[] = [];
  const { url } = await leaderPort(
    fakeLeader({
      async placeOf() {
        asked.push("place");
        return { file: "secret.yaml" };
      },
      async *buildLogs() {
        asked.push("logs");
        yield Buffer.from("secret");
      },
      async collectGarbage() {
        asked.push("garbage");
        return REPORT;
      },
    }),
  );
  for (const [method, path] of [
    ["GET", `/places/code/${HELLO}`],
    ["GET", `/build-logs/${HELLO}`],
    ["POST", "/garbage"],
    ["GET", "/nothing"],
  ] as const) {
    const answer = await fetch(url + path, { method, headers: forged as Record<string, string> });
    expect([answer.status, ((await answer.json()) as { error: { code: string } }).error.code]).toEqual([status, code]);
  }
  expect(asked).toEqual([]);
});

it.each(["/", "/metrics", "/v1/gc", `/places/code/${HELLO}/..`, "/places/code/Function/../hello"])(
  "%s is no address of the port",
  async (path) => {
    const { url } = await leaderPort(fakeLeader());
    // Unlike fetch, it sends a path as it stands.
    const client = new Client(url);
    onTestFinished(() => client.destroy());
    expect((await client.request({ method: "GET", path, headers })).statusCode).toBe(404);
  },
);

it("a process that does not lead answers nothing in place of the one that does", async () => {
  const { url } = await leaderPort(() => undefined);
  const answer = await fetch(`${url}/garbage`, { method: "POST", headers });
  expect([answer.status, await answer.json()]).toMatchObject([503, { error: { code: "controller_unreachable" } }]);
});

it("an unexpected error is told without what it was", async () => {
  const fail = async () => {
    throw new Error("password 1234");
  };
  const { url, warned } = await leaderPort(fakeLeader({ placeOf: fail, collectGarbage: fail }));
  const place = await fetch(`${url}/places/code/${HELLO}`, { headers });
  const garbage = await fetch(`${url}/garbage`, { method: "POST", headers });
  expect([place.status, garbage.status]).toEqual([500, 200]);
  for (const answer of [place, garbage]) {
    const text = await answer.text();
    expect(JSON.parse(text).error.code).toBe("internal");
    expect(text).not.toContain("1234");
  }
  expect(warned).toHaveLength(2);
});

it("shows now and then that it still collects", async () => {
  const clock = manualClock();
  const finish = Promise.withResolvers<void>();
  const leader = fakeLeader({
    async collectGarbage() {
      await finish.promise;
      return REPORT;
    },
  });
  const { url } = await leaderPort(leader, clock);
  const { body } = await fetch(`${url}/garbage`, { method: "POST", headers });
  const reader = body!.pipeThrough(new TextDecoderStream()).getReader();
  clock.advance(5_000);
  expect((await reader.read()).value).toBe("\n");
  clock.advance(5_000);
  expect((await reader.read()).value).toBe("\n");
  finish.resolve();
  expect((await reader.read()).value).toBe(JSON.stringify({ report: REPORT }));
  expect(clock.timers()).toEqual([]);
});

it("goes on collecting when nobody waits for the report any more", async () => {
  const clock = manualClock();
  const finish = Promise.withResolvers<void>();
  let hasEnded = false;
  const leader = fakeLeader({
    async collectGarbage() {
      await finish.promise;
      hasEnded = true;
      return REPORT;
    },
  });
  const { url } = await leaderPort(leader, clock);
  const leaving = new AbortController();
  await fetch(`${url}/garbage`, { method: "POST", headers, signal: leaving.signal });
  leaving.abort();
  for (let beats = 0; beats < 3; beats += 1) clock.advance(5_000);
  finish.resolve();
  await eventually("it has ended", () => hasEnded && clock.timers().length === 0, Boolean);
  expect((await fetch(`${url}/places/code/${HELLO}`, { headers })).status).toBe(200);
});

it("a stop ends logs that are followed", async () => {
  let ended = false;
  const leader = fakeLeader({
    async *buildLogs(_workload, { signal }) {
      yield Buffer.from("begins\n");
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      ended = true;
    },
  });
  const { url, close } = await leaderPort(leader);
  const answer = await fetch(`${url}/build-logs/${HELLO}?follow=true`, { headers });
  const text = answer.text().catch(() => "broken off");
  await close();
  await text;
  await eventually("the leader's side has ended", () => ended, Boolean);
});

it("errors that are told by name come with what fills them", async () => {
  const collectGarbage = async () => {
    throw new SlessError("garbage_of_others", { others: "another" });
  };
  const { url } = await leaderPort(fakeLeader({ collectGarbage }));
  const answer = await fetch(`${url}/garbage`, { method: "POST", headers });
  expect(await answer.json()).toEqual({ error: { code: "garbage_of_others", details: { others: "another" } } });
});
