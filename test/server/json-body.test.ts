import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import fastify from "fastify";
import { expect, it, onTestFinished } from "vitest";
import { errorAnswer } from "../../src/server/error-answer.ts";
import { acceptJson } from "../../src/server/json-body.ts";
import { rawExchange } from "../support/raw-exchange.ts";
import { serverFixture } from "./server-fixture.ts";

const PATH = "/v1/namespaces/default/functions";

it.each([
  ["no UTF-8", Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]), 400, "no UTF-8"],
  ["too large", Buffer.from(`{"name":"${"x".repeat(1 << 20)}"}`), 413, "larger than 1 MiB"],
  ["nested beyond all measure", Buffer.from("[".repeat(500_000)), 400, "JSON"],
])("a body that is %s is refused", async (_name, body, status, cause) => {
  const { url } = await serverFixture();
  const answer = await fetch(`${url}${PATH}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  expect([answer.status, await answer.text()]).toEqual([status, expect.stringContaining(cause)]);
});

it.each([
  ['{"values":{"a":"s3cr3t"', "the body is no JSON: Expected"],
  ['{"values":{"a": S3CR3T_LONG_ENOUGH_TO_BE_CUT_SOMEWHERE_IN_THE_MIDDLE}}', "the body is no JSON: Unexpected token"],
  ["a=s3cr3t", "the body is no JSON: Unexpected token"],
])("of the JSON %j that is none its fault is told, and nothing of what it holds", async (body, message) => {
  const { json } = await serverFixture();
  const init = { method: "PUT", headers: { "content-type": "application/json" }, body };
  const answer = await json("/v1/namespaces/default/secrets/api", init);
  expect(answer).toMatchObject({ status: 400, body: { details: [{ message: expect.stringContaining(message) }] } });
  expect(JSON.stringify(answer.body)).not.toMatch(/s3c/i);
});

it("a compressed body is told as that", async () => {
  const { json } = await serverFixture();
  const headers = { "content-type": "application/json", "content-encoding": "gzip" };
  const answer = await json(PATH, { method: "POST", headers, body: gzipSync("{}") });
  expect(answer).toMatchObject({
    status: 400,
    body: { details: [{ message: expect.stringContaining("compressed") }] },
  });
});

it("a body that does not come is waited for no longer than it may take", async () => {
  const app = fastify();
  onTestFinished(() => app.close());
  acceptJson(app, { maxBytes: 100, idleMs: 100, totalMs: 10_000 });
  app.setErrorHandler((error: Error, request, reply) => {
    const { status, body } = errorAnswer(error, request.id);
    return reply.code(status).send(body);
  });
  app.post("/", ({ body }) => ({ body }));
  await app.listen({ host: "127.0.0.1", port: 0 });
  const head = "POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n";
  const answer = await rawExchange((app.server.address() as AddressInfo).port, `${head}{"a":`);
  expect(answer).toMatch(/^HTTP\/1.1 400 .*nothing came for 0.1 s/s);
});
