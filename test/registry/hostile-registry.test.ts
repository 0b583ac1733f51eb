import type { RequestListener } from "node:http";
import { createServer } from "node:https";
import { buffer } from "node:stream/consumers";
import { expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../src/controller/index.ts";
import { digestOf, type RegistryClient, registryClient } from "../../src/registry/index.ts";
import { makeCertificates } from "../support/certificates.ts";
import { httpServer } from "../support/http-server.ts";

const BLOB = { digest: digestOf(Buffer.from("layer")), bytes: Buffer.from("layer") };
const PIECE = Buffer.alloc(64 * 1024, " ");

async function connect(answer: RequestListener): Promise<RegistryClient> {
  const { origin } = await httpServer(answer);
  const host = new URL(origin).host;
  const client = registryClient({ host, plainHttp: true, clock: systemClock, tries: 1 });
  onTestFinished(() => client.close());
  return client;
}

/** For as long as somebody listens. */
const endless =
  (status: number): RequestListener =>
  (_, answer) => {
    answer.writeHead(status);
    const go = () => void (answer.write(PIECE) ? setImmediate(go) : answer.once("drain", go));
    answer.once("close", () => answer.removeAllListeners("drain"));
    go();
  };

it.each<[string, number, (client: RegistryClient) => Promise<unknown>]>([
  ["a manifest", 500, (client) => client.manifest("team/one", "1")],
  ["a blob", 403, (client) => client.blob("team/one", BLOB.digest)],
  ["the beginning of an upload", 403, (client) => client.putBlob("team/one", BLOB)],
  ["tags", 418, (client) => client.tags("team/one")],
])("a refusal of %s that has no end is read to no end", async (_what, status, ask) => {
  const refuse = endless(status);
  const client = await connect((request, answer) => {
    if (request.method === "HEAD") answer.writeHead(404).end();
    else refuse(request, answer);
  });
  await expect(ask(client)).rejects.toMatchObject({ status });
});

it("a blob of more bytes than are wanted is not read", async () => {
  const client = await connect(endless(200));
  await expect(client.blob("team/one", BLOB.digest, 1_000_000)).rejects.toMatchObject({ code: "SIZE_INVALID" });
});

it.each<[string, object, string]>([
  ["control characters", { code: "DENIED", message: "no\u001b[2J\r\nyes\u0085" }, "(DENIED: no [2J  yes )"],
  ["a code that is none", { code: "\u001b]0;x\u0007", message: "no" }, "403 (no)"],
  ["an endless code", { code: "A".repeat(1_000), message: "no" }, "403 (no)"],
  ["no texts", { code: 1, message: { a: 1 } }, "answered 403"],
])("a refusal with %s is told in one line", async (_what, error, told) => {
  const client = await connect((_, answer) => void answer.writeHead(403).end(JSON.stringify({ errors: [error] })));
  const { message } = (await client.manifest("team/one", "1").catch((refused: Error) => refused as Error)) as Error;
  expect(message).toContain(told);
  expect(message).not.toMatch(/\p{Cc}/u);
});

it("a digest that is none is not believed", async () => {
  const manifest = Buffer.from("{}");
  const client = await connect((_, answer) => {
    answer.setHeader("docker-content-digest", "sha256:x@evil.example/image");
    answer.end(manifest);
  });
  expect(await client.manifestDigest("team/one", "1")).toBe(digestOf(manifest));
});

it.each<[unknown, string[]]>([
  [["1", "../../other/manifests/1", 7, null, ""], ["1"]],
  [{ length: 3 }, []],
  ["text", []],
])("of the tags %j those are taken that can be some", async (tags, wanted) => {
  const client = await connect((_, answer) => void answer.end(JSON.stringify({ tags })));
  expect(await client.tags("team/one")).toEqual(wanted);
});

it("a registry with TLS gets no byte of an upload over a connection without it", async () => {
  const asked: string[] = [];
  const { origin } = await httpServer(({ method = "" }, answer) => {
    asked.push(method);
    answer.writeHead(201).end();
  });
  const { ca, cert, key } = makeCertificates();
  const answer: RequestListener = ({ method }, response) => {
    if (method === "HEAD") response.writeHead(404).end();
    else response.writeHead(202, { location: `${origin}/upload` }).end();
  };
  const { port } = await httpServer(answer, createServer({ cert, key }, answer));
  const client = registryClient({ host: `127.0.0.1:${port}`, ca, clock: systemClock, tries: 1 });
  onTestFinished(() => client.close());
  await expect(client.putBlob("team/one", BLOB)).rejects.toThrow(/names http:\S+, which has no TLS/);
  expect(asked).toEqual([]);
});

const readPieces = async (client: RegistryClient) => buffer((await client.blobPieces("team/one", BLOB.digest))!);

it.each<[string, RequestListener, object]>([
  ["ends in other bytes", (_, answer) => void answer.end("other"), { code: "DIGEST_INVALID" }],
  ["has bytes behind it", (_, answer) => void answer.end("layer!"), { code: "DIGEST_INVALID" }],
  [
    "breaks off",
    (_, answer) => {
      answer.writeHead(200, { "content-length": 5 });
      answer.write("lay", () => answer.destroy());
    },
    { status: 0, message: expect.stringMatching(/^registry 127\S+ broke off: /) },
  ],
])("a blob that comes piece by piece and %s is not taken for whole", async (_what, answer, fault) => {
  await expect(readPieces(await connect(answer))).rejects.toMatchObject(fault);
});

it("a blob comes piece by piece, or is not there", async () => {
  const client = await connect((_, answer) => void answer.end("layer"));
  expect(await readPieces(client)).toEqual(BLOB.bytes);
  const empty = await connect((_, answer) => void answer.writeHead(404).end());
  expect(await empty.blobPieces("team/one", BLOB.digest)).toBeUndefined();
});

it.each([["DIGEST_INVALID"], ["SIZE_INVALID"], ["BLOB_UPLOAD_INVALID"]])(
  "an upload that its broken request spoiled, so that the rest is refused with %s, begins anew",
  async (code) => {
    const taken: string[] = [];
    let uploads = 0;
    const client = await connect((request, response) => {
      const { method, url = "" } = request;
      if (method === "HEAD") return void response.writeHead(404).end();
      if (method !== "GET") taken.push(`${method} ${url.split("?", 1)[0]}`);
      if (method === "POST") {
        uploads += 1;
        response.writeHead(202, { location: `/v2/a/blobs/uploads/${uploads}` }).end();
      } else if (method === "GET") response.writeHead(204, { range: "0-2" }).end();
      else if (method === "PATCH") {
        request.resume().on("end", () => response.writeHead(202, { location: url }).end());
      } else if (taken.length === 2) request.socket.destroy();
      else {
        const isSpoiled = url.includes("/uploads/1");
        const body = isSpoiled ? JSON.stringify({ errors: [{ code, message: "spoiled" }] }) : "";
        request.resume().on("end", () => response.writeHead(isSpoiled ? 400 : 201).end(body));
      }
    });
    await client.putBlob("a", BLOB);
    const [one, two] = ["/v2/a/blobs/uploads/1", "/v2/a/blobs/uploads/2"];
    expect(taken).toEqual([
      "POST /v2/a/blobs/uploads/",
      `PUT ${one}`,
      `PATCH ${one}`,
      `PUT ${one}`,
      "POST /v2/a/blobs/uploads/",
      `PUT ${two}`,
    ]);
  },
);
