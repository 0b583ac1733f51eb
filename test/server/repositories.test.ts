import { expect, it } from "vitest";
import { ANNOTATIONS, HELD, LABELS, ownerAnnotation } from "../../src/apis/index.ts";
import type { HeldDeletion } from "../../src/server/client.ts";
import { functionIntent, type ServerFixture, serverFixture } from "./server-fixture.ts";

const MAIN = "/v1/namespaces/default/repositories/main";
const post = (body?: unknown): RequestInit =>
  body === undefined
    ? { method: "POST" }
    : { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };

async function createRepository({ store }: ServerFixture, spec: object = {}) {
  const metadata = { name: "main", namespace: "default" };
  return store.create({ kind: "Repository", metadata, spec: { url: "/r", ...spec } }, { owner: "api" });
}

/** A function whose deletion the repository holds. */
async function createHeld({ store }: ServerFixture, name: string, uid: string, owner = uid): Promise<HeldDeletion> {
  const labels = { [LABELS.repository]: uid, [LABELS.deletion]: HELD };
  const annotation = ownerAnnotation(owner, { kind: "Function", metadata: { name, namespace: "default" } });
  const intent = functionIntent(name, {}, { labels, annotations: { [ANNOTATIONS.owner]: annotation } });
  const written = await store.create(intent, { owner: "sync" });
  return { kind: "Function", name, uid: written.metadata.uid };
}

it("a plan tells what was planned, what is wrong and every deletion that waits", async () => {
  const fixture = await serverFixture();
  const repository = await createRepository(fixture);
  const { uid } = repository.metadata;
  const counts = { create: 1, update: 0, delete: 0, adopt: 0, hold: 1, refuse: 0, leave: 0, wait: 0, unchanged: 3 };
  const diagnostic = { code: "yaml_syntax", file: "a/function.yaml", line: 3, column: 1, message: "no" };
  await fixture.store.updateStatus(repository, {
    plan: { revision: "main@sha1:1", counts, actions: ["create Function/default/new"] },
    diagnostics: { count: 1, items: [diagnostic] },
  });
  const held = await createHeld(fixture, "old", uid);
  await createHeld(fixture, "copied", uid, "another-repository");
  await fixture.store.create(functionIntent("plain"), { owner: "api" });
  expect(await fixture.json(`${MAIN}/plan`)).toMatchObject({
    status: 200,
    body: {
      revision: "main@sha1:1",
      counts,
      actions: ["create Function/default/new"],
      diagnostics: { count: 1, items: [diagnostic] },
      held: [held],
    },
  });
});

it("a plan before the first sync is empty", async () => {
  const fixture = await serverFixture();
  await createRepository(fixture);
  expect((await fixture.json(`${MAIN}/plan`)).body).toEqual({
    actions: [],
    diagnostics: { count: 0, items: [] },
    held: [],
  });
});

it("asking for a sync leaves a new token each time", async () => {
  const fixture = await serverFixture();
  await createRepository(fixture);
  const tokens = [];
  for (const _ of [1, 2]) {
    const { status, body } = await fixture.json(`${MAIN}/reconcile`, post());
    const live = await fixture.store.get("Repository", { namespace: "default", name: "main" });
    expect([status, live?.metadata.annotations?.[ANNOTATIONS.requestedAt]]).toEqual([202, body.requested_at]);
    tokens.push(body.requested_at);
  }
  expect(tokens[0]).not.toBe(tokens[1]);
});

it("a suspended repository is not asked", async () => {
  const fixture = await serverFixture();
  await createRepository(fixture, { suspend: true });
  expect(await fixture.json(`${MAIN}/reconcile`, post())).toMatchObject({
    status: 409,
    body: { code: "repository_suspended" },
  });
});

it.each(["plan", "reconcile", "approve"])("%s of a repository that does not exist is 404", async (verb) => {
  const { json } = await serverFixture();
  const answer = await json(`${MAIN}/${verb}`, verb === "plan" ? {} : post());
  expect(answer).toMatchObject({ status: 404, body: { code: "not_found" } });
});

async function approving() {
  const fixture = await serverFixture();
  const { uid } = (await createRepository(fixture)).metadata;
  const held = [await createHeld(fixture, "a", uid), await createHeld(fixture, "b", uid)];
  /** Names of the objects whose deletion is approved, each for its own life. */
  async function approvedNames(): Promise<string[]> {
    const { items } = await fixture.store.list("Function", { namespace: "default" });
    const approved = items.filter(
      ({ metadata }) => metadata.annotations?.[ANNOTATIONS.deletionApproved] === `${uid}/${metadata.uid}`,
    );
    return approved.map(({ metadata }) => metadata.name).sort();
  }
  return { ...fixture, approvedNames, held };
}

it("an approval without a body covers exactly what is held now", async () => {
  const { json, approvedNames, held } = await approving();
  expect(await json(`${MAIN}/approve`, post())).toMatchObject({ status: 200, body: { approved: held } });
  expect(await approvedNames()).toEqual(["a", "b"]);
});

it("a deletion that has begun waits for no approval any more", async () => {
  const { json, store, held } = await approving();
  const live = (await store.get("Function", { namespace: "default", name: "a" }))!;
  await store.patch("Function", live.metadata, { metadata: { finalizers: ["example.com/slow"] } }, { owner: "api" });
  await store.delete("Function", live.metadata, { uid: live.metadata.uid });
  expect(await json(`${MAIN}/plan`)).toMatchObject({ body: { held: [held[1]] } });
  expect(await json(`${MAIN}/approve`, post())).toMatchObject({ status: 200, body: { approved: [held[1]] } });
});

it("an approval of named deletions covers no other", async () => {
  const { json, approvedNames, held } = await approving();
  const answer = await json(`${MAIN}/approve`, post({ deletions: [held[1]] }));
  expect(answer).toMatchObject({ status: 200, body: { approved: [held[1]] } });
  expect(await approvedNames()).toEqual(["b"]);
});

it.each([
  ["an object made anew meanwhile", { deletions: [{ kind: "Function", name: "a", uid: "older" }] }, 404],
  ["an unknown kind", { deletions: [{ kind: "Pod", name: "a", uid: "u" }] }, 400],
  ["a missing UID", { deletions: [{ kind: "Function", name: "a" }] }, 400],
  ["an unknown field", { all: true }, 400],
  ["an empty list", { deletions: [] }, 400],
])("an approval of %s approves nothing", async (_name, body, status) => {
  const { json, approvedNames } = await approving();
  expect((await json(`${MAIN}/approve`, post(body))).status).toBe(status);
  expect(await approvedNames()).toEqual([]);
});

it("all faults of an approval are told at once", async () => {
  const { json } = await approving();
  const { body } = await json(`${MAIN}/approve`, post({ deletions: [{ kind: "Pod", name: "" }], all: true }));
  const fields = (body.details as { field: string }[]).map(({ field }) => field);
  expect(fields.sort()).toEqual(["all", "deletions/0", "deletions/0/kind", "deletions/0/name"]);
});

it.each([
  ["no JSON", "{", "application/json", 400],
  ["another type", "a=1", "application/x-www-form-urlencoded", 415],
  ["more than a request may have", JSON.stringify({ x: "a".repeat(2_000_000) }), "application/json", 413],
])("a body that is %s is the client's fault", async (_name, body, type, status) => {
  const { json } = await approving();
  const answer = await json(`${MAIN}/approve`, { method: "POST", headers: { "content-type": type }, body });
  expect(answer.status).toBe(status);
  const details = status === 413 ? [] : [{ field: "", message: expect.any(String) }];
  expect(answer.body).toMatchObject({ error: expect.any(String), code: expect.any(String), details });
});

it("an empty body that says it is JSON counts as none", async () => {
  const { json, approvedNames } = await approving();
  const init = { method: "POST", headers: { "content-type": "application/json" }, body: "" };
  expect((await json(`${MAIN}/approve`, init)).status).toBe(200);
  expect(await approvedNames()).toEqual(["a", "b"]);
});

const pinnedBy = { namespace: "default", name: "main" };
const json = (method: string, body: unknown): RequestInit => ({
  method,
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
});
it.each<[string, RequestInit, string]>([
  ["deleted", { method: "DELETE" }, "it would be there again with the next start"],
  ["pointed elsewhere", json("PATCH", { url: "https://example.com/r.git" }), "its url comes from the command line"],
  [
    "made to follow another branch",
    json("PATCH", { ref: { branch: "next" }, path: "a" }),
    "its ref and path come from the command line",
  ],
  ["replaced", json("PUT", { url: "https://example.com/r.git" }), "its url comes from the command line"],
])("the repository that the server was started with is not %s", async (_, init, why) => {
  const fixture = await serverFixture({ startedWith: pinnedBy });
  const before = await createRepository(fixture);
  expect(await fixture.json(MAIN, init)).toMatchObject({
    status: 409,
    body: { code: "repository_pinned", error: expect.stringContaining(why) },
  });
  expect(await fixture.store.get("Repository", pinnedBy)).toEqual(before);
});

it("the repository that the server was started with may be suspended, and others are free", async () => {
  const fixture = await serverFixture({ startedWith: pinnedBy });
  await createRepository(fixture);
  expect(await fixture.json(MAIN, json("PATCH", { suspend: true, interval: "5m" }))).toMatchObject({ status: 200 });
  const other = { name: "other", url: "https://example.com/r.git" };
  const collection = "/v1/namespaces/default/repositories";
  expect(await fixture.json(collection, json("POST", other))).toMatchObject({ status: 201 });
  expect((await fetch(`${fixture.url}${collection}/other`, { method: "DELETE" })).status).toBeLessThan(300);
});
