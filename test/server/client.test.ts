import { expect, it } from "vitest";
import { createClient, ServerError } from "../../src/server/client.ts";
import { packArchive, readArchive } from "../../src/source/index.ts";
import { httpServer } from "../support/http-server.ts";
import { functionIntent, liveService, serverFixture } from "./server-fixture.ts";

const IN_DEFAULT = { namespace: "default" };

async function connected(...options: Parameters<typeof serverFixture>) {
  const fixture = await serverFixture(...options);
  return { ...fixture, client: createClient({ endpoint: fixture.url }) };
}

it("a list of more than one page is read to its end", async () => {
  const { store, client } = await connected();
  const names = Array.from({ length: 520 }, (_, index) => `f${String(index).padStart(3, "0")}`);
  for (const name of names) await store.create(functionIntent(name), { owner: "api" });
  expect((await client.list("functions", IN_DEFAULT)).map(({ name }) => name)).toEqual(names);
  expect(await client.listObjects("functions", IN_DEFAULT)).toHaveLength(520);
});

it("an object is read in both forms", async () => {
  const { store, client } = await connected();
  const written = await store.create(functionIntent("hello"), { owner: "api" });
  expect(await client.get("functions", "hello", IN_DEFAULT)).toMatchObject({ name: "hello", memory_mb: 128 });
  expect(await client.getObject("functions", "hello", IN_DEFAULT)).toEqual(written);
});

it("a repository is planned, reconciled and approved", async () => {
  const { store, client } = await connected();
  const metadata = { name: "main", namespace: "default" };
  await store.create({ kind: "Repository", metadata, spec: { url: "/r" } }, { owner: "api" });
  expect(await client.plan("main", IN_DEFAULT)).toMatchObject({ held: [] });
  expect(await client.reconcile("main", IN_DEFAULT)).toEqual({ requested_at: expect.any(String) });
  expect(await client.approve("main", IN_DEFAULT)).toEqual({ approved: [] });
  const gone = { kind: "Function", name: "x", uid: "u" } as const;
  await expect(client.approve("main", { ...IN_DEFAULT, deletions: [gone] })).rejects.toMatchObject({
    code: "not_found",
  });
});

it("logs and answers of functions are streams", async () => {
  const { store, client, platform, reachable } = await connected();
  const metadata = { name: "hello", namespace: "default" };
  await store.create({ kind: "Service", metadata, spec: { runtime: "nodejs20" } }, { owner: "api" });
  const { origin } = await httpServer((req, res) => {
    res.writeHead(500);
    req.pipe(res);
  });
  reachable.set("default/hello", liveService("hello"));
  platform.serve({ kind: "Service", ...metadata }, [{ replica: "a", origin }]);
  const text = async (stream: AsyncIterable<Uint8Array>) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of stream) chunks.push(chunk);
    return Buffer.concat(chunks).toString();
  };
  expect(await text(client.logs("services", "hello", IN_DEFAULT))).toBe("Service/default/hello says hello\n");
  const answer = await client.invoke("services", "hello", { ...IN_DEFAULT, body: "hi" });
  expect([answer.status, await text(answer.body)]).toEqual([500, "hi"]);
});

it("leaving a followed log is no error", async () => {
  const { store, client } = await connected({
    platform: {
      async *logs(_workload, { signal }) {
        yield Buffer.from("hello\n");
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
      },
    },
  });
  await store.create(functionIntent("hello"), { owner: "api" });
  const left = new AbortController();
  const seen: string[] = [];
  for await (const chunk of client.logs("functions", "hello", { ...IN_DEFAULT, follow: true, signal: left.signal })) {
    seen.push(Buffer.from(chunk).toString());
    left.abort();
  }
  expect(seen).toEqual(["hello\n"]);
});

it("names are encoded, so that none reaches another path", async () => {
  const { client } = await connected();
  await expect(client.get("functions", "../services?x", IN_DEFAULT)).rejects.toMatchObject({ code: "not_found" });
});

it("an error of the server keeps its code, status and details", async () => {
  const { client } = await connected();
  const error = await client.get("functions", "nobody", IN_DEFAULT).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ServerError);
  expect(error).toMatchObject({ code: "not_found", status: 404, details: [] });
});

it("when nobody answers, the error says how to start a server", async () => {
  const { origin, kill } = await httpServer(() => undefined);
  await kill();
  const client = createClient({ endpoint: origin });
  const refused = client.list("functions", IN_DEFAULT);
  await expect(refused).rejects.toMatchObject({ code: "server_unreachable" });
  await expect(refused).rejects.toThrow(`No sless server answers at ${origin}`);
});

it("the token goes along as a bearer token", async () => {
  let seen: string | undefined;
  const { origin } = await httpServer((req, res) => {
    seen = req.headers.authorization;
    res.end('{"items":[]}');
  });
  await createClient({ endpoint: origin, token: "t" }).list("functions", IN_DEFAULT);
  expect(seen).toBe("Bearer t");
});

it("a function is made, given a source, replaced and deleted", async () => {
  const { client } = await connected();
  expect(await client.ensureNamespace("default")).toEqual({ namespace: "default", status: "exists" });
  const made = await client.create("functions", { name: "hello", runtime: "python3.11" }, IN_DEFAULT);
  expect(made).toMatchObject({ name: "hello", memory_mb: 128 });
  const handler = { path: "handler.py", mode: "100644", content: Buffer.from("def handle(e, c): pass\n") } as const;
  const { s3_key } = await client.upload("functions", "hello", await packArchive([handler]), IN_DEFAULT);
  expect(s3_key).toMatch(/^functions\/default\/hello\//);
  const files = await readArchive(await client.source("functions", "hello", IN_DEFAULT));
  expect(files.map(({ path }) => path)).toEqual(["handler.py"]);
  const body = { runtime: "python3.11", memory_mb: 64 };
  expect(await client.replace("functions", "hello", body, IN_DEFAULT)).toMatchObject({ memory_mb: 64, s3_key });
  expect(await client.patch("functions", "hello", { memory_mb: null }, IN_DEFAULT)).toMatchObject({ memory_mb: 128 });
  await client.delete("functions", "hello", IN_DEFAULT);
  await expect(client.delete("functions", "hello", IN_DEFAULT)).rejects.toMatchObject({ code: "not_found" });
  await expect(client.create("functions", { name: "X" }, IN_DEFAULT)).rejects.toMatchObject({
    status: 400,
    details: [{ field: "name" }, { field: "runtime" }],
  });
});
