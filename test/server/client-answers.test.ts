import type { RequestListener, ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { createServer } from "node:net";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { errors } from "undici";
import { describe, expect, it, onTestFinished } from "vitest";
import { type ClientOptions, createClient, type SlessClient } from "../../src/server/client.ts";
import { type Answer, jsonOf } from "../../src/server/client-answers.ts";
import { type Certificates, makeCertificates } from "../support/certificates.ts";
import { httpServer } from "../support/http-server.ts";

async function tlsClient({ cert, key }: Certificates): Promise<SlessClient> {
  const { port } = await httpServer(answering(200, ""), createTlsServer({ cert, key }, answering(200, "")));
  const client = createClient({ endpoint: `https://127.0.0.1:${port}` });
  onTestFinished(() => client.close());
  return client;
}

const IN_DEFAULT = { namespace: "default" };

async function readToEnd(chunks: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of chunks);
}

const CALLS: Readonly<Record<string, (client: SlessClient) => Promise<unknown>>> = {
  list: (client) => client.list("functions", IN_DEFAULT),
  listObjects: (client) => client.listObjects("functions", IN_DEFAULT),
  get: (client) => client.get("functions", "a", IN_DEFAULT),
  getObject: (client) => client.getObject("functions", "a", IN_DEFAULT),
  create: (client) => client.create("functions", {}, IN_DEFAULT),
  replace: (client) => client.replace("functions", "a", {}, IN_DEFAULT),
  patch: (client) => client.patch("functions", "a", {}, IN_DEFAULT),
  delete: (client) => client.delete("functions", "a", IN_DEFAULT),
  upload: (client) => client.upload("functions", "a", Buffer.from("zip"), IN_DEFAULT),
  history: (client) => client.history("functions", "a", IN_DEFAULT),
  collectGarbage: (client) => client.collectGarbage({ dryRun: true }),
  ensureNamespace: (client) => client.ensureNamespace("default"),
  events: (client) => client.events(IN_DEFAULT),
  listSecrets: (client) => client.listSecrets(IN_DEFAULT),
  writeSecret: (client) => client.writeSecret("a", {}, { ...IN_DEFAULT, replace: false }),
  deleteSecret: (client) => client.deleteSecret("a", IN_DEFAULT),
  plan: (client) => client.plan("a", IN_DEFAULT),
  reconcile: (client) => client.reconcile("a", IN_DEFAULT),
  approve: (client) => client.approve("a", IN_DEFAULT),
  logs: (client) => readToEnd(client.logs("functions", "a", IN_DEFAULT)),
  invoke: (client) => client.invoke("functions", "a", IN_DEFAULT),
  source: (client) => client.source("functions", "a", IN_DEFAULT),
};
const calls = Object.keys(CALLS);

async function clientOf(listener: RequestListener, options: Partial<ClientOptions> = {}): Promise<SlessClient> {
  const client = createClient({ endpoint: (await httpServer(listener)).origin, ...options });
  onTestFinished(() => client.close());
  return client;
}

const answering =
  (status: number, body: string, headers: Record<string, string> = {}): RequestListener =>
  (_req, res) =>
    res.writeHead(status, headers).end(body);

/** What else may listen at an address, and what its error names. */
const OTHERS: Readonly<Record<string, readonly [RequestListener, RegExp]>> = {
  "a page": [answering(200, "<html>\n<h1>It works!", { "content-type": "text/html" }), /200: <html> <h1>It works!/],
  "another API": [
    answering(200, '{"hello":"world"}', { "content-type": "application/json" }),
    /200: {"hello":"world"}/,
  ],
  "null as JSON": [answering(200, "null", { "content-type": "application/json" }), /200: null/],
  "a login": [answering(302, "", { location: "https://login.example.org/" }), /302 and leads to https:\/\/login\./],
  "a proxy whose server is away": [answering(502, "<html>bad gateway"), /502: <html>bad gateway/],
  "an API with errors of its own": [answering(401, '{"message":"no"}'), /401: {"message":"no"}/],
  "a page without end": [answering(404, "x".repeat(10_000)), /404: x{200}…\./],
};

describe.each(Object.entries(OTHERS))("%s", (_name, [listener, told]) => {
  it.each(calls)("is no sless server to %s, and is told as what it is", async (call) => {
    const client = await clientOf(listener);
    const refused = CALLS[call]!(client);
    await expect(refused).rejects.toMatchObject({ code: "server_foreign" });
    await expect(refused).rejects.toThrow(told);
  });
});

it.each(calls)("half an answer to %s is told as half an answer", async (call) => {
  const client = await clientOf((_req, res) => {
    const headers = { "content-type": call === "source" ? "application/zip" : "text/plain", "x-request-id": "r" };
    res.writeHead(200, { ...headers, "content-length": "100" }).write('{"items":[', () => res.destroy());
  });
  const cut = CALLS[call]!(client).then((answer) =>
    call === "invoke" ? readToEnd((answer as { body: AsyncIterable<Uint8Array> }).body) : answer,
  );
  await expect(cut).rejects.toMatchObject({ code: "answer_cut" });
});

it("a server that speaks no TLS is told as that, without a word of OpenSSL", async () => {
  const { origin } = await httpServer(answering(200, ""));
  const client = createClient({ endpoint: origin.replace("http:", "https:") });
  const refused = client.list("functions", IN_DEFAULT);
  await expect(refused).rejects.toMatchObject({ code: "server_unreachable" });
  await expect(refused).rejects.toThrow(/it speaks no TLS there, an address with http:\/\/ may be right\./);
});

it("a server that nobody vouches for is told with where a further authority is named", async () => {
  const client = await tlsClient(makeCertificates());
  await expect(client.list("functions", IN_DEFAULT)).rejects.toThrow(
    /is not trusted \(.*\); NODE_EXTRA_CA_CERTS names/,
  );
});

it("a certificate of another server is told as that, for no authority makes it right", async () => {
  const certificates = makeCertificates([192, 0, 2, 7]);
  const before = getCACertificates("default");
  onTestFinished(() => setDefaultCACertificates(before));
  setDefaultCACertificates([certificates.ca]);
  const refused = (await tlsClient(certificates)).list("functions", IN_DEFAULT);
  await expect(refused).rejects.toThrow(/its certificate is not valid \(.*127\.0\.0\.1/);
  await expect(refused).rejects.not.toThrow("NODE_EXTRA_CA_CERTS");
});

it("a server that is none of HTTP is told as one that does not answer", async () => {
  const server = createServer((socket) => void socket.on("error", () => undefined).end("SSH-2.0-OpenSSH_9\r\n"));
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onTestFinished(() => void server.close());
  const { port } = server.address() as { port: number };
  const client = createClient({ endpoint: `http://127.0.0.1:${port}` });
  await expect(client.list("functions", IN_DEFAULT)).rejects.toMatchObject({ code: "server_unreachable" });
});

describe("a server that takes a request and never answers", () => {
  const waitMs = { brief: 20, long: 20, endless: 0 };

  it("is given up by each call that is no stream", async () => {
    const client = await clientOf(() => undefined, { waitMs });
    const given = calls
      .filter((name) => name !== "logs" && name !== "invoke")
      .map(async (name) => expect(CALLS[name]!(client), name).rejects.toThrow(/gave no answer within 0.02 s/));
    await Promise.all(given);
  });

  it("half an answer that does not go on is one that broke off", async () => {
    const text = () => Promise.reject(new errors.BodyTimeoutError());
    const answer = { statusCode: 200, headers: {}, body: { text }, endpoint: "http://a" } as unknown as Answer;
    await expect(jsonOf(answer, () => true)).rejects.toThrow("The answer of http://a broke off: no more of it came.");
  });

  it.each(["logs", "invoke"])("%s waits for as long as it takes", async (name) => {
    const arrived = Promise.withResolvers<ServerResponse>();
    const client = await clientOf(
      (req, res) => {
        if (/logs|invoke/.test(req.url!)) arrived.resolve(res);
      },
      { waitMs },
    );
    const waiting = CALLS[name]!(client);
    const answer = await arrived.promise;
    // Sent after it, and given up: by then it would have been given up itself.
    for (const _ of [1, 2]) await expect(client.events(IN_DEFAULT)).rejects.toMatchObject({ code: "server_silent" });
    answer.writeHead(200, { "content-type": "text/plain", "x-request-id": "1" }).end("late");
    await waiting;
  });
});
