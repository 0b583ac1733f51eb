import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openS3Store, type S3Options } from "../../src/storage/s3/index.ts";
import { objectStoreContract } from "../contract/object-store.ts";
import { allOf } from "../support/all-of.ts";
import { httpServer } from "../support/http-server.ts";
import { describeWithServers } from "../support/kubernetes/index.ts";
import { openS3Server, type S3Server } from "../support/s3-server.ts";

describeWithServers("S3", () => {
  let server: S3Server;
  beforeAll(async () => {
    server = await openS3Server();
  });
  afterAll(() => server?.close());

  const optionsFor = async (more: Partial<S3Options> = {}): Promise<S3Options> => ({
    endpoint: server.endpoint,
    credentials: server.credentials,
    bucket: await server.makeBucket(),
    maxAttempts: 2,
    ...more,
  });

  it("an answer that is none of S3 is told as that, without words for programmers", async () => {
    const { origin } = await httpServer((_request, response) => {
      response.writeHead(404, { "content-type": "application/json" }).end('{"error":"there is no such page"}');
    });
    const opening = openS3Store(await optionsFor({ endpoint: origin, maxAttempts: 1 }));
    await expect(opening).rejects.toThrow("the answer is none of an S3 server; check S3_ENDPOINT");
  });

  describe("an object store in a bucket", () => {
    objectStoreContract(async () => openS3Store(await optionsFor()));

    it("takes a body of many parts as one object, and stores it once", async () => {
      const store = await openS3Store(await optionsFor());
      const part = new Uint8Array(1024 * 1024).map((_, i) => i % 251);
      async function* body() {
        for (let i = 0; i < 20; i += 1) yield part;
      }
      expect(await store.put("contexts/demo/a/1.tar.gz", body())).toBe("stored");
      expect(await store.put("contexts/demo/a/1.tar.gz", body())).toBe("present");
      const stored = (await store.get("contexts/demo/a/1.tar.gz"))!;
      expect(stored.byteLength).toBe(20 * part.byteLength);
      expect(Buffer.compare(stored.subarray(19 * part.byteLength), part)).toBe(0);
    });

    it("lists more keys than fit on a page", async () => {
      const store = await openS3Store(await optionsFor());
      const keys = Array.from({ length: 1_050 }, (_, i) => `functions/demo/f/${String(i).padStart(5, "0")}`);
      for (let i = 0; i < keys.length; i += 50)
        await Promise.all(keys.slice(i, i + 50).map((key) => store.put(key, new Uint8Array([1]))));
      expect(await allOf(store.list("functions/"))).toEqual(keys);
    });

    it("a presigned address reads its own object alone, without credentials", async () => {
      const store = await openS3Store(await optionsFor());
      for (const key of ["a/1", "a/2"]) await store.put(key, new TextEncoder().encode(key));
      const address = await store.presignedGet("a/1", 60);
      expect(await (await fetch(address)).text()).toBe("a/1");
      expect((await fetch(address.replace("/a/1", "/a/2"))).status).toBe(403);
      expect((await fetch(address, { method: "DELETE" })).status).toBe(403);
      expect(await store.has("a/1")).toBe(true);
    });

    it("two stores of one bucket that put the same key at once store it once", async () => {
      const options = await optionsFor();
      const stores = await Promise.all([openS3Store(options), openS3Store(options)]);
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_, i) => stores[i % 2]!.put("a", new TextEncoder().encode(String(i)))),
      );
      expect(outcomes.filter((outcome) => outcome === "stored")).toHaveLength(1);
    });
  });

  describe("what is wrong with a store is told when it is opened", () => {
    it.each<[string, Partial<S3Options>, RegExp]>([
      ["a bucket that is not there", { bucket: "nobody-made-it" }, /does not exist; make it, or correct S3_BUCKET/],
      [
        "credentials that are refused",
        { credentials: { accessKeyId: "test", secretAccessKey: "wrong" } },
        /refused the credentials.*S3_ACCESS_KEY/,
      ],
      ["a server that is not there", { endpoint: "http://127.0.0.1:1" }, /ECONNREFUSED/],
    ])("%s", async (_, more, message) => {
      const opening = openS3Store(await optionsFor(more));
      await expect(opening).rejects.toMatchObject({
        code: "storage_unavailable",
        message: expect.stringMatching(message),
      });
    });
  });

  it("a secret key is in no error", async () => {
    const options = await optionsFor({ credentials: { accessKeyId: "test", secretAccessKey: "do-not-tell-me" } });
    await expect(openS3Store(options)).rejects.toSatisfy(
      (error) => !JSON.stringify([String(error), error]).includes("do-not-tell-me"),
    );
  });

  it("a server that comes back within the tries is not noticed", async () => {
    let calls = 0;
    const flaky = await httpServer((_req, res) => {
      calls += 1;
      res.writeHead(calls === 2 ? 503 : 200).end();
    });
    const store = await openS3Store(await optionsFor({ endpoint: flaky.origin, maxAttempts: 3 }));
    expect(await store.has("a")).toBe(true);
    expect(calls).toBe(3);
  });

  it("a server that stays away is told, and what is stored is there once it is back", async () => {
    const own = await openS3Server();
    try {
      const bucket = await own.makeBucket();
      const store = await openS3Store({ endpoint: own.endpoint, credentials: own.credentials, bucket, maxAttempts: 1 });
      await store.put("a", new Uint8Array([1]));
      await own.stop();
      await expect(store.get("a")).rejects.toMatchObject({ code: "storage_unavailable" });
      await expect(store.put("b", new Uint8Array([2]))).rejects.toMatchObject({ code: "storage_unavailable" });
      await own.start();
      expect(await store.get("a")).toEqual(new Uint8Array([1]));
      expect(await store.put("b", new Uint8Array([2]))).toBe("stored");
    } finally {
      await own.close();
    }
  });
});
