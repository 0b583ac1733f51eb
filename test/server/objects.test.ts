import { expect, it } from "vitest";
import { ANNOTATIONS, APPLIED, LABELS, ownerAnnotation } from "../../src/apis/index.ts";
import type { ResourceAccess } from "../../src/auth/index.ts";
import { SlessError } from "../../src/errors/index.ts";
import { memoryStore } from "../support/memory-store.ts";
import { functionIntent, serverFixture } from "./server-fixture.ts";

const FUNCTIONS = "/v1/namespaces/default/functions";

it("a function is told in the fields of the REST API", async () => {
  const { store, json } = await serverFixture();
  const repository = await store.create(
    {
      kind: "Repository",
      metadata: { name: "main", namespace: "default" },
      spec: { url: "https://u:secret@host/r.git" },
    },
    { owner: "api" },
  );
  const { uid } = repository.metadata;
  const object = functionIntent("hello");
  const written = await store.create(
    functionIntent(
      "hello",
      { env: { GREETING: "Hi" }, secretEnv: { TOKEN: { secret: "api", key: "token" } } },
      {
        labels: { [LABELS.repository]: uid },
        annotations: {
          [ANNOTATIONS.owner]: ownerAnnotation(uid, { kind: "Function", metadata: object.metadata }),
          [ANNOTATIONS.path]: "functions/hello/function.yaml",
          [ANNOTATIONS.revision]: "main@sha1:abc",
        },
      },
    ),
    { owner: "sync" },
  );
  await store.updateStatus(written, {
    observedGeneration: 1,
    phase: "Ready",
    url: "http://127.0.0.1:9090/fn/default/hello",
    replicas: 1,
    conditions: [
      { type: "Ready", status: "True", reason: "Serving", message: "", lastTransitionTime: "2026-01-01T00:00:00Z" },
    ],
  });
  const { status, body } = await json(`${FUNCTIONS}/hello`);
  expect(status).toBe(200);
  expect(body).toEqual({
    namespace: "default",
    name: "hello",
    created_at: written.metadata.creationTimestamp,
    deleting: false,
    repository: { name: "main", path: "functions/hello/function.yaml", revision: "main@sha1:abc" },
    conditions: [
      { type: "Ready", status: "True", reason: "Serving", message: "", last_transition_time: "2026-01-01T00:00:00Z" },
    ],
    runtime: "python3.11",
    entrypoint: "handler.handle",
    memory_mb: 128,
    timeout_sec: 30,
    env_vars: { GREETING: "Hi" },
    secret_env_vars: { TOKEN: { secret: "api", key: "token" } },
    replicas: 1,
    phase: "Ready",
    ready: true,
    serving_replicas: 1,
    history: [],
    url: "http://127.0.0.1:9090/fn/default/hello",
  });
  expect((await json("/v1/namespaces/default/repositories/main")).body).toMatchObject({ url: "https://host/r.git" });
});

it.each([
  [{ phase: "Ready", message: "" } as const, "It stays as it was"],
  [{ phase: "Failed", message: "It crashes." } as const, "It crashes."],
])("a function of which a change was refused says so where it has nothing else to say", async (status, message) => {
  const { store, json } = await serverFixture();
  const written = await store.create(functionIntent("hello"), { owner: "api" });
  const applied = { type: APPLIED, status: "False" as const, reason: "Invalid", message: "It stays as it was" };
  const conditions = [{ ...applied, lastTransitionTime: "2026-01-01T00:00:00Z" }];
  await store.updateStatus(written, { ...status, conditions });
  expect((await json(`${FUNCTIONS}/hello`)).body).toMatchObject({ message });
});

it("an object that says Ready of an older generation is not ready", async () => {
  const { store, json } = await serverFixture();
  const written = await store.create(functionIntent("hello"), { owner: "api" });
  const ready = { type: "Ready", status: "True" as const, reason: "Serving", message: "" };
  await store.updateStatus(written, {
    observedGeneration: 1,
    conditions: [{ ...ready, lastTransitionTime: "2026-01-01T00:00:00Z" }],
  });
  await store.patch("Function", written.metadata, { spec: { memoryMB: 256 } }, { owner: "api" });
  expect((await json(`${FUNCTIONS}/hello`)).body).toMatchObject({ ready: false, memory_mb: 256 });
});

it("jobs, triggers and services have fields of their own", async () => {
  const { store, json } = await serverFixture();
  const metadata = { name: "x", namespace: "default" };
  await store.create(
    { kind: "FunctionJob", metadata, spec: { functionRef: "hello", eventJSON: "{}", runID: 3 } },
    { owner: "api" },
  );
  await store.create({ kind: "Trigger", metadata, spec: { type: "http", functionRef: "hello" } }, { owner: "api" });
  await store.create({ kind: "Service", metadata, spec: { runtime: "nodejs20" } }, { owner: "api" });
  const of = async (plural: string) => (await json(`/v1/namespaces/default/${plural}/x`)).body;
  expect(await of("jobs")).toMatchObject({ function_ref: "hello", event_json: "{}", run_id: 3, phase: "Pending" });
  expect(await of("triggers")).toMatchObject({ type: "http", function_ref: "hello", enabled: true, active: false });
  expect(await of("services")).toMatchObject({ runtime: "nodejs20", timeout_sec: 0, env_vars: {} });
});

it("a list is paged by name and neither repeats nor loses what stays", async () => {
  const { store, json } = await serverFixture();
  for (const name of ["c", "a", "e", "b", "d"]) await store.create(functionIntent(name), { owner: "api" });
  await store.create({ ...functionIntent("z"), metadata: { name: "z", namespace: "other" } }, { owner: "api" });
  const names = (body: { items: unknown[] }) => body.items.map((item) => (item as { name: string }).name);
  const first = (await json(`${FUNCTIONS}?limit=2`)).body;
  await store.delete("Function", { namespace: "default", name: "b" });
  const second = (await json(`${FUNCTIONS}?limit=2&continue=${first.next}`)).body;
  const third = (await json(`${FUNCTIONS}?limit=2&continue=${second.next}`)).body;
  expect([names(first), names(second), names(third), third.next]).toEqual([["a", "b"], ["c", "d"], ["e"], undefined]);
});

it("?output=object gives the object as the store has it", async () => {
  const { store, json } = await serverFixture();
  const written = await store.create(functionIntent("hello"), { owner: "api" });
  expect((await json(`${FUNCTIONS}/hello?output=object`)).body).toEqual(written);
  expect((await json(`${FUNCTIONS}?output=object`)).body.items).toEqual([written]);
});

const refusals: Record<string, [path: string, init: RequestInit, status: number, expected: object]> = {
  "a name that nobody has": [`${FUNCTIONS}/nobody`, {}, 404, { code: "not_found" }],
  "an encoding that is none": [`${FUNCTIONS}/%00%ff`, {}, 400, { code: "invalid_request" }],
  "a name beyond all measure": [`${FUNCTIONS}/${"a".repeat(2_000)}`, {}, 414, { code: "invalid_request" }],
  "a kind that is none": ["/v1/namespaces/default/things", {}, 404, { code: "not_found" }],
  "a path that is none": ["/nothing", {}, 404, { code: "not_found" }],
  "calls without a function": ["/fn", {}, 404, { code: "not_found" }],
  "a token that no page gave": [`${FUNCTIONS}?continue=%20`, {}, 400, { code: "invalid_request" }],
  "two wrong parameters": [
    `${FUNCTIONS}?limit=0&output=yaml`,
    {},
    400,
    { code: "invalid_request", details: [{ field: "output" }, { field: "limit" }] },
  ],
  "a method that is none": [`${FUNCTIONS}/hello`, { method: "POST" }, 405, { code: "method_not_allowed" }],
  "a method with a body of any type": [FUNCTIONS, { method: "PUT", body: "x" }, 405, { code: "method_not_allowed" }],
  "a body of a type that is none": [
    FUNCTIONS,
    { method: "POST", body: "x", headers: { "content-type": "image/png" } },
    415,
    { code: "invalid_request", details: [{ field: "", message: expect.stringContaining("application/json") }] },
  ],
  "a form, as curl sends without a type": [
    FUNCTIONS,
    { method: "POST", body: new URLSearchParams('{"name":"x"}') },
    415,
    {
      code: "invalid_request",
      details: [{ field: "", message: expect.stringContaining("content-type: application/json") }],
    },
  ],
  "a method on the health": ["/healthz", { method: "POST" }, 405, { code: "method_not_allowed" }],
};
it.each(Object.entries(refusals))("%s is refused with a reason", async (_name, [path, init, status, expected]) => {
  const { json } = await serverFixture();
  const answer = await json(path, init);
  expect(answer.status).toBe(status);
  expect(answer.body).toMatchObject({ error: expect.any(String), details: [], ...expected });
});

it("a refused method is told what is possible", async () => {
  const { url } = await serverFixture();
  const answer = await fetch(`${url}${FUNCTIONS}/hello`, { method: "POST", body: "{}" });
  expect(answer.headers.get("allow")).toBe("GET, HEAD, PUT, PATCH, DELETE");
});

it("a store that fails is a 503 with its reason, any other surprise a 500 without one", async () => {
  const failing = async (error: Error) => {
    const store = await memoryStore();
    const { json } = await serverFixture({ store: { ...store, list: () => Promise.reject(error) } });
    return json(FUNCTIONS);
  };
  const unavailable = new SlessError("storage_unavailable", { what: "resources.db", cause: "disk full" });
  expect(await failing(unavailable)).toMatchObject({ status: 503, body: { code: "storage_unavailable" } });
  const surprise = await failing(new Error("password=hunter2"));
  expect(surprise).toMatchObject({ status: 500, body: { code: "internal" } });
  expect(JSON.stringify(surprise)).not.toContain("hunter2");
});

it("who may not see a namespace is told so before anything is read", async () => {
  const { json } = await serverFixture({
    authorize: ({ access: [first] }) => {
      const namespace = (first as ResourceAccess).namespace;
      if (namespace !== "mine") throw new SlessError("forbidden", { what: `Namespace ${namespace}` });
    },
  });
  expect(await json(FUNCTIONS)).toMatchObject({ status: 403, body: { code: "forbidden" } });
  expect(await json("/v1/namespaces/mine/functions")).toMatchObject({ status: 200, body: { items: [] } });
  expect(await json("/healthz")).toMatchObject({ status: 200 });
});
