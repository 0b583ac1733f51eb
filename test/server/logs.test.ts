import { expect, it } from "vitest";
import { lastLines } from "../../src/server/last-lines.ts";
import { eventually } from "../support/eventually.ts";
import { functionIntent, serverFixture } from "./server-fixture.ts";

const LOGS = "/v1/namespaces/default/functions/hello/logs";

/** Output that says hello at once and then lasts until it is told to end. */
function endless() {
  const seen = { options: {} as object, ended: false };
  async function* logs(_workload: object, options: { signal: AbortSignal }) {
    seen.options = options;
    yield Buffer.from("hello\n");
    const { promise, resolve } = Promise.withResolvers<void>();
    options.signal.addEventListener("abort", () => resolve());
    await promise;
    seen.ended = true;
  }
  return { seen, platform: { logs } };
}

it("the output of the replicas comes as text", async () => {
  const { store, url } = await serverFixture();
  await store.create(functionIntent("hello"), { owner: "api" });
  const answer = await fetch(`${url}${LOGS}`);
  expect(answer.headers.get("content-type")).toBe("text/plain; charset=utf-8");
  expect(await answer.text()).toBe("Function/default/hello says hello\n");
});

it("a followed log arrives as it is written and ends when the client leaves", async () => {
  const { seen, platform } = endless();
  const { store, url } = await serverFixture({ platform });
  await store.create(functionIntent("hello"), { owner: "api" });
  const answer = await fetch(`${url}${LOGS}?follow=true&tail=7`);
  const reader = answer.body!.getReader();
  expect(Buffer.from((await reader.read()).value!).toString()).toBe("hello\n");
  expect(seen.options).toMatchObject({ follow: true, tailLines: 7 });
  await reader.cancel();
  await eventually("the platform is told", () => seen.ended, Boolean);
});

it("a followed log ends well when the server closes", async () => {
  const { seen, platform } = endless();
  const { store, url, server } = await serverFixture({ platform });
  await store.create(functionIntent("hello"), { owner: "api" });
  const answer = await fetch(`${url}${LOGS}?follow=true`);
  await server.close();
  expect([await answer.text(), seen.ended]).toEqual(["hello\n", true]);
});

it("the output of the build can be cut to its last lines", async () => {
  const { store, url } = await serverFixture();
  await store.create(functionIntent("hello"), { owner: "api" });
  const text = async (query: string) => (await fetch(`${url}${LOGS}?build=true${query}`)).text();
  expect(await text("")).toBe("build of hello\nline 2\nline 3\n");
  expect(await text("&tail=2")).toBe("line 2\nline 3\n");
});

it.each([
  ["/v1/namespaces/default/functions/nobody/logs", 404],
  ["/v1/namespaces/default/triggers/hello/logs", 404],
  [`${LOGS}?tail=-1`, 400],
  [`${LOGS}?follow=perhaps`, 400],
])("%s has no log", async (path, status) => {
  const { store, json } = await serverFixture();
  await store.create(functionIntent("hello"), { owner: "api" });
  expect((await json(path)).status).toBe(status);
});

it.each([
  [["a\nb\nc\n"], 2, "b\nc\n"],
  [["a\nb", "b\nc", "c"], 2, "bb\ncc"],
  [["a\n", "b\n", "c\n"], 5, "a\nb\nc\n"],
  [["\n\n\n"], 2, "\n\n"],
  [["a\n"], 0, ""],
  [[], 3, ""],
])("of %j the last %i lines are %j", async (chunks, count, expected) => {
  async function* output() {
    for (const chunk of chunks) yield Buffer.from(chunk);
  }
  const parts: Uint8Array[] = [];
  for await (const part of lastLines(output(), count)) parts.push(part);
  expect(Buffer.concat(parts).toString()).toBe(expected);
});
