import { expect, it } from "vitest";
import { FINALIZER } from "../../src/apis/index.ts";
import { eventually } from "../support/eventually.ts";
import { memoryStore } from "../support/memory-store.ts";
import { functionIntent, serverFixture } from "./server-fixture.ts";

const FUNCTIONS = "/v1/namespaces/default/functions";
const KEY = { namespace: "default", name: "hello" };

/** A server whose store nobody cleans up in, with a Function that the reconcilers hold. */
async function held(goneWaitMs: number) {
  const store = await memoryStore();
  const fixture = await serverFixture({ store, goneWaitMs });
  const { metadata } = await store.create(functionIntent("hello", {}, { finalizers: [FINALIZER] }), { owner: "api" });
  const terminating = () =>
    eventually(
      "it is terminating",
      () => store.get("Function", KEY),
      (seen) => seen?.metadata.deletionTimestamp !== undefined,
    );
  const letGo = () => store.patch("Function", KEY, { metadata: { finalizers: [] } }, { owner: "reconciler" });
  return { ...fixture, store, uid: metadata.uid, terminating, letGo };
}

const remove = (url: string) => fetch(`${url}${FUNCTIONS}/hello`, { method: "DELETE" });
const sending = (method: string, body: unknown) => ({
  method,
  body: JSON.stringify(body),
  headers: { "content-type": "application/json" },
});

it("a DELETE is answered when the clean-up is done", async () => {
  const { url, terminating, letGo, store } = await held(60_000);
  const answer = remove(url);
  await terminating();
  // News of others are not what it waits for.
  await store.create(functionIntent("other"), { owner: "api" });
  await store.delete("Function", { namespace: "default", name: "other" });
  await letGo();
  expect((await answer).status).toBe(204);
});

it("a DELETE whose clean-up takes long is accepted, and the object says that it goes", async () => {
  const { json } = await held(50);
  expect(await json(`${FUNCTIONS}/hello`, { method: "DELETE" })).toEqual({
    status: 202,
    body: { name: "hello", namespace: "default", deleting: true },
  });
  expect((await json(`${FUNCTIONS}/hello`)).body).toMatchObject({ deleting: true });
  expect((await json(`${FUNCTIONS}/hello`, { method: "DELETE" })).status).toBe(202);
});

it("a POST of a name that is being deleted waits, and makes a new object", async () => {
  const { store, json, letGo, uid } = await held(60_000);
  await store.delete("Function", KEY);
  const made = json(FUNCTIONS, sending("POST", { name: "hello", runtime: "python3.11" }));
  await letGo();
  expect((await made).status).toBe(201);
  const live = await store.get("Function", KEY);
  expect(live?.metadata.uid).not.toBe(uid);
  expect(live?.metadata.finalizers).toEqual([FINALIZER]);
});

it.each([
  ["POST", FUNCTIONS],
  ["POST", "/v1/namespaces/default/services"],
  ["PUT", `${FUNCTIONS}/hello`],
  ["PATCH", `${FUNCTIONS}/hello`],
])("%s %s is a conflict as long as the function is being deleted", async (method, path) => {
  const { store, json } = await held(50);
  await store.delete("Function", KEY);
  const answer = await json(path, sending(method, { name: "hello", runtime: "python3.11" }));
  expect(answer).toMatchObject({ status: 409, body: { code: "being_deleted" } });
});

it("a server that closes lets go of those that wait", async () => {
  const { url, server, terminating } = await held(60_000);
  const answer = remove(url);
  await terminating();
  await server.close();
  expect((await answer).status).toBe(202);
});
