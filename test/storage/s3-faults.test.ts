import { randomBytes } from "node:crypto";
import { buffer } from "node:stream/consumers";
import { ListMultipartUploadsCommand, S3Client } from "@aws-sdk/client-s3";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openS3Store, type S3Options, type S3Store } from "../../src/storage/s3/index.ts";
import { allOf } from "../support/all-of.ts";
import { eventually } from "../support/eventually.ts";
import { describeWithServers } from "../support/kubernetes/index.ts";
import { type S3Fault, type S3Proxy, s3Answer, s3Proxy } from "../support/s3-proxy.ts";
import { openS3Server, type S3Server } from "../support/s3-server.ts";
import { slowLink } from "../support/slow-link.ts";

const MIB = 1024 * 1024;
const KEY = "functions/demo/hello/1.zip";

describeWithServers("S3 behind a network that fails", () => {
  let server: S3Server;
  beforeAll(async () => {
    server = await openS3Server();
  });
  afterAll(() => server?.close());

  const optionsFor = (bucket: string, more: Partial<S3Options> = {}): S3Options => ({
    endpoint: server.endpoint,
    credentials: server.credentials,
    bucket,
    maxAttempts: 2,
    ...more,
  });

  interface Behind {
    readonly store: S3Store;
    readonly proxy: S3Proxy;
    readonly bucket: string;
    /** The next requests of that method, one fault each. */
    fail(method: string, ...faults: S3Fault[]): void;
    /** Without the proxy. */
    readonly direct: S3Store;
  }

  async function behindProxy(more: Partial<S3Options> = {}): Promise<Behind> {
    const bucket = await server.makeBucket();
    const proxy = await s3Proxy(server.endpoint);
    const store = await openS3Store(optionsFor(bucket, { endpoint: proxy.endpoint, ...more }));
    const direct = await openS3Store(optionsFor(bucket));
    // That the bucket was looked for is none of the test's.
    proxy.requests.length = 0;
    const fail = (method: string, ...faults: S3Fault[]) => {
      proxy.requests.length = 0;
      proxy.fault = (request) => (request.method === method ? faults.shift() : undefined);
    };
    return { store, proxy, bucket, fail, direct };
  }

  const readAll = async (store: S3Store) => buffer((await store.read(KEY))!.body);
  const ranges = ({ requests }: S3Proxy) =>
    requests.filter(({ method }) => method === "GET").map(({ headers }) => headers.range);

  it("a download that breaks off is gone on with where it got to", async () => {
    const { store, proxy, direct, fail } = await behindProxy();
    const body = randomBytes(3 * MIB);
    await direct.put(KEY, body);
    fail("GET", { cutAnswerAfter: MIB }, { cutAnswerAfter: 700_000 });
    expect(Buffer.compare(await readAll(store), body)).toBe(0);
    expect(ranges(proxy)).toEqual([undefined, `bytes=${MIB}-`, `bytes=${MIB + 700_000}-`]);
  });

  it.each<[string, S3Fault]>([
    ["a byte that changed on the way", { flip: 1_000_000 }],
    ["a byte that changed before the connection broke", { flip: 10 }],
  ])("%s is told at the end, and never taken as whole", async (_, flip) => {
    const { store, direct, fail } = await behindProxy();
    const body = randomBytes(2 * MIB);
    await direct.put(KEY, body);
    fail("GET", flip);
    const refusal = { code: "object_damaged", message: expect.stringMatching(/1\.zip .*damaged .*: its checksum/) };
    await expect(readAll(store)).rejects.toMatchObject(refusal);
    fail("GET", flip);
    await expect(store.get(KEY)).rejects.toMatchObject(refusal);
    expect(Buffer.compare(await readAll(store), body)).toBe(0);
  });

  it("the checksum holds over connections: what came before a break counts too", async () => {
    const { store, proxy, direct, fail } = await behindProxy();
    await direct.put(KEY, randomBytes(2 * MIB));
    let isCut = false;
    fail("GET", { cutAnswerAfter: MIB });
    proxy.fault = ({ method }) => {
      if (method !== "GET") return undefined;
      const fault: S3Fault = isCut ? { flip: 5 } : { cutAnswerAfter: MIB };
      isCut = true;
      return fault;
    };
    await expect(readAll(store)).rejects.toThrow(/damaged/);
  });

  it("an object in parts has one checksum of the whole, which is held as well", async () => {
    const { store, direct, fail } = await behindProxy();
    const part = randomBytes(MIB);
    async function* body() {
      for (let i = 0; i < 18; i += 1) yield part;
    }
    await direct.put(KEY, body());
    fail("GET", { cutAnswerAfter: 9 * MIB });
    expect((await readAll(store)).byteLength).toBe(18 * MIB);
    fail("GET", { flip: 17 * MIB });
    await expect(readAll(store)).rejects.toThrow(/damaged/);
  });

  it("an object that was replaced while it was read is not mixed with its successor", async () => {
    const { store, proxy, direct } = await behindProxy();
    await direct.put(KEY, randomBytes(2 * MIB));
    let gets = 0;
    proxy.fault = ({ method }) => (method === "GET" && ++gets === 1 ? { cutAnswerAfter: MIB } : undefined);
    const { body } = (await store.read(KEY))!;
    await direct.delete(KEY);
    await direct.put(KEY, randomBytes(2 * MIB));
    await expect(buffer(body)).rejects.toMatchObject({ code: "storage_unavailable" });
  });

  it("a connection that breaks again and again is given up, and works once it holds", async () => {
    const { store, proxy, direct } = await behindProxy();
    await direct.put(KEY, randomBytes(2 * MIB));
    proxy.fault = ({ method }) => (method === "GET" ? { cutAnswerAfter: 1000 } : undefined);
    await expect(readAll(store)).rejects.toThrow(/the connection to the S3 server broke/);
    expect(proxy.requests.filter(({ method }) => method === "GET")).toHaveLength(5);
    proxy.fault = () => undefined;
    expect(await readAll(store)).toHaveLength(2 * MIB);
  });

  it.each<[string, S3Fault]>([
    ["never answers", "stall"],
    ["stops in the midst of its answer", { stallAnswerAfter: 5000 }],
  ])("a server that %s is left after the time without a byte", async (_, fault) => {
    const { store, proxy, direct } = await behindProxy({ timeoutMs: { idle: 2_000 }, maxAttempts: 1 });
    await direct.put(KEY, randomBytes(MIB));
    proxy.fault = () => fault;
    await expect(readAll(store)).rejects.toMatchObject({
      code: "storage_unavailable",
      message: expect.stringMatching(/did not answer in time/),
    });
    if (fault === "stall") await expect(store.has(KEY)).rejects.toThrow(/did not answer in time/);
    if (fault === "stall") await expect(store.put("b", Buffer.from("x"))).rejects.toThrow(/did not answer in time/);
    proxy.fault = () => undefined;
    const isWell = () =>
      readAll(store).then(
        (bytes) => bytes.byteLength === MIB,
        () => false,
      );
    await eventually("it is well again", isWell, Boolean);
  });

  it("aborting ends a read of a server that is silent at once", async () => {
    const { store, proxy, direct } = await behindProxy();
    await direct.put(KEY, randomBytes(MIB));
    for (const fault of ["stall", { stallAnswerAfter: 5000 }] as const) {
      proxy.fault = () => fault;
      proxy.requests.length = 0;
      const stop = new AbortController();
      const reading = store.read(KEY, { signal: stop.signal }).then((found) => buffer(found!.body));
      await eventually("it asks", () => proxy.requests.length, Boolean);
      stop.abort(new Error("superseded"));
      await expect(reading).rejects.toThrow("superseded");
    }
  });

  it.each<[string, Record<string, string>]>([
    ["", {}],
    [", with the time that it names", { "retry-after": "1" }],
  ])("a server that is busy is asked again%s", async (_, headers) => {
    const { store, proxy, fail } = await behindProxy({ maxAttempts: 3 });
    fail("PUT", s3Answer(503, "SlowDown", headers));
    const started = performance.now();
    expect(await store.put(KEY, Buffer.from("x"))).toBe("stored");
    if ("retry-after" in headers) expect(performance.now() - started).toBeGreaterThan(900);
    expect(proxy.requests.filter(({ method }) => method === "PUT")).toHaveLength(2);
    fail("GET", s3Answer(503, "SlowDown", headers));
    expect(await readAll(store)).toEqual(Buffer.from("x"));
  });

  it("a server that stays busy is told by its own words, and stores nothing", async () => {
    const { store, proxy, direct } = await behindProxy();
    proxy.fault = () => s3Answer(503, "SlowDown");
    await expect(store.put(KEY, Buffer.from("x"))).rejects.toMatchObject({
      code: "storage_unavailable",
      message: expect.stringContaining("SlowDown: no SlowDown today"),
    });
    await expect(store.read(KEY)).rejects.toThrow(/SlowDown/);
    expect(await direct.has(KEY)).toBe(false);
    proxy.fault = () => undefined;
    expect(await store.put(KEY, Buffer.from("x"))).toBe("stored");
  });

  it.each(["InvalidAccessKeyId", "ExpiredToken", "AccessDenied"])(
    "credentials that stop to count (%s) are told with their settings, and taken again",
    async (code) => {
      const { store, proxy } = await behindProxy();
      await store.put(KEY, Buffer.from("x"));
      proxy.fault = ({ method }) => (method === "HEAD" ? { status: 403 } : s3Answer(403, code));
      const told = {
        code: "storage_unavailable",
        message: expect.stringMatching(/refused the credentials.*S3_ACCESS_KEY/),
      };
      await expect(store.read(KEY)).rejects.toMatchObject(told);
      await expect(store.has(KEY)).rejects.toMatchObject(told);
      await expect(store.put("b", Buffer.from("x"))).rejects.toMatchObject(told);
      await expect(allOf(store.list(""))).rejects.toMatchObject(told);
      proxy.fault = () => undefined;
      expect(await readAll(store)).toEqual(Buffer.from("x"));
    },
  );

  it("a bucket that is gone is no bucket without objects", async () => {
    const { store, proxy } = await behindProxy();
    proxy.fault = ({ method }) => (method === "HEAD" ? { status: 404 } : s3Answer(404, "NoSuchBucket"));
    const told = {
      code: "storage_unavailable",
      message: expect.stringContaining("the bucket does not exist; make it"),
    };
    for (const use of [
      () => store.read(KEY),
      () => store.get(KEY),
      () => store.put(KEY, Buffer.from("x")),
      () => store.put(KEY, pieces(Buffer.from("x"))),
      () => store.delete(KEY),
      () => allOf(store.list("")),
    ])
      await expect(use()).rejects.toMatchObject(told);
  });

  it.each<[string, S3Fault]>([
    ["breaks", { cutRequestAfter: 3 * MIB }],
    ["fails", s3Answer(500, "InternalError")],
  ])("an upload that %s in the middle is sent again", async (_, fault) => {
    const { store, fail, direct, bucket } = await behindProxy({ maxAttempts: 3 });
    const body = randomBytes(20 * MIB);
    fail("PUT", fault, fault);
    expect(await store.put(KEY, pieces(body))).toBe("stored");
    expect(Buffer.compare(await readAll(direct), body)).toBe(0);
    fail("PUT", fault);
    expect(await store.put("b", body)).toBe("stored");
    expect(Buffer.compare((await direct.get("b"))!, body)).toBe(0);
    expect(await openUploads(bucket)).toEqual([]);
  });

  it("an upload that cannot be ended stores nothing, and the next one all", async () => {
    const { store, proxy, direct, bucket } = await behindProxy();
    const body = randomBytes(20 * MIB);
    proxy.fault = ({ method, path }) => (method === "PUT" && path.includes("partNumber=2") ? "cut" : undefined);
    await expect(store.put(KEY, pieces(body))).rejects.toMatchObject({
      code: "storage_unavailable",
      message: expect.stringContaining("the connection to the S3 server broke"),
    });
    expect(await direct.has(KEY)).toBe(false);
    expect(await openUploads(bucket)).toEqual([]);
    proxy.fault = () => undefined;
    expect(await store.put(KEY, pieces(body))).toBe("stored");
    expect(Buffer.compare(await readAll(direct), body)).toBe(0);
  });

  it.each<[string, number]>([
    ["a small body", 1000],
    ["a body in parts", 9 * MIB],
  ])("%s whose answer got lost is there, and no error", async (_, bytes) => {
    const { store, proxy, direct } = await behindProxy({ maxAttempts: 3 });
    const body = randomBytes(bytes);
    let lost = 0;
    proxy.fault = ({ method, path }) => {
      const isLast = bytes < MIB ? method === "PUT" : method === "POST" && path.includes("uploadId");
      return isLast && lost++ === 0 ? "answerLost" : undefined;
    };
    expect(await store.put(KEY, pieces(body))).toMatch(/stored|present/);
    expect(lost).toBeGreaterThan(1);
    expect(Buffer.compare(await readAll(direct), body)).toBe(0);
  });

  it("of a body that met another writer nothing is stored but the whole", async () => {
    const { store, proxy, direct } = await behindProxy();
    proxy.fault = ({ method }) => (method === "PUT" ? s3Answer(409, "ConditionalRequestConflict") : undefined);
    await expect(store.put(KEY, pieces(Buffer.from("x")))).rejects.toThrow(/another writer/);
    expect(await direct.has(KEY)).toBe(false);
    let conflicts = 0;
    proxy.fault = ({ method }) =>
      method === "PUT" && conflicts++ === 0 ? s3Answer(409, "ConditionalRequestConflict") : undefined;
    expect(await store.put(KEY, Buffer.from("x"))).toBe("stored");
    proxy.fault = ({ method }) => (method === "HEAD" ? { status: 404 } : undefined);
    expect(await store.put(KEY, pieces(Buffer.from("other")))).toBe("present");
    expect(await readAll(direct)).toEqual(Buffer.from("x"));
  });

  it.each<[string, number]>([
    ["at once", 200_000],
    ["in parts", 9 * MIB],
  ])(
    "two controllers that send the same key %s over a slow link store one object, and neither fails",
    async (_, bytes) => {
      const bucket = await server.makeBucket();
      const link = await slowLink(Number(new URL(server.endpoint).port), {
        bytesPerSecond: bytes > MIB ? 20_000_000 : 1_000_000,
      });
      const options = optionsFor(bucket, { endpoint: `http://${link.host}` });
      const stores = await Promise.all([openS3Store(options), openS3Store(options)]);
      const bodies = [randomBytes(bytes), randomBytes(bytes)];
      const outcomes = await Promise.all(
        stores.map((store, index) => store.put(KEY, bytes > MIB ? pieces(bodies[index]!) : bodies[index]!)),
      );
      expect(outcomes.toSorted()).toEqual(["present", "stored"]);
      const direct = await openS3Store(optionsFor(bucket));
      expect(Buffer.compare(await readAll(direct), bodies[outcomes.indexOf("stored")]!)).toBe(0);
      expect(await allOf(direct.list(""))).toEqual([KEY]);
      expect(await openUploads(bucket)).toEqual([]);
    },
  );

  it("a slow link is no silent one: bytes that move are waited for", async () => {
    const bucket = await server.makeBucket();
    const link = await slowLink(Number(new URL(server.endpoint).port), { bytesPerSecond: 500_000 });
    const idle = { timeoutMs: { idle: 5_000 }, maxAttempts: 1 };
    const store = await openS3Store(optionsFor(bucket, { endpoint: `http://${link.host}`, ...idle }));
    const body = randomBytes(3.5 * MIB);
    await (await openS3Store(optionsFor(bucket))).put(KEY, body);
    const started = performance.now();
    expect(Buffer.compare(await readAll(store), body)).toBe(0);
    expect(performance.now() - started).toBeGreaterThan(5_500);
  });

  it("a link that is cut in the middle of both ways is gone on with", async () => {
    const bucket = await server.makeBucket();
    const link = await slowLink(Number(new URL(server.endpoint).port), { bytesPerSecond: 4_000_000 });
    const store = await openS3Store(optionsFor(bucket, { endpoint: `http://${link.host}`, maxAttempts: 4 }));
    const body = randomBytes(3 * MIB);
    const { passed } = link;
    const putting = store.put(KEY, body);
    await eventually(
      "a part is sent",
      () => passed.toServer,
      (bytes) => bytes > MIB,
    );
    link.cut();
    expect(await putting).toMatch(/stored|present/);
    const reading = readAll(store);
    await eventually(
      "a part has come",
      () => passed.toClient,
      (bytes) => bytes > MIB,
    );
    link.cut();
    expect(Buffer.compare(await reading, body)).toBe(0);
  });

  async function openUploads(Bucket: string): Promise<unknown[]> {
    const client = new S3Client({
      ...{ endpoint: server.endpoint, credentials: server.credentials },
      ...{ region: "us-east-1", forcePathStyle: true },
    });
    const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket }));
    client.destroy();
    return Uploads;
  }
});

async function* pieces(body: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < body.byteLength; at += 100_000) yield body.subarray(at, at + 100_000);
}
