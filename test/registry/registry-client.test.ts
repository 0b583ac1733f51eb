import { afterAll, beforeAll, expect, it } from "vitest";
import { systemClock } from "../../src/controller/index.ts";
import { digestOf, MEDIA_TYPES, type RegistryClient, registryClient } from "../../src/registry/index.ts";
import { describeWithServers } from "../support/kubernetes/index.ts";
import { openRegistryServer, type RegistryServer } from "../support/registry-server.ts";

const USER = { username: "team", password: "s:e:c ret" };
const START_WITHIN_MS = 600_000;

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function blobOf(text: string) {
  return { digest: digestOf(bytes(text)), bytes: bytes(text) };
}

/** An image of one layer, which nobody could run. */
async function pushImage(client: RegistryClient, repository: string, tag: string): Promise<string> {
  const [config, layer] = [blobOf(`{"tag":"${tag}"}`), blobOf(`layer of ${repository}`)];
  for (const blob of [config, layer]) await client.putBlob(repository, blob);
  const descriptor = (blob: typeof config, mediaType: string) => ({
    mediaType,
    digest: blob.digest,
    size: blob.bytes.byteLength,
  });
  const manifest = {
    schemaVersion: 2,
    mediaType: MEDIA_TYPES.ociManifest,
    config: descriptor(config, MEDIA_TYPES.ociConfig),
    layers: [descriptor(layer, MEDIA_TYPES.ociLayer)],
  };
  return client.putManifest(repository, tag, {
    mediaType: MEDIA_TYPES.ociManifest,
    bytes: bytes(JSON.stringify(manifest)),
  });
}

for (const [name, user] of [
  ["without a login", undefined],
  ["with user and password", USER],
] as const) {
  describeWithServers(`a registry ${name}`, () => {
    let server: RegistryServer;
    let client: RegistryClient;
    beforeAll(async () => {
      server = await openRegistryServer(user ? { user } : {});
      const credentials = user ? { credentials: user } : {};
      client = registryClient({ host: server.host, plainHttp: true, clock: systemClock, ...credentials });
    }, START_WITHIN_MS);
    afterAll(async () => {
      await client?.close();
      await server?.close();
    });

    it("gives back an image by tag and by digest", async () => {
      const digest = await pushImage(client, "demo/one", "v1");
      expect(await client.manifestDigest("demo/one", "v1")).toBe(digest);
      const manifest = await client.manifest("demo/one", "v1");
      expect(manifest).toMatchObject({ digest, mediaType: MEDIA_TYPES.ociManifest });
      expect(await client.manifest("demo/one", digest)).toEqual(manifest);
      const layer = blobOf("layer of demo/one");
      expect(Buffer.from((await client.blob("demo/one", layer.digest))!).toString()).toBe("layer of demo/one");
      expect(await client.tags("demo/one")).toEqual(["v1"]);
    });

    it("knows nothing of what was not pushed", async () => {
      expect(await client.manifest("demo/none", "v1")).toBeUndefined();
      expect(await client.manifestDigest("demo/none", "v1")).toBeUndefined();
      expect(await client.blob("demo/none", blobOf("x").digest)).toBeUndefined();
      expect(await client.hasBlob("demo/none", blobOf("x").digest)).toBe(false);
      expect(await client.tags("demo/none")).toEqual([]);
    });

    it("mounts a blob of another repository without moving it", async () => {
      const layer = blobOf(`mounted ${name}`);
      await client.putBlob("demo/from", layer);
      expect(await client.mountBlob({ digest: layer.digest, from: "demo/from", to: "demo/to" })).toBe("mounted");
      expect(await client.hasBlob("demo/to", layer.digest)).toBe(true);
    });

    it("an image whose layer is not there is refused with the registry's own words", async () => {
      const config = blobOf("{}");
      await client.putBlob("demo/broken", config);
      const manifest = {
        schemaVersion: 2,
        config: { mediaType: MEDIA_TYPES.ociConfig, digest: config.digest, size: 2 },
        layers: [{ mediaType: MEDIA_TYPES.ociLayer, digest: blobOf("nobody has it").digest, size: 13 }],
      };
      const pushed = client.putManifest("demo/broken", "v1", {
        mediaType: MEDIA_TYPES.ociManifest,
        bytes: bytes(JSON.stringify(manifest)),
      });
      await expect(pushed).rejects.toMatchObject({ status: 400, code: "MANIFEST_BLOB_UNKNOWN" });
      expect(await client.manifest("demo/broken", "v1")).toBeUndefined();
    });

    it("forgets an image that is deleted, also when it is deleted twice", async () => {
      const digest = await pushImage(client, "demo/gone", "v1");
      await client.deleteManifest("demo/gone", digest);
      await client.deleteManifest("demo/gone", digest);
      expect(await client.manifest("demo/gone", "v1")).toBeUndefined();
    });
  });
}

describeWithServers("a registry that refuses", () => {
  it.each<[string, object]>([
    ["nobody's credentials", {}],
    ["a wrong password", { credentials: { username: "team", password: "wrong-secret" } }],
  ])("%s: the error has its code, and no secret", async (_, credentials) => {
    const server = await openRegistryServer({ user: USER });
    const client = registryClient({ host: server.host, plainHttp: true, clock: systemClock, ...credentials });
    try {
      const error = await client.manifest("demo/one", "v1").catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ status: 401, code: "UNAUTHORIZED" });
      expect(String(error)).not.toMatch(/wrong-secret|s:e:c/);
    } finally {
      await client.close();
      await server.close();
    }
  });
});
