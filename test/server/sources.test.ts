import { randomBytes } from "node:crypto";
import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import pino from "pino";
import { expect, it, onTestFinished } from "vitest";
import { sourceKey } from "../../src/apis/index.ts";
import { SlessError } from "../../src/errors/index.ts";
import { type ArchiveFile, packArchive, readArchive } from "../../src/source/index.ts";
import { eventually } from "../support/eventually.ts";
import { forgedZip } from "../support/forged-zip.ts";
import { handler } from "../support/function-files.ts";
import { memoryObjectStore } from "../support/memory-object-store.ts";
import { functionIntent, type ServerFixture, serverFixture } from "./server-fixture.ts";

const HELLO = "/v1/namespaces/default/functions/hello";
const KEY = { namespace: "default", name: "hello" };

async function withFunction(...options: Parameters<typeof serverFixture>) {
  const fixture = await serverFixture(...options);
  await fixture.store.create(functionIntent("hello"), { owner: "api" });
  return fixture;
}

function upload({ json }: Pick<ServerFixture, "json">, zip: Uint8Array, headers: Record<string, string> = {}) {
  return json(`${HELLO}/upload`, {
    method: "POST",
    body: new Uint8Array(zip),
    headers: { "content-type": "application/zip", ...headers },
  });
}

const file = (path: string, content: string | Uint8Array, mode: ArchiveFile["mode"] = "100644"): ArchiveFile => ({
  path,
  mode,
  content: Buffer.from(content as string),
});

const FILES = [
  file("handler.py", handler()),
  file("bin/run", "#!/bin/sh\n", "100755"),
  file("x.bin", Uint8Array.of(255, 0)),
];

async function keysOf(fixture: ServerFixture): Promise<string[]> {
  const keys: string[] = [];
  for await (const key of fixture.objects.list("")) keys.push(key);
  return keys;
}

it("an upload is stored under its digest, and comes back as JSON and as zip", async () => {
  const fixture = await withFunction();
  const { status, body } = await upload(fixture, await packArchive(FILES));
  expect(status).toBe(200);
  expect(body.s3_key).toMatch(/^functions\/default\/hello\/[0-9a-f]{64}\.zip$/);
  expect(await keysOf(fixture)).toEqual([body.s3_key]);
  expect((await fixture.json(`${HELLO}/source`)).body).toEqual([
    { name: "bin/run", content: "#!/bin/sh\n", mode: "100755" },
    { name: "handler.py", content: handler() },
    { name: "x.bin", content: "/wA=", encoding: "base64" },
  ]);
  const zip = await fetch(`${fixture.url}${HELLO}/source`, { headers: { accept: "application/zip" } });
  expect(zip.headers.get("content-type")).toBe("application/zip");
  const files = await readArchive(new Uint8Array(await zip.arrayBuffer()));
  expect(files.map(({ path, mode }) => [path, mode])).toEqual([
    ["bin/run", "100755"],
    ["handler.py", "100644"],
    ["x.bin", "100644"],
  ]);
});

it("the same upload again changes nothing, another one keeps the first archive", async () => {
  const fixture = await withFunction();
  await upload(fixture, await packArchive(FILES));
  const before = await fixture.store.get("Function", KEY);
  expect((await upload(fixture, await packArchive([...FILES].reverse()))).status).toBe(200);
  expect(await fixture.store.get("Function", KEY)).toEqual(before);
  await upload(fixture, await packArchive([file("handler.py", handler("new"))]));
  expect(await keysOf(fixture)).toHaveLength(2);
});

it("the same upload again replaces an archive that a build could not read", async () => {
  const fixture = await withFunction();
  await upload(fixture, await packArchive(FILES));
  const [key = ""] = await keysOf(fixture);
  await fixture.objects.delete(key);
  await fixture.objects.put(key, Buffer.from("damaged"));
  await upload(fixture, await packArchive(FILES));
  expect(await fixture.json(`${HELLO}/source`)).toMatchObject({ status: 502 });
  const condition = { type: "BuildReady", status: "False", reason: "SourceUnavailable", message: "" } as const;
  await fixture.store.updateStatus<"Function">((await fixture.store.get("Function", KEY))!, {
    conditions: [{ ...condition, lastTransitionTime: "2026-01-01T00:00:00Z" }],
  });
  expect((await upload(fixture, await packArchive(FILES))).status).toBe(200);
  expect(await fixture.json(`${HELLO}/source`)).toMatchObject({ status: 200 });
});

it("a file of a form is an upload too", async () => {
  const fixture = await withFunction();
  const form = new FormData();
  form.set("note", "text");
  form.set("file", new Blob([new Uint8Array(await packArchive(FILES))]), "hello.zip");
  expect(await fixture.json(`${HELLO}/upload`, { method: "POST", body: form })).toMatchObject({ status: 200 });
  const empty = new FormData();
  empty.set("note", "text");
  expect(await fixture.json(`${HELLO}/upload`, { method: "POST", body: empty })).toMatchObject({ status: 400 });
  const broken = { method: "POST", body: "--x", headers: { "content-type": "multipart/form-data; boundary=x" } };
  expect(await fixture.json(`${HELLO}/upload`, broken)).toMatchObject({ status: 400 });
});

const symlink = 0o120777;
const forged: Record<string, [zip: () => Uint8Array, status: number, code: string]> = {
  "no zip": [() => Buffer.from("hello"), 400, "archive_invalid"],
  nothing: [() => new Uint8Array(), 400, "invalid_request"],
  "a zip of nothing": [() => forgedZip([]), 400, "source_missing"],
  "a path that climbs": [() => forgedZip([{ name: "../evil.py" }]), 400, "archive_invalid"],
  "an absolute path": [() => forgedZip([{ name: "/etc/passwd" }]), 400, "archive_invalid"],
  "a path of Windows": [() => forgedZip([{ name: "C:\\x" }]), 400, "archive_invalid"],
  "a name twice": [() => forgedZip([{ name: "handler.py" }, { name: "handler.py" }]), 400, "archive_invalid"],
  "names that differ in case": [
    () => forgedZip([{ name: "handler.py" }, { name: "Handler.py" }]),
    400,
    "archive_invalid",
  ],
  "what Windows takes for a Git folder": [
    () => forgedZip([{ name: "handler.py" }, { name: "git~1/config" }]),
    400,
    "archive_invalid",
  ],
  "a Git folder": [() => forgedZip([{ name: "handler.py" }, { name: "a/.git/config" }]), 400, "archive_invalid"],
  "a link that leads out": [
    () => forgedZip([{ name: "handler.py" }, { name: "l", content: "../../etc/passwd", mode: symlink }]),
    400,
    "archive_invalid",
  ],
  "a device": [() => forgedZip([{ name: "handler.py" }, { name: "tty", mode: 0o020666 }]), 400, "archive_invalid"],
  "more folders than there are": [() => forgedZip([{ name: `${"a/".repeat(500)}x` }]), 400, "archive_invalid"],
  "a bomb that tells its size": [() => forgedZip([{ name: "handler.py", declaredSize: 60 << 20 }]), 413, "too_large"],
  "a bomb that lies about its size": [
    () => forgedZip([{ name: "handler.py", content: new Uint8Array(1 << 20), declaredSize: 10 }]),
    400,
    "archive_invalid",
  ],
  "too many files": [
    () => forgedZip(Array.from({ length: 3_001 }, (_, index) => ({ name: index === 0 ? "handler.py" : `f${index}` }))),
    413,
    "too_large",
  ],
  "far too many files": [
    () => forgedZip(Array.from({ length: 10_001 }, (_, index) => ({ name: `f${index}` }))),
    413,
    "too_large",
  ],
};
it.each(Object.entries(forged))(
  "an upload of %s is refused and changes nothing",
  async (_name, [zip, status, code]) => {
    const fixture = await withFunction();
    const before = await fixture.store.get("Function", KEY);
    expect(await upload(fixture, zip())).toMatchObject({ status, body: { code, error: expect.any(String) } });
    expect(await fixture.store.get("Function", KEY)).toEqual(before);
    expect(await keysOf(fixture)).toEqual([]);
  },
);

it.each([
  ["application/zip", "application/zip"],
  ["text/html, Application/Zip;q=0.5", "application/zip"],
  ["application/zip;q=0, */*", "application/json; charset=utf-8"],
  ["application/zipped", "application/json; charset=utf-8"],
])("who accepts %s gets the source as %s", async (accept, type) => {
  const fixture = await withFunction();
  await upload(fixture, await packArchive(FILES));
  const answer = await fetch(`${fixture.url}${HELLO}/source`, { headers: { accept } });
  expect([answer.status, answer.headers.get("content-type")]).toEqual([200, type]);
  await answer.arrayBuffer();
});

it("every faulty entry of an archive is in the details", async () => {
  const fixture = await withFunction();
  const { body } = await upload(fixture, forgedZip([{ name: "../a" }, { name: "ok" }, { name: "OK" }]));
  expect(body.details).toEqual([
    { field: "../a", message: 'has a ".." part' },
    { field: "OK", message: 'differs from "ok" in case alone' },
  ]);
});

it("too many files are told as the source's own, of which no repository is known", async () => {
  const fixture = await withFunction();
  const names = Array.from({ length: 3_001 }, (_, index) => ({ name: index === 0 ? "handler.py" : `f${index}` }));
  expect((await upload(fixture, forgedZip(names))).body).toMatchObject({
    error: expect.stringMatching(/^The source is larger than 3000 files\./),
    details: [{ field: "", message: "has more than 3000 files; name what is not needed in .slessignore" }],
  });
});

it("far too many files are told what a source may have", async () => {
  const fixture = await withFunction();
  const names = Array.from({ length: 10_001 }, (_, index) => ({ name: `f${index}` }));
  expect((await upload(fixture, forgedZip(names))).body.details).toEqual([
    { field: "", message: "a source has at most 3,000 files and 50 MiB unpacked" },
  ]);
});

it.each([
  ["nothing", Buffer.alloc(0), /^the body is empty; send the zip itself/],
  ["a tar.gz", gzipSync("x"), /^the body is compressed by gzip and no zip/],
])("an upload of %s is told how to send a zip", async (_what, bytes, message) => {
  const fixture = await withFunction();
  expect(await upload(fixture, bytes)).toMatchObject({
    status: 400,
    body: { code: "invalid_request", details: [{ field: "", message: expect.stringMatching(message) }] },
  });
});

it("links in circles cost no more time than others", async () => {
  const fixture = await withFunction();
  const links = Array.from({ length: 2_900 }, (_, index) => ({
    name: `l${index}`,
    content: `l${(index + 1) % 2_900}/x`,
    mode: symlink,
  }));
  const before = process.cpuUsage();
  expect(await upload(fixture, forgedZip([{ name: "handler.py" }, ...links]))).toMatchObject({ status: 400 });
  expect(process.cpuUsage(before).user / 1_000).toBeLessThan(5_000);
});

it("a body beyond all measure is refused while the client still sends", async () => {
  const fixture = await withFunction();
  expect(await upload(fixture, new Uint8Array(55 << 20))).toMatchObject({ status: 413, body: { code: "too_large" } });
});

it("a body that breaks off changes nothing, and the server goes on", async () => {
  const fixture = await withFunction();
  const head = `POST ${HELLO}/upload HTTP/1.1\r\nHost: 127.0.0.1:${fixture.port}\r\nContent-Length: 1000\r\n\r\nPK`;
  const socket = connect(fixture.port, "127.0.0.1");
  await new Promise<void>((sent) => socket.write(head, () => sent()));
  socket.destroy();
  expect((await fixture.store.get("Function", KEY))?.spec.s3Key).toBeUndefined();
  expect((await upload(fixture, await packArchive(FILES))).status).toBe(200);
});

it("uploads of one namespace that dawdle, however many, hold up none of another", async () => {
  const fixture = await withFunction();
  await fixture.store.create(functionIntent("slow", {}, { namespace: "others" }), { owner: "api" });
  const path = "/v1/namespaces/others/functions/slow/upload";
  const sockets = Array.from({ length: 20 }, () => {
    const socket = connect(fixture.port, "127.0.0.1").on("error", () => undefined);
    socket.write(`POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nPK`);
    return socket;
  });
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  expect((await fetch(`${fixture.url}/healthz`)).status).toBe(200);
  for (let turn = 0; turn < 3; turn += 1) expect((await upload(fixture, await packArchive(FILES))).status).toBe(200);
});

it("sources of one namespace that nobody reads to their end, however many, hold up none of another", async () => {
  const fixture = await withFunction();
  await fixture.store.create(functionIntent("slow", {}, { namespace: "others" }), { owner: "api" });
  const zip = await packArchive([...FILES, file("large.bin", randomBytes(8 << 20))]);
  const path = "/v1/namespaces/others/functions/slow";
  const stored = await fetch(`${fixture.url}${path}/upload`, { method: "POST", body: new Uint8Array(zip) });
  expect(stored.status).toBe(200);
  expect((await upload(fixture, await packArchive(FILES))).status).toBe(200);
  const sockets = Array.from({ length: 10 }, () => {
    const socket = connect(fixture.port, "127.0.0.1").on("error", () => undefined);
    socket.write(`GET ${path}/source HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    return socket.pause();
  });
  for (let turn = 0; turn < 3; turn += 1) expect((await fetch(`${fixture.url}${HELLO}/source`)).status).toBe(200);
  for (const socket of sockets) socket.destroy();
  expect((await fetch(`${fixture.url}${path}/source`)).status).toBe(200);
});

it("a client that leaves while its source is read ends the reading, and is no failure of the server", async () => {
  const objects = memoryObjectStore();
  const begun = Promise.withResolvers<AbortSignal>();
  const read: typeof objects.read = async (_key, { signal } = {}) => {
    begun.resolve(signal!);
    await new Promise((resolve) => signal!.addEventListener("abort", resolve));
    throw signal!.reason;
  };
  const logged: string[] = [];
  const log = pino({ level: "warn" }, { write: (line) => void logged.push(line) });
  const fixture = await withFunction({ objects: { ...objects, read }, log });
  expect((await upload(fixture, await packArchive(FILES))).status).toBe(200);
  const leaving = new AbortController();
  const answer = fetch(`${fixture.url}${HELLO}/source`, { signal: leaving.signal }).catch(() => "left");
  const signal = await begun.promise;
  leaving.abort();
  expect(await answer).toBe("left");
  await eventually("the reading ends", () => signal.aborted, Boolean);
  expect((await fetch(`${fixture.url}/healthz`)).status).toBe(200);
  expect(logged).toEqual([]);
});

it("an archive that cannot be stored is not named", async () => {
  const put = () => Promise.reject(new SlessError("storage_unavailable", { what: "objects", cause: "disk full" }));
  const fixture = await withFunction({ objects: memoryObjectStore({ put }) });
  expect(await upload(fixture, await packArchive(FILES))).toMatchObject({ status: 503 });
  expect((await fixture.store.get("Function", KEY))?.spec.s3Key).toBeUndefined();
});

it("a job that runs a function has no source of its own", async () => {
  const { store, json } = await withFunction();
  const metadata = { name: "once", namespace: "default" };
  await store.create({ kind: "FunctionJob", metadata, spec: { functionRef: "hello" } }, { owner: "api" });
  const body = new Uint8Array(await packArchive(FILES));
  expect(await json("/v1/namespaces/default/jobs/once/upload", { method: "POST", body })).toMatchObject({
    status: 400,
    body: { details: [{ field: "function_ref" }] },
  });
  expect(await json("/v1/namespaces/default/jobs/once/source")).toMatchObject({ status: 404 });
});

it("a stored archive that is not what its key names, or lacks its end, is told and never half sent", async () => {
  const { store, objects, json } = await withFunction();
  const zip = await packArchive(FILES);
  const stored = { ["b".repeat(64)]: zip, ["c".repeat(64)]: zip.subarray(0, zip.byteLength - 30) };
  for (const [digest, bytes] of Object.entries(stored)) {
    const key = sourceKey({ kind: "Function", ...KEY }, digest);
    await objects.put(key, bytes);
    await store.patch("Function", KEY, { spec: { s3Key: key } }, { owner: "sync" });
    for (const accept of ["application/json", "application/zip"])
      expect(await json(`${HELLO}/source`, { headers: { accept } })).toMatchObject({
        status: 502,
        body: { code: "source_unavailable", error: expect.stringContaining(key) },
      });
  }
});

it("an upload for nobody is refused before it is read", async () => {
  const { json } = await serverFixture();
  expect(await upload({ json }, new Uint8Array(1 << 20))).toMatchObject({ status: 404 });
});

it("a source is read from the object's own folder alone", async () => {
  const { store, objects, json } = await withFunction();
  const foreign = sourceKey({ kind: "Function", namespace: "default", name: "other" }, "a".repeat(64));
  await objects.put(foreign, await packArchive(FILES));
  await store.patch("Function", KEY, { spec: { s3Key: foreign } }, { owner: "sync" });
  expect(await json(`${HELLO}/source`)).toMatchObject({ status: 403, body: { code: "forbidden" } });
  const own = sourceKey({ kind: "Function", ...KEY }, "b".repeat(64));
  await store.patch("Function", KEY, { spec: { s3Key: own } }, { owner: "sync" });
  expect(await json(`${HELLO}/source`)).toMatchObject({ status: 502, body: { code: "source_unavailable" } });
});
