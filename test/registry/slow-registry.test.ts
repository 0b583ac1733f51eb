import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { expect, it, onTestFinished } from "vitest";
import { systemClock, type TimerClock } from "../../src/controller/clock.ts";
import { digestOf, type RegistryClient, type RegistryOptions, registryClient } from "../../src/registry/index.ts";
import { bodyOf, httpServer } from "../support/http-server.ts";
import { describeWithServers } from "../support/kubernetes/index.ts";
import { registryAnswer, registryProxy } from "../support/registry-proxy.ts";
import { openRegistryServer } from "../support/registry-server.ts";
import { slowLink } from "../support/slow-link.ts";

function blobOf(bytes: Buffer) {
  return { digest: digestOf(bytes), bytes };
}

describeWithServers("a registry far away", () => {
  async function open() {
    const server = await openRegistryServer();
    onTestFinished(() => server.close());
    const connect = (host: string, options: Partial<RegistryOptions> = {}): RegistryClient => {
      const client = registryClient({ host, plainHttp: true, clock: systemClock, ...options });
      onTestFinished(() => client.close());
      return client;
    };
    return { server, connect };
  }

  it("is sent a large blob for as long as its bytes move, which is longer than the limit for standing still", async () => {
    const { server, connect } = await open();
    const link = await slowLink(server.host, { latencyMs: 20, bytesPerSecond: 3_000_000 });
    const client = connect(link.host, { stallMs: 6_000 });
    const [whole, read] = [blobOf(randomBytes(21_000_000)), blobOf(randomBytes(100_000))];
    const started = performance.now();
    await client.putBlob("far/whole", whole);
    expect(performance.now() - started).toBeGreaterThan(6_000);
    // Sent once: nothing of it was given up and begun anew.
    expect(link.passed.toServer).toBeLessThan(22_000_000);
    const file = {
      digest: read.digest,
      size: 100_000,
      read: (from: number) => Readable.from([read.bytes.subarray(from)]),
    };
    expect(await client.putBlobFile("far/read", file, [])).toBe("uploaded");
    expect(Buffer.compare((await client.blob("far/whole", whole.digest))!, whole.bytes)).toBe(0);
  });

  it("that stands still in mid-push is given up, and says so", async () => {
    const { server, connect } = await open();
    const proxy = await registryProxy(server.host);
    const client = connect(proxy.host, { stallMs: 5_000, tries: 2 });
    proxy.fault = ({ method }) => (method === "HEAD" || method === "POST" ? undefined : "hold");
    const pushed = client.putBlob("far/still", blobOf(randomBytes(5_000_000)));
    await expect(pushed).rejects.toMatchObject({ status: 0, message: expect.stringContaining("did not answer") });
    proxy.fault = () => undefined;
    await client.putBlob("far/still", blobOf(Buffer.from("later")));
  });

  it("goes on with a push where its connection broke", async () => {
    const { server, connect } = await open();
    const link = await slowLink(server.host, { latencyMs: 5, bytesPerSecond: 4_000_000 });
    const client = connect(link.host);
    const blob = blobOf(randomBytes(8_000_000));
    let cuts = 2;
    const watch = setInterval(() => {
      if (cuts > 0 && link.passed.toServer > (3 - cuts) * 3_000_000) {
        cuts -= 1;
        link.cut();
      }
    }, 20);
    onTestFinished(() => clearInterval(watch));
    await client.putBlob("far/cut", blob);
    expect(cuts).toBe(0);
    expect(Buffer.compare((await client.blob("far/cut", blob.digest))!, blob.bytes)).toBe(0);
  });

  it.each([
    ["429 and seconds", 429, { "retry-after": "7" }, 7_000],
    ["503 and a date that has passed", 503, { "retry-after": "Mon, 02 Jan 2006 15:04:05 GMT" }, undefined],
    ["429 and more than anybody waits", 429, { "retry-after": "86400" }, 60_000],
    ["503 and nothing", 503, {}, 250],
    ["429 and nonsense", 429, { "retry-after": "soon" }, 250],
  ])("that answers %s is asked again when it says so", async (_, status, headers, waitMs) => {
    const { server, connect } = await open();
    const proxy = await registryProxy(server.host);
    const waited: number[] = [];
    const clock: TimerClock = {
      ...systemClock,
      setTimer(ms, act) {
        waited.push(ms);
        return systemClock.setTimer(0, act);
      },
    };
    let busy = 1;
    proxy.fault = () => (busy-- > 0 ? registryAnswer(status, "TOOMANYREQUESTS", headers) : undefined);
    expect(await connect(proxy.host, { clock }).hasBlob("far/busy", blobOf(Buffer.from("x")).digest)).toBe(false);
    expect(waited).toEqual(waitMs === undefined ? [] : [waitMs]);
  });
});

it("a push whose answer got lost is not sent again", async () => {
  const taken: string[] = [];
  const server = await httpServer(async (request, answer) => {
    const { method = "", url = "" } = request;
    const sent = await bodyOf(request);
    if (method === "PUT") {
      taken.push(sent.toString());
      request.socket.destroy();
    } else if (method === "POST") answer.writeHead(202, { location: "/v2/far/lost/blobs/uploads/1" }).end();
    // The upload is over, and known no more.
    else answer.writeHead(url.includes("/uploads/") || taken.length === 0 ? 404 : 200).end();
  });
  const host = new URL(server.origin).host;
  const client = registryClient({ host, plainHttp: true, clock: systemClock });
  onTestFinished(() => client.close());
  await client.putBlob("far/lost", blobOf(Buffer.from("once")));
  expect(taken).toEqual(["once"]);
});
