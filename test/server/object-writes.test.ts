import { expect, it } from "vitest";
import { ANNOTATIONS, ownerAnnotation } from "../../src/apis/index.ts";
import { functionIntent, type ServerFixture, serverFixture } from "./server-fixture.ts";

const V1 = "/v1/namespaces/default";
const FUNCTIONS = `${V1}/functions`;

function sending(method: string, body: unknown, headers: Record<string, string> = {}): RequestInit {
  return { method, body: JSON.stringify(body), headers: { "content-type": "application/json", ...headers } };
}

/** A Function of a repository that exists. */
async function ownedFunction({ store }: ServerFixture, spec: object = {}) {
  const metadata = { name: "main", namespace: "default" };
  const repository = await store.create({ kind: "Repository", metadata, spec: { url: "/r" } }, { owner: "api" });
  const { uid } = repository.metadata;
  const intent = functionIntent("hello", spec);
  const owner = ownerAnnotation(uid, { kind: "Function", metadata: intent.metadata });
  const annotations = { [ANNOTATIONS.owner]: owner, [ANNOTATIONS.path]: "functions/hello/function.yaml" };
  await store.apply({ ...intent, metadata: { ...intent.metadata, annotations } }, { owner: "sync" });
  return repository;
}

it("an object of every kind is created, read, replaced, merged and deleted", async () => {
  const { json, url } = await serverFixture();
  const bodies: Record<string, object> = {
    functions: { name: "a", runtime: "nodejs20" },
    services: { name: "b", runtime: "nodejs20", timeout_sec: 0 },
    triggers: { name: "c", type: "http", function_ref: "a" },
    jobs: { name: "d", function_ref: "a", event_json: "{}" },
    repositories: { name: "e", url: "https://git.example.com/e.git", deletion_guard: { max_percent: 10 } },
  };
  for (const [plural, body] of Object.entries(bodies)) {
    const { name } = body as { name: string };
    const path = `${V1}/${plural}/${name}`;
    const created = await fetch(`${url}${V1}/${plural}`, sending("POST", body));
    expect([created.status, created.headers.get("location")]).toEqual([201, path]);
    const item = await created.json();
    expect(item).toMatchObject({ ...body, namespace: "default" });
    expect((await json(path)).body).toEqual(item);
    expect(await json(path, sending("PUT", item))).toEqual({ status: 200, body: item });
    expect(await json(path, sending("PATCH", {}, { "content-type": "application/merge-patch+json" }))).toEqual({
      status: 200,
      body: item,
    });
    expect((await fetch(`${url}${path}`, { method: "DELETE" })).status).toBe(204);
    expect(await json(path, { method: "DELETE" })).toMatchObject({ status: 404, body: { code: "not_found" } });
  }
});

it("a fault is told with the field in snake_case, and nothing is written", async () => {
  const { json, store } = await serverFixture();
  const { status, body } = await json(FUNCTIONS, sending("POST", { name: "a", runtime: "php", memory_mb: 1 }));
  expect([status, body.code]).toEqual([400, "invalid_request"]);
  expect(body.details).toEqual([
    { field: "memory_mb", message: "1 is out of range: wants 32 to 10240" },
    { field: "runtime", message: expect.stringContaining("python3.11") },
  ]);
  expect((await store.list("Function")).items).toEqual([]);
});

it.each<[string, string, string]>([
  ["a function", "functions", "functions"],
  ["a service of that name", "functions", "services"],
  ["a function of that name", "services", "functions"],
])("a name is taken by %s", async (_name, first, second) => {
  const { json } = await serverFixture();
  const body = { name: "hello", runtime: "nodejs20" };
  expect(await json(`${V1}/${first}`, sending("POST", body))).toMatchObject({ status: 201 });
  expect(await json(`${V1}/${second}`, sending("POST", body))).toMatchObject({
    status: 409,
    body: { code: "already_exists" },
  });
});

it("of a function and a service that are created at once, one stays", async () => {
  const { json, store } = await serverFixture();
  const body = { name: "hello", runtime: "nodejs20" };
  const plurals = ["functions", "services", "functions", "services"];
  const answers = await Promise.all(plurals.map((plural) => json(`${V1}/${plural}`, sending("POST", body))));
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
  const [functions, services] = await Promise.all([store.list("Function"), store.list("Service")]);
  expect(functions.items.length + services.items.length).toBe(1);
});

it("a sync that takes the name meanwhile keeps it", async () => {
  const fixture = await serverFixture();
  const { store } = fixture;
  const { json } = await serverFixture({
    store: {
      ...store,
      async create(intent, options) {
        const metadata = { name: intent.metadata.name, namespace: "default" };
        await store.apply({ kind: "Service", metadata, spec: { runtime: "nodejs20" } }, { owner: "sync" });
        return store.create(intent, options);
      },
    },
  });
  expect(await json(FUNCTIONS, sending("POST", { name: "hello", runtime: "nodejs20" }))).toMatchObject({ status: 409 });
  expect((await store.list("Function")).items).toEqual([]);
  expect((await store.list("Service")).items).toHaveLength(1);
});

it("nothing is created in a namespace that nobody made", async () => {
  const { json } = await serverFixture();
  const body = { name: "hello", runtime: "nodejs20" };
  const refused = await json("/v1/namespaces/other/functions", sending("POST", body));
  expect(refused).toMatchObject({ status: 404, body: { code: "namespace_missing" } });
  expect(await json("/v1/namespaces/No_Name/functions", sending("POST", body))).toMatchObject({
    status: 400,
    body: { details: [{ field: "namespace" }] },
  });
});

it("a change for a version that is gone is refused, one for the present version is made", async () => {
  const { json, url, store } = await serverFixture();
  await store.create(functionIntent("hello"), { owner: "api" });
  const path = `${FUNCTIONS}/hello`;
  const etag = (await fetch(`${url}${path}`)).headers.get("etag")!;
  expect(await json(path, sending("PATCH", { memory_mb: 64 }, { "if-match": etag }))).toMatchObject({ status: 200 });
  for (const [method, body] of [
    ["PATCH", { memory_mb: 32 }],
    ["PUT", { runtime: "nodejs20" }],
    ["DELETE", {}],
  ] as const) {
    expect(await json(path, sending(method, body, { "if-match": etag }))).toMatchObject({
      status: 409,
      body: { code: "conflict" },
    });
  }
  expect(await json(path, sending("PATCH", { memory_mb: 32 }, { "if-match": "*" }))).toMatchObject({ status: 200 });
  expect((await store.get("Function", { namespace: "default", name: "hello" }))?.spec.memoryMB).toBe(32);
});

it("a status that is written meanwhile refuses no change, and no change of another is lost", async () => {
  const fixture = await serverFixture();
  const { store } = fixture;
  let writes = 0;
  const { json } = await serverFixture({
    store: {
      ...store,
      async patch(kind, key, patch, options) {
        if (writes++ < 3)
          await store.patch(kind, key, { metadata: { labels: { n: `${writes}` } } }, { owner: "reconciler" });
        return store.patch(kind, key, patch, options);
      },
    },
  });
  await store.create(functionIntent("hello"), { owner: "api" });
  expect(await json(`${FUNCTIONS}/hello`, sending("PATCH", { memory_mb: 64 }))).toMatchObject({ status: 200 });
  const { metadata, spec } = (await store.get("Function", { namespace: "default", name: "hello" }))!;
  expect([metadata.labels, spec.memoryMB]).toEqual([{ n: "3" }, 64]);
});

it("patches of several clients at once are all there in the end", async () => {
  const { json, store } = await serverFixture();
  await store.create(functionIntent("hello"), { owner: "api" });
  const names = Array.from({ length: 8 }, (_, index) => `V${index}`);
  const patches = names.map((name) => json(`${FUNCTIONS}/hello`, sending("PATCH", { env_vars: { [name]: "1" } })));
  expect((await Promise.all(patches)).map(({ status }) => status)).toEqual(names.map(() => 200));
  const { env } = (await store.get("Function", { namespace: "default", name: "hello" }))!.spec;
  expect(Object.keys(env ?? {}).sort()).toEqual(names);
});

it("a write to an object of a repository is refused with the place that is to be changed", async () => {
  const asked: unknown[] = [];
  const fixture = await serverFixture({
    async placeOf(object, { namespace, name }) {
      asked.push([object, namespace, name]);
      return { file: "fn/hello.yaml", line: 12 };
    },
  });
  await ownedFunction(fixture);
  const before = await fixture.store.get("Function", { namespace: "default", name: "hello" });
  for (const [method, body] of [
    ["PATCH", { memory_mb: 32 }],
    ["PUT", { runtime: "nodejs20" }],
    ["DELETE", {}],
  ] as const) {
    expect(await fixture.json(`${FUNCTIONS}/hello`, sending(method, body))).toMatchObject({
      status: 409,
      body: {
        code: "owned_by_repository",
        error: expect.stringContaining("fn/hello.yaml:12"),
        details: [{ repository: "main", file: "fn/hello.yaml", line: 12 }],
      },
    });
  }
  expect(await fixture.store.get("Function", { namespace: "default", name: "hello" })).toEqual(before);
  const hello = { kind: "Function", namespace: "default", name: "hello" };
  expect(asked).toEqual(Array(3).fill([hello, "default", "main"]));
});

it("a place that was not read yet is told as far as the object knows it", async () => {
  const fixture = await serverFixture();
  await ownedFunction(fixture);
  const { body } = await fixture.json(`${FUNCTIONS}/hello`, { method: "DELETE" });
  expect(body.details).toEqual([{ repository: "main", file: "functions/hello/function.yaml" }]);
});

it("a repository that is gone owns nothing", async () => {
  const fixture = await serverFixture();
  const { metadata } = await ownedFunction(fixture);
  await fixture.store.delete("Repository", metadata);
  expect(await fixture.json(`${FUNCTIONS}/hello`, sending("PATCH", { memory_mb: 64 }))).toMatchObject({ status: 200 });
});

it.each<[string, object, object, number]>([
  ["replicas that the manifest leaves out", {}, { replicas: 2 }, 200],
  ["replicas that the manifest writes", { replicas: 1 }, { replicas: 2 }, 409],
  ["replicas and more", {}, { replicas: 2, memory_mb: 64 }, 409],
  ["nothing", {}, {}, 200],
])("a patch of %s is answered by who owns that", async (_name, manifest, body, status) => {
  const fixture = await serverFixture();
  await ownedFunction(fixture, manifest);
  expect(await fixture.json(`${FUNCTIONS}/hello`, sending("PATCH", body))).toMatchObject({ status });
});

it.each(['{"env_vars":{"__proto__":"x"}}', '{"constructor":{"prototype":1}}'])(
  "%s is refused for its key, not as something else than JSON",
  async (body) => {
    const { json } = await serverFixture();
    const init = { method: "POST", body, headers: { "content-type": "application/json" } };
    const error = expect.stringContaining('a key "__proto__" or "constructor.prototype"');
    expect(await json(FUNCTIONS, init)).toMatchObject({ status: 400, body: { code: "invalid_request", error } });
    const broken = await json(FUNCTIONS, { ...init, body: '{"__proto__":' });
    expect(broken).toMatchObject({ status: 400, body: { error: expect.stringMatching(/JSON/) } });
  },
);
