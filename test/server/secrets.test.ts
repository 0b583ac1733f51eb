import { expect, it } from "vitest";
import { serverFixture } from "./server-fixture.ts";

const URL = "/v1/namespaces/default/secrets";
const VALUE = "s3cr3t-value";

async function openSecrets(options: Parameters<typeof serverFixture>[0] = {}) {
  const { json, url } = await serverFixture(options);
  const send = (method: string, path: string, body?: unknown) =>
    json(URL + path, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
    });
  return { send, url };
}

it("a secret is made, changed, listed and deleted, and no answer holds a value", async () => {
  const { send, url } = await openSecrets();
  const answers = [
    await send("PUT", "/api", { values: { token: VALUE, user: VALUE } }),
    await send("PATCH", "/api", { values: { user: null, "ca.crt": VALUE } }),
    await send("PATCH", "/more", { values: { a: VALUE } }),
    await send("GET", ""),
    await send("PUT", "/api", { values: { only: VALUE } }),
    await send("GET", "/api"),
  ];
  expect(answers).toEqual([
    { status: 201, body: { namespace: "default", name: "api", keys: ["token", "user"] } },
    { status: 200, body: { namespace: "default", name: "api", keys: ["ca.crt", "token"] } },
    { status: 201, body: { namespace: "default", name: "more", keys: ["a"] } },
    {
      status: 200,
      body: {
        items: [
          { namespace: "default", name: "api", keys: ["ca.crt", "token"] },
          { namespace: "default", name: "more", keys: ["a"] },
        ],
      },
    },
    { status: 200, body: { namespace: "default", name: "api", keys: ["only"] } },
    { status: 200, body: { namespace: "default", name: "api", keys: ["only"] } },
  ]);
  expect((await fetch(`${url}${URL}/api`, { method: "DELETE" })).status).toBe(204);
  expect((await send("GET", "/api")).status).toBe(404);
});

it("what is not there is 404, and removing its keys does not make it", async () => {
  const { send } = await openSecrets();
  const answers = [
    await send("GET", "/none"),
    await send("DELETE", "/none"),
    await send("PATCH", "/none", { values: { a: null } }),
    await send("GET", "/..%2f..%2fresources.db"),
    await send("DELETE", "/%2e%2e"),
  ];
  expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404]);
  expect((await send("GET", "")).body.items).toEqual([]);
});

it("a namespace that is not there is told", async () => {
  const { json } = await serverFixture();
  const { status, body } = await json("/v1/namespaces/none/secrets/api", {
    method: "PUT",
    body: JSON.stringify({ values: { a: "1" } }),
    headers: { "content-type": "application/json" },
  });
  expect({ status, code: body.code }).toEqual({ status: 404, code: "namespace_missing" });
});

const refused: Record<string, [string, unknown, string[]]> = {
  "no body": ["/api", undefined, ["values"]],
  "another shape": ["/api", [VALUE], ["values"]],
  "values that are no map": ["/api", { values: VALUE }, ["values"]],
  "every fault at once": [
    "/Api",
    { value: VALUE, values: { "a b": VALUE, n: 1, nil: null, bytes: `${VALUE}\0` } },
    ["value", "name", "values/a b", "values/n", "values/nil", "values/bytes"],
  ],
  "half a character": ["/api", { values: { a: `${VALUE}\ud800` } }, ["values/a"]],
  "dots alone as keys": ["/api", { values: { ".": VALUE, "..": VALUE } }, ["values/.", "values/.."]],
  "a value without bound": ["/api", { values: { a: VALUE.repeat(30_000) } }, ["values/a"]],
  "keys without bound": [
    "/api",
    { values: Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`k${i}`, VALUE])) },
    ["values"],
  ],
};
it.each(Object.entries(refused))("%s is 400 by field, without the value, and nothing is written", async (_, entry) => {
  const [path, body, fields] = entry;
  const { send } = await openSecrets();
  const answer = await send("PUT", path, body);
  expect(answer.status).toBe(400);
  expect((answer.body.details as { field: string }[]).map(({ field }) => field)).toEqual(fields);
  expect(JSON.stringify(answer.body)).not.toContain(VALUE);
  expect((await send("GET", "")).body.items).toEqual([]);
});

it("a body that is no JSON, or too large, is refused without a word of it", async () => {
  const { url } = await openSecrets();
  const put = (body: string) =>
    fetch(`${url}${URL}/api`, { method: "PUT", body, headers: { "content-type": "application/json" } });
  const broken = await put(`{"values": {"token": ${VALUE}}}`);
  expect(broken.status).toBe(400);
  expect(await broken.text()).not.toContain(VALUE.slice(0, 4));
  expect((await put(`{"values": {"token": "${"x".repeat(1024 * 1024)}"}}`)).status).toBe(413);
});

it("other methods are told what is possible", async () => {
  const { send } = await openSecrets();
  expect(await send("POST", "/api", {})).toMatchObject({ status: 405, body: { code: "method_not_allowed" } });
});

it("who may not enter a namespace gets to no secret of it", async () => {
  const authorize = () => {
    throw Object.assign(new Error("no"), { statusCode: 403 });
  };
  const { send } = await openSecrets({ authorize });
  const answers = [
    await send("GET", ""),
    await send("PUT", "/api", { values: { a: "1" } }),
    await send("DELETE", "/a"),
  ];
  expect(answers.map(({ status }) => status)).toEqual([403, 403, 403]);
});
