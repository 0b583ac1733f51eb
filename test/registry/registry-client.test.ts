import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../src/controller/index.ts";
import { digestOf, MEDIA_TYPES, type RegistryClient, registryClient } from "../../src/registry/index.ts";
import { describeWithServers } from "../support/kubernetes/index.ts";
import { type OpenedRegistry, openRegistryKind, REGISTRY_KINDS, TEAM } from "../support/registry-kinds.ts";

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

for (const [name, kind] of REGISTRY_KINDS) {
  describeWithServers(name, () => {
    let registry: OpenedRegistry;
    let client: RegistryClient;
    beforeAll(async () => {
      registry = await openRegistryKind(kind);
      client = registry.client;
    }, START_WITHIN_MS);
    afterAll(() => registry?.close());

    it("gives back an image by tag and by digest", async () => {
      const digest = await pushImage(client, "team/one", "v1");
      expect(await client.manifestDigest("team/one", "v1")).toBe(digest);
      const manifest = await client.manifest("team/one", "v1");
      expect(manifest).toMatchObject({ digest, mediaType: MEDIA_TYPES.ociManifest });
      expect(await client.manifest("team/one", digest)).toEqual(manifest);
      const layer = blobOf("layer of team/one");
      expect(Buffer.from((await client.blob("team/one", layer.digest))!).toString()).toBe("layer of team/one");
      expect(await client.tags("team/one")).toEqual(["v1"]);
    });

    it("knows nothing of what was not pushed", async () => {
      expect(await client.manifest("team/none", "v1")).toBeUndefined();
      expect(await client.manifestDigest("team/none", "v1")).toBeUndefined();
      expect(await client.blob("team/none", blobOf("x").digest)).toBeUndefined();
      expect(await client.hasBlob("team/none", blobOf("x").digest)).toBe(false);
      expect(await client.tags("team/none")).toEqual([]);
    });

    it("mounts a blob of another repository without moving it", async () => {
      const layer = blobOf(`mounted ${name}`);
      await client.putBlob("team/from", layer);
      expect(
        await client.mountBlob({
          digest: layer.digest,
          size: layer.bytes.byteLength,
          from: "team/from",
          to: "team/to",
        }),
      ).toBe("mounted");
      expect(await client.hasBlob("team/to", layer.digest)).toBe(true);
    });

    it("an image whose layer is not there is refused with the registry's own words", async () => {
      const config = blobOf("{}");
      await client.putBlob("team/broken", config);
      const manifest = {
        schemaVersion: 2,
        config: { mediaType: MEDIA_TYPES.ociConfig, digest: config.digest, size: 2 },
        layers: [{ mediaType: MEDIA_TYPES.ociLayer, digest: blobOf("nobody has it").digest, size: 13 }],
      };
      const pushed = client.putManifest("team/broken", "v1", {
        mediaType: MEDIA_TYPES.ociManifest,
        bytes: bytes(JSON.stringify(manifest)),
      });
      await expect(pushed).rejects.toMatchObject({ status: 400, code: "MANIFEST_BLOB_UNKNOWN" });
      expect(await client.manifest("team/broken", "v1")).toBeUndefined();
    });

    it("forgets an image that is deleted, also when it is deleted twice", async () => {
      const digest = await pushImage(client, "team/gone", "v1");
      await client.deleteManifest("team/gone", digest);
      await client.deleteManifest("team/gone", digest);
      expect(await client.manifest("team/gone", "v1")).toBeUndefined();
    });
  });
}

describeWithServers("a registry that refuses", () => {
  const locked = REGISTRY_KINDS.filter(([, { login }]) => login !== "none");
  const strangers: [string, { readonly credentials?: typeof TEAM }][] = [
    ["nobody's credentials", {}],
    ["a wrong password", { credentials: { ...TEAM, password: "wrong-secret" } }],
  ];
  describe.each(locked)("%s", (_, kind) => {
    let registry: OpenedRegistry;
    beforeAll(async () => {
      registry = await openRegistryKind(kind);
    }, START_WITHIN_MS);
    afterAll(() => registry?.close());

    it.each(strangers)("%s: the error has its code, and no secret", async (_, credentials) => {
      const client = registryClient({ host: registry.host, plainHttp: true, clock: systemClock, ...credentials });
      const told: unknown[] = [];
      for (const attempt of [
        () => client.manifest("team/one", "v1"),
        () => client.putBlob("team/one", blobOf("a blob")),
        () => client.mountBlob({ digest: blobOf("a").digest, size: 1, from: "team/one", to: "team/two" }),
      ])
        told.push(await attempt().catch((thrown: unknown) => thrown));
      expect(told).toMatchObject([{ status: 401, code: "UNAUTHORIZED" }, { status: 401 }, { status: 401 }]);
      expect(told.join()).not.toMatch(/wrong-secret|s:e:c/);
      await client.close();
    });
  });
});
