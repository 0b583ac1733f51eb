import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { appendImage, type Layer, makeLayer } from "../../../src/build/layer/index.ts";
import { systemClock } from "../../../src/controller/index.ts";
import { digestOf, MEDIA_TYPES, type RegistryClient, registryClient } from "../../../src/registry/index.ts";
import { describeWithServers } from "../../support/kubernetes/index.ts";
import {
  type OpenedRegistry,
  openRegistryKind,
  REGISTRY_KINDS,
  type RegistryKind,
} from "../../support/registry-kinds.ts";
import { openRegistryServer } from "../../support/registry-server.ts";

const json = (value: object) => new TextEncoder().encode(JSON.stringify(value));
const text = (content: string) => new TextEncoder().encode(content);
const SETTINGS = {
  entrypoint: ["python3", "/sless/runtime/server.py"],
  workingDir: "/sless/image/source",
  user: "65532",
  env: { PYTHONUTF8: "1", LANG: "C.UTF-8" },
  labels: { "sless.kube5s.ru/runtime": "python3.11" },
};
type Types = "oci" | "docker";

for (const [name, kind] of REGISTRY_KINDS)
  describeWithServers(`an image made by appending a layer, in ${name}`, () => appending(kind));

function appending(kind: RegistryKind): void {
  let server: OpenedRegistry;
  let client: RegistryClient;
  let code: Layer;
  beforeAll(async () => {
    server = await openRegistryKind(kind);
    client = server.client;
    code = await makeLayer([{ path: "sless/image/source/handler.py", content: text("print(1)") }]);
  });
  afterAll(() => server?.close());

  async function pushManifest(repository: string, types: Types, architecture = "amd64") {
    const layer = await makeLayer([{ path: `usr/bin/python3-${architecture}`, content: text("base") }]);
    const config = json({
      architecture,
      os: "linux",
      config: { Env: ["PATH=/usr/bin", "LANG=C"], Cmd: ["bash"], ExposedPorts: { "80/tcp": {} } },
      rootfs: { type: "layers", diff_ids: [layer.diffId] },
      history: [{ created_by: "base" }],
    });
    await client.putBlob(repository, layer);
    await client.putBlob(repository, { digest: digestOf(config), bytes: config });
    const mediaType = types === "oci" ? MEDIA_TYPES.ociManifest : MEDIA_TYPES.dockerManifest;
    const bytes = json({
      schemaVersion: 2,
      mediaType,
      config: {
        mediaType: types === "oci" ? MEDIA_TYPES.ociConfig : MEDIA_TYPES.dockerConfig,
        digest: digestOf(config),
        size: config.byteLength,
      },
      layers: [
        {
          mediaType: types === "oci" ? MEDIA_TYPES.ociLayer : MEDIA_TYPES.dockerLayer,
          digest: layer.digest,
          size: layer.bytes.byteLength,
        },
      ],
    });
    const digest = await client.putManifest(repository, digestOf(bytes), { mediaType, bytes });
    return { digest, mediaType, size: bytes.byteLength, layer };
  }
  const append = (repository: string, digest: string, target = "team/sless-demo_hello") =>
    appendImage({
      base: { client, host: server.host, repository, digest },
      layers: [code],
      settings: SETTINGS,
      target: { client, repository: target, tags: ["v1"] },
    });
  async function imageAt(repository: string, reference: string) {
    const stored = (await client.manifest(repository, reference))!;
    const manifest = JSON.parse(Buffer.from(stored.bytes).toString());
    const config =
      manifest.config && JSON.parse(Buffer.from((await client.blob(repository, manifest.config.digest))!).toString());
    return { stored, manifest, config };
  }

  describe.each<Types>(["oci", "docker"])("on a base of %s types", (types) => {
    it("has the base's layers, then its own, and starts what it was told", async () => {
      const base = await pushManifest(`team/base-${types}`, types);
      const digest = await append(`team/base-${types}`, base.digest);
      const { stored, manifest, config } = await imageAt("team/sless-demo_hello", digest);
      expect(stored.mediaType).toBe(base.mediaType);
      expect(manifest.layers.map((layer: { digest: string }) => layer.digest)).toEqual([
        base.layer.digest,
        code.digest,
      ]);
      const layerTypes = new Set(manifest.layers.map((layer: { mediaType: string }) => layer.mediaType));
      expect(layerTypes.size).toBe(1);
      expect(config.rootfs.diff_ids).toEqual([base.layer.diffId, code.diffId]);
      expect(config.history).toHaveLength(2);
      expect(config.config).toMatchObject({
        Entrypoint: SETTINGS.entrypoint,
        Cmd: [],
        User: "65532",
        WorkingDir: "/sless/image/source",
        Env: ["PATH=/usr/bin", "PYTHONUTF8=1", "LANG=C.UTF-8"],
        ExposedPorts: { "80/tcp": {} },
        Labels: SETTINGS.labels,
      });
    });

    it("is the same image when it is made again", async () => {
      const base = await pushManifest(`team/base-${types}`, types);
      expect(await append(`team/base-${types}`, base.digest)).toBe(
        await append(`team/base-${types}`, base.digest, "team/sless-demo_other"),
      );
    });
  });

  it("of several platforms has the layer on each of them, and no attestations", async () => {
    const children = [];
    for (const architecture of ["amd64", "arm64"]) {
      const { digest, mediaType, size } = await pushManifest("team/base-many", "oci", architecture);
      children.push({ mediaType, digest, size, platform: { os: "linux", architecture } });
    }
    const attestation = { ...children[0], platform: { os: "unknown", architecture: "unknown" } };
    const bytes = json({ schemaVersion: 2, mediaType: MEDIA_TYPES.ociIndex, manifests: [...children, attestation] });
    const base = await client.putManifest("team/base-many", "v1", { mediaType: MEDIA_TYPES.ociIndex, bytes });
    const { manifest } = await imageAt(
      "team/sless-demo_many",
      await append("team/base-many", base, "team/sless-demo_many"),
    );
    expect(manifest.manifests.map((child: { platform: object }) => child.platform)).toEqual([
      { os: "linux", architecture: "amd64" },
      { os: "linux", architecture: "arm64" },
    ]);
    for (const child of manifest.manifests) {
      const image = await imageAt("team/sless-demo_many", child.digest);
      expect(image.config.architecture).toBe(child.platform.architecture);
      expect(image.config.rootfs.diff_ids.at(-1)).toBe(code.diffId);
    }
  });

  it("moves from one registry to another with all that it stands on", async () => {
    const elsewhere = await openRegistryServer();
    const target = registryClient({ host: elsewhere.host, plainHttp: true, clock: systemClock });
    try {
      const base = await pushManifest("team/base-far", "oci");
      const digest = await appendImage({
        base: { client, host: server.host, repository: "team/base-far", digest: base.digest },
        layers: [code],
        settings: SETTINGS,
        target: { client: target, repository: "team/sless-demo_far", tags: ["v1"] },
      });
      expect(await target.manifestDigest("team/sless-demo_far", "v1")).toBe(digest);
      expect(await target.hasBlob("team/sless-demo_far", base.layer.digest)).toBe(true);
    } finally {
      await target.close();
      await elsewhere.close();
    }
  });

  it("whose base is gone is refused, and leaves no tag", async () => {
    const gone = append("team/base-none", digestOf(text("nobody pushed it")), "team/sless-demo_gone");
    await expect(gone).rejects.toMatchObject({
      code: "MANIFEST_UNKNOWN",
      message: expect.stringContaining("team/base-none"),
    });
    expect(await client.manifest("team/sless-demo_gone", "v1")).toBeUndefined();
  });
}
