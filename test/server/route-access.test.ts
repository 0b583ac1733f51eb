import { expect, it } from "vitest";
import { SlessError } from "../../src/errors/index.ts";
import { createClient } from "../../src/server/client.ts";
import { ROUTE_RULES, routeAccess, ruleOf } from "../../src/server/route-access.ts";
import { testCli } from "../support/test-cli.ts";
import { serverFixture } from "./server-fixture.ts";

const rules = Object.entries(ROUTE_RULES).map(([key, rule]) => {
  const [method = "", route = ""] = key.split(" ");
  return {
    method,
    route,
    isOpen: rule === "open",
    isSigned: rule === "signed",
    path: route.replace(":namespace", "team-b").replace(":name", "hello"),
  };
});

/** A server that lets nobody in. */
async function closedServer() {
  const seen: unknown[] = [];
  const fixture = await serverFixture({
    authorize: ({ access }) => {
      seen.push(access);
      throw new SlessError("unauthenticated", { cause: "it carries no bearer token" });
    },
  });
  return { ...fixture, seen };
}

it("every rule is one of a route that is there, and asks before anything else happens", async () => {
  const { url } = await closedServer();
  const answers = await Promise.all(
    rules.map(async ({ method, path, isOpen, isSigned }) => {
      const { status, headers } = await fetch(`${url}${path}`, { method });
      return { method, path, isOpen, isSigned, status, challenge: headers.get("www-authenticate") };
    }),
  );
  for (const answer of answers) {
    const expected = answer.isOpen
      ? { status: 200, challenge: null }
      : { status: 401, challenge: `${answer.isSigned ? "Webhook-Signature" : "Bearer"} realm="sless"` };
    expect(answer).toMatchObject(expected);
  }
});

it("what tells nothing of any namespace is open, and nothing else", () => {
  expect(rules.filter(({ isOpen }) => isOpen).map(({ method, route }) => `${method} ${route}`)).toEqual([
    "GET /",
    "GET /funcs",
    "GET /healthz",
    "GET /readyz",
  ]);
  expect(rules.filter(({ isSigned }) => isSigned).map(({ route }) => route)).toEqual(["/hooks/:namespace/:name"]);
});

it("every rule below a namespace asks for rights in that namespace alone", () => {
  for (const { method, route } of rules.filter(({ route, isSigned }) => !isSigned && route.includes(":namespace"))) {
    const access = routeAccess(method, route, { namespace: "team-b", name: "hello" }) ?? [];
    expect(access.length).toBeGreaterThan(0);
    for (const each of access)
      expect(each).toMatchObject(route.endsWith("/ensure") ? { name: "team-b" } : { namespace: "team-b" });
  }
});

it.each([
  ["GET /v1/namespaces/a/functions", ["list functions"]],
  ["POST /v1/namespaces/a/functions", ["create functions"]],
  ["GET /v1/namespaces/a/functions/f", ["get functions f"]],
  ["HEAD /v1/namespaces/a/functions/f", ["get functions f"]],
  ["PUT /v1/namespaces/a/services/f", ["update services f"]],
  ["PATCH /v1/namespaces/a/triggers/f", ["patch triggers f"]],
  ["DELETE /v1/namespaces/a/jobs/f", ["delete functionjobs f"]],
  ["POST /v1/namespaces/a/jobs/f/upload", ["create functionjobs/upload f"]],
  ["GET /v1/namespaces/a/functions/f/source", ["get functions/source f"]],
  ["GET /v1/namespaces/a/functions/f/logs?follow=1", ["get functions/log f"]],
  ["GET /v1/namespaces/a/functions/f/invocations", ["get functions/log f"]],
  ["POST /v1/namespaces/a/services/f/invoke", ["create services/invoke f"]],
  ["GET /v1/namespaces/a/repositories/r/plan", ["get repositories r"]],
  ["POST /v1/namespaces/a/repositories/r/reconcile", ["patch repositories r"]],
  ["POST /v1/namespaces/a/repositories/r/approve", ["patch repositories r"]],
  ["POST /v1/namespaces/a/ensure", ["create namespaces a"]],
  ["GET /v1/namespaces/a/events", ["list events"]],
  ["GET /v1/namespaces/a/secrets", ["list secrets"]],
  ["GET /v1/namespaces/a/secrets/s", ["get secrets s"]],
  ["PUT /v1/namespaces/a/secrets/s", ["update secrets s", "create secrets s"]],
  ["PATCH /v1/namespaces/a/secrets/s", ["patch secrets s", "create secrets s"]],
  ["DELETE /v1/namespaces/a/secrets/s", ["delete secrets s"]],
  ["GET /funcs/a", ["list functions", "list services"]],
  ["GET /metrics", ["get /metrics"]],
  ["GET /v1/whoami", []],
  // A method that is not possible tells only that, to whoever is known.
  ["DELETE /v1/namespaces/a/functions", []],
  // Names are taken as the routes take them.
  ["GET /v1/namespaces/a/functions/%66", ["get functions f"]],
  ["GET /v1/namespaces/a%2Fb/functions", ["list functions"]],
])("%s is %j", async (request, expected) => {
  const { url, seen } = await closedServer();
  const [method = "", path] = request.split(" ");
  await fetch(`${url}${path}`, { method });
  const texts = (seen[0] as Record<string, string>[]).map((access) =>
    access.path !== undefined
      ? `${access.verb} ${access.path}`
      : `${access.verb} ${access.resource}${access.subresource ? `/${access.subresource}` : ""}${access.name ? ` ${access.name}` : ""}`,
  );
  expect(texts).toEqual(expected);
  const namespaces = (seen[0] as Record<string, string>[]).map(({ namespace }) => namespace).filter(Boolean);
  for (const namespace of namespaces) expect(namespace).toBe(request.includes("%2F") ? "a/b" : "a");
});

it("the command line says what to do about a token", async () => {
  const { url } = await closedServer();
  const deps = { createClient };
  const { code, stderr } = await testCli(["get", "functions", "--endpoint", url, "--token", "t"], { deps });
  expect([code, stderr]).toEqual([2, expect.stringContaining("SLESS_API_TOKEN")]);
  expect(stderr).toContain("error: The request was not let in: it carries no bearer token.");
});

it("a token of the environment reaches the server", async () => {
  const tokens: unknown[] = [];
  const { url } = await serverFixture({ authorize: ({ headers }) => void tokens.push(headers.authorization) });
  const env = { SLESS_API_TOKEN: "of-the-environment" };
  await testCli(["get", "functions", "--endpoint", url], { deps: { createClient }, env });
  expect(new Set(tokens)).toEqual(new Set(["Bearer of-the-environment"]));
});

it("a route without a rule cannot be added", () => {
  expect(() => ruleOf("GET", "/v1/namespaces/:namespace/passwords")).toThrow("no rule");
  expect(() => ruleOf("POST", "/v1/namespaces/:namespace/functions/:name/constructor")).toThrow("no rule");
  expect(() => ruleOf("constructor", "")).toThrow("no rule");
});

it("whoever is let in nowhere reads no body and learns nothing of what exists", async () => {
  const { url, store } = await closedServer();
  await store.create(
    { kind: "Function", metadata: { name: "hello", namespace: "team-b" }, spec: { runtime: "python3.11" } },
    { owner: "api" },
  );
  const ask = async (name: string, init?: RequestInit) => {
    const answer = await fetch(`${url}/v1/namespaces/team-b/functions/${name}`, init);
    return [answer.status, await answer.text()];
  };
  expect(await ask("hello")).toEqual(await ask("nobody"));
  const put = { method: "PUT", headers: { "content-type": "application/json" }, body: "{ no JSON" };
  expect(await ask("hello", put)).toEqual(await ask("nobody", put));
});
