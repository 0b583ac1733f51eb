import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../src/controller/clock.ts";
import { digestOf, type RegistryOptions, registryClient, remoteBlob } from "../../src/registry/index.ts";
import { cutConnections } from "../support/cut-connections.ts";
import { watchHeldBytes } from "../support/held-bytes.ts";
import { describeWithServers } from "../support/kubernetes/index.ts";
import { registryProxy } from "../support/registry-proxy.ts";
import { openRegistryServer, type RegistryServer } from "../support/registry-server.ts";

const MIB = 1024 * 1024;

describeWithServers("a blob that is sent on from one repository to another", () => {
  let server: RegistryServer;
  beforeAll(async () => {
    server = await openRegistryServer();
  });
  afterAll(() => server?.close());

  function connect(host: string, options: Partial<RegistryOptions> = {}) {
    const client = registryClient({ host, plainHttp: true, clock: systemClock, ...options });
    onTestFinished(() => client.close());
    return client;
  }

  /** A registry that mounts nothing. */
  async function unmounting(): Promise<string> {
    const proxy = await registryProxy(server.host);
    proxy.fault = ({ path }) =>
      path.includes("mount=") ? { status: 202, headers: { location: "/nowhere" } } : undefined;
    return proxy.host;
  }

  async function pushed(repository: string, bytes: Uint8Array) {
    const blob = { digest: digestOf(bytes), bytes };
    await connect(server.host).putBlob(repository, blob);
    return { digest: blob.digest, size: bytes.byteLength };
  }

  it("is never in memory as a whole", async () => {
    const blob = await pushed("copy/large", randomBytes(96 * MIB));
    const client = connect(await unmounting());
    const mostHeld = watchHeldBytes();
    expect(await client.mountBlob({ ...blob, from: "copy/large", to: "copy/to" })).toBe("copied");
    expect(await client.hasBlob("copy/to", blob.digest)).toBe(true);
    expect(mostHeld()).toBeLessThan(40 * MIB);
  });

  it("arrives with many others over few connections", async () => {
    const blobs = await Promise.all(Array.from({ length: 12 }, () => pushed("copy/many", randomBytes(MIB))));
    const client = connect(await unmounting(), { concurrency: 1 });
    const copied = blobs.map((blob) => client.mountBlob({ ...blob, from: "copy/many", to: "copy/few" }));
    expect(new Set(await Promise.all(copied))).toEqual(new Set(["copied"]));
  });

  it("goes on where a connection broke, on either side", async () => {
    const blob = await pushed("copy/cut", randomBytes(4 * MIB));
    const far = connect(server.host);
    const near = connect(await cutConnections(server.host, 2, MIB));
    expect(await near.putBlobFile("copy/there", remoteBlob({ client: far, repository: "copy/cut" }, blob), [])).toBe(
      "uploaded",
    );
    expect(digestOf((await far.blob("copy/there", blob.digest))!)).toBe(blob.digest);
  });

  it("that is gone is asked for once, and its upload is not begun anew", async () => {
    const proxy = await registryProxy(server.host);
    const client = connect(proxy.host);
    const digest = digestOf(Buffer.from("never"));
    const missing = client.mountBlob({ digest, size: 5, from: "copy/none", to: "copy/to" });
    await expect(missing).rejects.toMatchObject({ code: "BLOB_UNKNOWN" });
    const asked = proxy.requests.map(({ method, path }) => `${method} ${path.split("?", 1)[0]}`);
    expect(asked.filter((line) => line === `GET /v2/copy/none/blobs/${digest}`)).toHaveLength(1);
    // The mount, which is not to be had, and the upload.
    expect(asked.filter((line) => line.startsWith("POST /v2/copy/to/blobs/uploads/"))).toHaveLength(2);
  });

  it("that is gone, or is another than its digest says, is told as that, and nothing is stored", async () => {
    const client = connect(server.host);
    const digest = digestOf(Buffer.from("never"));
    const missing = client.mountBlob({ digest, size: 5, from: "copy/none", to: "copy/to" });
    await expect(missing).rejects.toMatchObject({ code: "BLOB_UNKNOWN" });
    const gone = remoteBlob({ client, repository: "copy/none" }, { digest, size: 5 });
    await expect(client.putBlobFile("copy/to", gone, [])).rejects.toMatchObject({ code: "BLOB_UNKNOWN" });
    expect(await client.hasBlob("copy/to", digest)).toBe(false);
  });
});
