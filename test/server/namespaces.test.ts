import { join } from "node:path";
import { expect, it } from "vitest";
import { namespaceFiles } from "../../src/app/namespace-files.ts";
import { createEventRing } from "../../src/server/index.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { testClock } from "../support/test-clock.ts";
import { functionIntent, serverFixture } from "./server-fixture.ts";

it("of many calls at once that ensure a namespace, one creates it", async () => {
  const folder = join(await temporaryFolder(), "namespaces");
  const { json } = await serverFixture({ namespaces: namespaceFiles(folder) });
  const ensure = () => json("/v1/namespaces/team-a/ensure", { method: "POST" });
  const answers = await Promise.all(Array.from({ length: 20 }, ensure));
  expect(answers.filter(({ status }) => status === 201)).toEqual([
    { status: 201, body: { namespace: "team-a", status: "created" } },
  ]);
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(19);
  // Another process over the same folder knows it too.
  expect(await namespaceFiles(folder).has("team-a")).toBe(true);
  expect(await ensure()).toEqual({ status: 200, body: { namespace: "team-a", status: "exists" } });
});

it("a namespace is made for who asks", async () => {
  const asked: unknown[] = [];
  const ensure = async (...args: unknown[]) => {
    asked.push(args);
    return "created" as const;
  };
  const ada = { subject: "ada", namespace: "default", authentication: "token" } as const;
  const { json } = await serverFixture({ namespaces: { has: async () => true, ensure }, whoami: () => ada });
  await json("/v1/namespaces/team-a/ensure", { method: "POST" });
  expect(asked).toEqual([["team-a", ada]]);
});

it.each(["Team", "a_b", "-a", "a".repeat(55), "..", "%2e%2e%2fx"])("%s is no name of a namespace", async (name) => {
  const { json } = await serverFixture({ namespaces: namespaceFiles(await temporaryFolder()) });
  const { status } = await json(`/v1/namespaces/${name}/ensure`, { method: "POST" });
  expect([400, 404]).toContain(status);
  expect(await namespaceFiles(await temporaryFolder()).has(name)).toBe(false);
});

it("a namespace tells what happened in it, the latest last", async () => {
  const clock = testClock();
  const ring = createEventRing(clock);
  const { json } = await serverFixture({ events: ring });
  const object = { kind: "Function", namespace: "default", name: "hello" } as const;
  ring.report({ step: "notice", message: "about nobody" });
  ring.report({ step: "stored", object, sourceDigest: "ab".repeat(32), durationMs: 1 });
  ring.report({ step: "deleted", object: { ...object, namespace: "other" } });
  clock.forward(1000);
  ring.report({ step: "failed", object, reason: "BuildFailed", message: "no such package" });
  expect((await json("/v1/namespaces/default/events")).body).toEqual({
    items: [
      {
        type: "Normal",
        reason: "SourceStored",
        message: "Stored source abababababab",
        object: { kind: "Function", name: "hello" },
        time: "2026-03-01T12:00:00.000Z",
      },
      {
        type: "Warning",
        reason: "BuildFailed",
        message: "no such package",
        object: { kind: "Function", name: "hello" },
        time: "2026-03-01T12:00:01.000Z",
      },
    ],
  });
  expect((await json("/v1/namespaces/default/events?limit=1")).body.items).toMatchObject([{ reason: "BuildFailed" }]);
  expect((await json("/v1/namespaces/nobody/events")).body).toEqual({ items: [] });
});

it("events are forgotten, the oldest first, in a namespace and over all of them", () => {
  const ring = createEventRing(testClock());
  const say = (namespace: string, name: string) =>
    ring.report({ step: "deleted", object: { kind: "Function", namespace, name } });
  for (let index = 0; index < 250; index += 1) say("busy", `f${index}`);
  expect(ring.list("busy").map(({ object }) => object.name)).toEqual(
    Array.from({ length: 200 }, (_, i) => `f${i + 50}`),
  );
  for (let index = 0; index < 20_000; index += 1) say(`n${index % 100}`, `f${index}`);
  expect(ring.list("busy")).toEqual([]);
  expect(ring.list("n0")).toHaveLength(200);
});

it("calls that nobody recorded are told as such, not as none", async () => {
  const { json, store } = await serverFixture();
  await store.create(functionIntent("hello"), { owner: "api" });
  expect(await json("/v1/namespaces/default/functions/hello/invocations")).toMatchObject({
    status: 501,
    body: { code: "history_missing" },
  });
  expect(await json("/v1/namespaces/default/functions/nobody/invocations")).toMatchObject({ status: 404 });
});

it("whoever asks is told who that is", async () => {
  const { json } = await serverFixture();
  expect(await json("/v1/whoami")).toEqual({
    status: 200,
    body: { subject: "local", namespace: "default", authentication: "none" },
  });
});
