import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fetchContext } from "../../../src/build/kaniko/index.ts";
import { systemClock } from "../../../src/controller/index.ts";
import { openS3Store, type S3Store } from "../../../src/storage/s3/index.ts";
import { eventually } from "../../support/eventually.ts";
import { freePort } from "../../support/free-ports.ts";
import { httpServer } from "../../support/http-server.ts";
import { describeWithServers } from "../../support/kubernetes/index.ts";
import { manualClock } from "../../support/manual-clock.ts";
import { openS3Server, type S3Server } from "../../support/s3-server.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/** Waits for nothing. */
const hasty = { ...systemClock, setTimer: (_ms: number, callback: () => void) => systemClock.setTimer(0, callback) };

async function fetched(url: string, tries?: number) {
  const folder = await temporaryFolder();
  const to = join(folder, "context.tar.gz");
  const done = fetchContext({ url, to, clock: hasty, ...(tries === undefined ? {} : { tries }) });
  return { folder, to, error: await done.then(() => undefined).catch(String) };
}

describeWithServers("a context in S3", () => {
  let server: S3Server;
  let store: S3Store;
  beforeAll(async () => {
    server = await openS3Server();
    const { endpoint, credentials } = server;
    store = await openS3Store({ endpoint, credentials, bucket: await server.makeBucket() });
  });
  afterAll(async () => {
    store?.close();
    await server?.close();
  });

  it("is fetched by its presigned address", async () => {
    await store.put("contexts/demo/hello/1.tar.gz", Buffer.from("context"));
    const { to, error } = await fetched(await store.presignedGet("contexts/demo/hello/1.tar.gz", 60));
    expect(error).toBeUndefined();
    expect(await readFile(to, "utf8")).toBe("context");
  });

  it("that vanished is told as that, and leaves no file", async () => {
    const { folder, error } = await fetched(await store.presignedGet("contexts/demo/hello/gone.tar.gz", 60));
    expect(error).toContain("it is in the object store no more (404 NoSuchKey)");
    expect(await readdir(folder)).toEqual([]);
  });

  it("whose address has expired is told as that, without the address", async () => {
    await store.put("contexts/demo/hello/2.tar.gz", Buffer.from("context"));
    const url = await store.presignedGet("contexts/demo/hello/2.tar.gz", 1);
    const status = async () => (await fetch(url)).status;
    await eventually("the address expires", status, (seen) => seen === 403);
    const { error } = await fetched(url);
    expect(error).toContain("which may have expired (403 AccessDenied)");
    expect(error).not.toContain("X-Amz-Signature");
  });
});

describe("a server that fails", () => {
  it("is asked again, and what it breaks off is no context", async () => {
    let asked = 0;
    const { origin } = await httpServer((_request, response) => {
      asked += 1;
      if (asked === 1) response.writeHead(503).end();
      else if (asked === 2) {
        response.writeHead(200, { "content-length": "7" }).write("con");
        setImmediate(() => response.destroy());
      } else response.end("context");
    });
    const { folder, to, error } = await fetched(`${origin}/x`);
    expect(error).toBeUndefined();
    expect(await readFile(to, "utf8")).toBe("context");
    expect(await readdir(folder)).toEqual(["context.tar.gz"]);
  });

  it("for good is told with its host alone", async () => {
    const port = await freePort();
    const { error } = await fetched(`http://127.0.0.1:${port}/x?X-Amz-Signature=secret`, 2);
    expect(error).toContain(`127.0.0.1:${port} did not answer`);
    expect(error).not.toContain("secret");
  });

  it("is asked at growing intervals", async () => {
    const clock = manualClock();
    const { origin } = await httpServer((_request, response) => void response.writeHead(503).end());
    const done = fetchContext({ url: `${origin}/x`, to: join(await temporaryFolder(), "c"), clock, tries: 3 });
    const failed = expect(done).rejects.toThrow("answered 503");
    for (const ms of [500, 1_000]) {
      await eventually(
        "it waits",
        () => clock.timers(),
        (timers) => timers.length === 1 && timers[0] === ms,
      );
      clock.advance(ms);
    }
    await failed;
  });
});

it("a folder that is not there is told at once", async () => {
  const { origin } = await httpServer((_request, response) => void response.end("context"));
  const to = join(await temporaryFolder(), "none", "context.tar.gz");
  await expect(fetchContext({ url: origin, to, clock: systemClock })).rejects.toThrow("cannot be written to");
});
