import { request } from "node:http";
import { expect, it } from "vitest";
import { serverFixture } from "./server-fixture.ts";

const METHODS = ["GET", "PUT", "PATCH", "DELETE"] as const;
/** Each leads elsewhere than to one object once it is a part of another server's path. */
const NO_NAMES = [
  "",
  ".",
  "%2e",
  "..",
  "%2e%2e",
  "..%2f..%2fteam-b%2ffunctions%2fhello",
  "hello%2fstatus",
  "a%00",
  "a%253f",
];

/** The status of a request whose path no client mended. */
function statusOf(url: string, method: string, path: string): Promise<number> {
  const { hostname, port } = new URL(url);
  const headers = { "content-type": "application/json" };
  const body = method === "GET" || method === "DELETE" ? "" : "{}";
  return new Promise((resolve, reject) => {
    request({ hostname, port, method, path, headers }, (answer) => resolve(answer.resume().statusCode ?? 0))
      .once("error", reject)
      .end(body);
  });
}

it.each(NO_NAMES)("%j names no object and no namespace, and nothing is read or written for it", async (name) => {
  const fixture = await serverFixture();
  const asked: unknown[] = [];
  for (const verb of ["get", "list", "delete", "patch"] as const) {
    const real = fixture.store[verb] as (...args: unknown[]) => unknown;
    const noted = (...args: unknown[]) => {
      asked.push([verb, ...args]);
      return real(...args);
    };
    Object.assign(fixture.store, { [verb]: noted });
  }
  for (const method of METHODS) {
    expect(await statusOf(fixture.url, method, `/v1/namespaces/default/functions/${name}`)).toBe(404);
    expect(await statusOf(fixture.url, method, `/v1/namespaces/default/secrets/${name}`)).toBe(404);
  }
  for (const rest of ["source", "logs"])
    expect(await statusOf(fixture.url, "GET", `/v1/namespaces/default/functions/${name}/${rest}`)).toBe(404);
  expect(await statusOf(fixture.url, "GET", `/v1/namespaces/${name}/functions`)).toBe(404);
  expect(await statusOf(fixture.url, "POST", `/v1/namespaces/default/repositories/${name}/reconcile`)).toBe(404);
  expect(asked).toEqual([]);
});

it("a name with dots is one all the same", async () => {
  const { url } = await serverFixture();
  expect(await statusOf(url, "PUT", "/v1/namespaces/default/secrets/a.b")).toBe(400);
});
