import { connect } from "node:net";
import fc from "fast-check";
import { pino } from "pino";
import { describe, expect, it, onTestFinished } from "vitest";
import { type ErrorCode, SlessError } from "../../src/errors/index.ts";
import { github, signature, standardWebhook } from "../hooks/sign.ts";
import { rawExchange } from "../support/raw-exchange.ts";
import { type ServerFixture, serverFixture } from "./server-fixture.ts";

const TOKEN = "s3cr3t-of-the-forge";
const HOOK = "/hooks/default/main";
const PUSH = JSON.stringify({ ref: "refs/heads/main" });
const JSON_TYPE = { "content-type": "application/json" };

async function fixtureWithHook(): Promise<ServerFixture> {
  const fixture = await serverFixture();
  const metadata = { name: "main", namespace: "default" };
  const spec = { url: "https://git.example/r", ref: { branch: "main" }, webhookSecretRef: { name: "hook" } };
  await fixture.store.create({ kind: "Repository", metadata, spec }, { owner: "api" });
  const values = { method: "PUT", headers: JSON_TYPE, body: JSON.stringify({ values: { token: TOKEN } }) };
  await fixture.json("/v1/namespaces/default/secrets/hook", values);
  return fixture;
}

const deliver = ({ json }: ServerFixture, headers: Record<string, string>, body: string = PUSH, path = HOOK) =>
  json(path, { method: "POST", headers: { ...JSON_TYPE, ...headers }, body });

it("a push is answered 202 and is a hint, a ping 200 and nothing else", async () => {
  const fixture = await fixtureWithHook();
  expect(await deliver(fixture, github(TOKEN, PUSH))).toEqual({ status: 202, body: { sync: "requested" } });
  const ping = { "x-github-event": "ping", ...github(TOKEN, "{}") };
  expect(await deliver(fixture, ping, "{}")).toEqual({
    status: 200,
    body: { sync: "none", reason: "it is a ping" },
  });
  expect(fixture.hinted).toEqual(["default/main"]);
});

it.each<[ErrorCode, number]>([
  ["hooks_busy", 0],
  ["hooks_unavailable", 0],
  ["storage_unavailable", 5],
])("of %s, %i of five answers are logged here: what hooks log themselves is not told for each", async (code, count) => {
  const lines: string[] = [];
  const log = pino({ level: "warn" }, { write: (line: string) => void lines.push(line) });
  const receive = () => Promise.reject(new SlessError(code, { what: "a bucket", cause: "it is away" }));
  const fixture = await serverFixture({ log, hooks: { receive } });
  for (let sent = 0; sent < 5; sent += 1) expect((await deliver(fixture, github(TOKEN, PUSH))).status).toBe(503);
  expect(lines).toHaveLength(count);
});

it("every forge's way to prove a delivery is taken", async () => {
  const fixture = await fixtureWithHook();
  const hex = signature(TOKEN, PUSH);
  const ways: Record<string, string>[] = [
    { "X-Hub-Signature-256": `sha256=${hex}` },
    { "X-Gitlab-Token": TOKEN },
    { "X-Gitea-Signature": hex },
    { "X-Forgejo-Signature": hex },
    { "X-Hub-Signature": `sha256=${hex}` },
    { "X-Signature": `sha256=${hex}` },
  ];
  for (const headers of ways) expect((await deliver(fixture, headers)).status).toBe(202);
});

it("GitLab's signing token is taken", async () => {
  const fixture = await fixtureWithHook();
  const key = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
  const values = { values: { "token.previous": key } };
  await fixture.json("/v1/namespaces/default/secrets/hook", {
    method: "PATCH",
    headers: JSON_TYPE,
    body: JSON.stringify(values),
  });
  expect((await deliver(fixture, standardWebhook(key, PUSH, new Date()))).status).toBe(202);
});

it("a refusal tells no more of what is there than of what is not, and asks for no token", async () => {
  const fixture = await fixtureWithHook();
  const { store, url } = fixture;
  const metadata = { name: "open", namespace: "default" };
  await store.create({ kind: "Repository", metadata, spec: { url: "https://git.example/r" } }, { owner: "api" });
  const answers = await Promise.all(
    ["default/main", "default/open", "default/nowhere", "nowhere/main", "default/UPPER"].flatMap((name) =>
      [{}, github("wrong", PUSH), { "x-gitlab-token": "wrong" }].map(async (headers) => {
        const answer = await fetch(`${url}/hooks/${name}`, { method: "POST", headers, body: PUSH });
        const { date: _, ...rest } = Object.fromEntries(answer.headers);
        return JSON.stringify([answer.status, rest, await answer.text()]);
      }),
    ),
  );
  expect(new Set(answers).size).toBe(1);
  expect(answers[0]).toContain('"www-authenticate":"Webhook-Signature realm=\\"sless\\""');
  expect(answers[0]).toMatch(/^\[401,/);
});

it("the bytes count, whatever they are said to be", async () => {
  const fixture = await fixtureWithHook();
  const types = [
    "text/plain",
    "application/octet-stream",
    "application/vnd.github+json; charset=latin1",
    "multipart/x",
  ];
  for (const type of types)
    expect((await deliver(fixture, { "content-type": type, ...github(TOKEN, PUSH) })).status).toBe(202);
  const form = new URLSearchParams({ payload: JSON.stringify({ ref: "refs/heads/other" }) }).toString();
  const headers = { "content-type": "application/x-www-form-urlencoded", ...github(TOKEN, form) };
  expect((await deliver(fixture, headers, form)).body).toMatchObject({ sync: "none" });
});

it("a delivery without a body is a hint when it is signed", async () => {
  const { url, hinted } = await fixtureWithHook();
  const { status } = await fetch(`${url}${HOOK}`, { method: "POST", headers: github(TOKEN, "") });
  expect([status, hinted]).toEqual([202, ["default/main"]]);
});

it("a payload beyond 25 MiB is refused, whoever sends it", async () => {
  const fixture = await fixtureWithHook();
  const body = "x".repeat(25 * 1024 * 1024 + 1);
  for (const path of [HOOK, "/hooks/default/nowhere"])
    expect(await deliver(fixture, { "x-gitlab-token": TOKEN }, body, path)).toMatchObject({
      status: 413,
      body: { code: "too_large", error: expect.stringContaining("The payload") },
    });
  expect(fixture.hinted).toEqual([]);
});

it("a payload of 25 MiB is taken", async () => {
  const fixture = await fixtureWithHook();
  const body = "x".repeat(25 * 1024 * 1024);
  expect((await deliver(fixture, github(TOKEN, body), body)).status).toBe(202);
});

it("deliveries that dawdle, however many and for whomever, cost nobody else's a place", async () => {
  const fixture = await fixtureWithHook();
  const sockets = Array.from({ length: 300 }, (_, at) => {
    const socket = connect(fixture.port, "127.0.0.1").on("error", () => undefined);
    const path = at % 3 === 0 ? HOOK : `/hooks/default/nobody-${at}`;
    const head = `Host: localhost\r\nX-Gitlab-Token: wrong\r\nContent-Length: 1000\r\n`;
    socket.write(`POST ${path} HTTP/1.1\r\n${head}\r\n{`);
    return socket.resume();
  });
  onTestFinished(() => sockets.forEach((socket) => void socket.destroy()));
  for (let turn = 0; turn < 20; turn += 1) expect((await deliver(fixture, github(TOKEN, PUSH))).status).toBe(202);
});

it("only POST is possible", async () => {
  const { url } = await fixtureWithHook();
  for (const method of ["GET", "HEAD", "PUT", "DELETE"]) {
    const { status, headers } = await fetch(`${url}${HOOK}`, { method });
    expect([status, headers.get("allow")]).toEqual([405, "POST"]);
  }
});

it("a signature that is sent twice is none", async () => {
  const { port } = await fixtureWithHook();
  const line = `X-Hub-Signature-256: ${github(TOKEN, PUSH)["x-hub-signature-256"]}\r\n`;
  const head = (lines: string) =>
    `POST ${HOOK} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: ${PUSH.length}\r\n${lines}\r\n`;
  expect(await rawExchange(port, head(line) + PUSH)).toMatch(/^HTTP\/1.1 202 /);
  expect(await rawExchange(port, head(line + line) + PUSH)).toMatch(/^HTTP\/1.1 401 /);
});

it("deliveries are counted by what became of them", async () => {
  const fixture = await fixtureWithHook();
  await deliver(fixture, github(TOKEN, PUSH));
  await deliver(fixture, github("wrong", PUSH));
  await deliver(fixture, {});
  const metrics = await (await fetch(`${fixture.url}/metrics`)).text();
  expect(metrics).toContain('sless_webhook_deliveries_total{outcome="requested"} 1');
  expect(metrics).toContain('sless_webhook_deliveries_total{outcome="refused"} 2');
});

describe("whatever is sent", () => {
  const NAMES = [
    "x-hub-signature-256",
    "x-hub-signature",
    "x-signature",
    "x-gitea-signature",
    "x-gitlab-token",
    "webhook-id",
    "webhook-timestamp",
    "webhook-signature",
    "x-github-event",
    "content-type",
    "content-encoding",
  ];
  const value = fc.oneof(
    fc.constantFrom("sha256=", `sha256=${"0".repeat(64)}`, "0".repeat(64), "v1,", TOKEN, "1", "gzip", "ping"),
    fc.string({ unit: "grapheme-ascii", maxLength: 100 }),
  );
  const headers = fc.dictionary(fc.constantFrom(...NAMES), value);
  const path = fc.oneof(
    fc.constant(HOOK),
    fc.tuple(fc.string({ minLength: 1 }), fc.string({ minLength: 1 })).map((pair) => {
      const [namespace, name] = pair.map((part) => encodeURIComponent(part.toWellFormed()));
      return `/hooks/${namespace}/${name}`;
    }),
  );
  it("the answer is never a 500, and a hint only for who knows the secret", async () => {
    const fixture = await fixtureWithHook();
    await fc.assert(
      fc.asyncProperty(path, headers, fc.uint8Array({ maxLength: 300 }), async (to, given, body) => {
        const before = fixture.hinted.length;
        const response = await fetch(`${fixture.url}${to}`, {
          method: "POST",
          headers: given,
          body: Buffer.from(body),
        });
        await response.text();
        expect(response.status).toBeLessThan(500);
        if (given["x-gitlab-token"]?.trim() !== TOKEN) {
          expect(response.status).toBeGreaterThanOrEqual(400);
          expect(fixture.hinted).toHaveLength(before);
        }
      }),
      { numRuns: 200 },
    );
  });
});
