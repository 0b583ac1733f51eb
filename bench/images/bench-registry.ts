import { randomBytes } from "node:crypto";
import { sourceKey, type WorkloadRef } from "../../src/apis/index.ts";
import { imageBuilder } from "../../src/build/images/index.ts";
import type { BuildRequest } from "../../src/build/index.ts";
import { makeLayer } from "../../src/build/layer/index.ts";
import { systemClock } from "../../src/controller/clock.ts";
import { digestOf, MEDIA_TYPES, type RegistryClient, registryClient } from "../../src/registry/index.ts";
import type { Runtime } from "../../src/runtimes/index.ts";
import { type ArchiveFile, packArchive, sourceDigest, storedFile } from "../../src/source/index.ts";
import type { ObjectStore } from "../../src/storage/index.ts";

const BASE_LAYERS = 5;
const BASE_LAYER_BYTES = 6 << 20;
const CODE_BYTES = 20_000;

/** What went over the wire, layers and configurations alone. */
export interface Moved {
  sent: number;
  fetched: number;
}

/** The client, counting. */
export function counted(client: RegistryClient, moved: Moved): RegistryClient {
  return {
    ...client,
    async putBlob(repository, blob) {
      moved.sent += blob.bytes.byteLength;
      await client.putBlob(repository, blob);
    },
    async blob(repository, digest) {
      const bytes = await client.blob(repository, digest);
      moved.fetched += bytes?.byteLength ?? 0;
      return bytes;
    },
    async mountBlob(blob) {
      const how = await client.mountBlob(blob);
      if (how === "copied") throw new Error(`${blob.digest} was copied: the registry does not mount`);
      return how;
    },
  };
}

export function openClient(host: string): RegistryClient {
  return registryClient({ host, plainHttp: true, clock: systemClock });
}

/** An image of 30 MB that cannot be compressed, as `base:1`. */
export async function pushBigBase(client: RegistryClient): Promise<void> {
  const layers = [];
  for (let index = 0; index < BASE_LAYERS; index += 1) {
    const layer = await makeLayer([{ path: `usr/lib/part-${index}`, content: randomBytes(BASE_LAYER_BYTES) }]);
    await client.putBlob("base", layer);
    layers.push(layer);
  }
  const config = json({
    architecture: "amd64",
    os: "linux",
    config: { Env: ["PATH=/usr/bin:/bin"] },
    rootfs: { type: "layers", diff_ids: layers.map(({ diffId }) => diffId) },
  });
  await client.putBlob("base", { digest: digestOf(config), bytes: config });
  const bytes = json({
    schemaVersion: 2,
    mediaType: MEDIA_TYPES.ociManifest,
    config: { mediaType: MEDIA_TYPES.ociConfig, digest: digestOf(config), size: config.byteLength },
    layers: layers.map((layer) => ({
      mediaType: MEDIA_TYPES.ociLayer,
      digest: layer.digest,
      size: layer.bytes.byteLength,
    })),
  });
  await client.putManifest("base", "1", { mediaType: MEDIA_TYPES.ociManifest, bytes });
}

function json(value: object): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}

/** Code of 20 kB that no other version has. */
export function codeOf(name: string, version: number): Uint8Array {
  let text = `"""${name}, version ${version}"""\n`;
  while (text.length < CODE_BYTES) text += `VALUE_${text.length} = "${randomBytes(12).toString("hex")}"  # its own\n`;
  return Buffer.from(text.slice(0, CODE_BYTES));
}

/** Stores a source of one handler, and says what to build of it. */
export async function storeVersion(
  objects: ObjectStore,
  runtime: Runtime,
  name: string,
  code: Uint8Array,
): Promise<BuildRequest> {
  const workload: WorkloadRef = { kind: "Function", namespace: "bench", name };
  const file: ArchiveFile = { path: "handler.py", mode: "100644", content: code };
  const digest = sourceDigest([storedFile(file)]);
  const key = sourceKey(workload, digest);
  await objects.put(key, await packArchive([file]));
  return { workload, runtime, entrypoint: "handler.handle", sourceDigest: digest, sourceKey: key };
}

export type BenchBuilder = ReturnType<typeof imageBuilder>;

export function openBuilder(registry: RegistryClient, objects: ObjectStore, folder: string): BenchBuilder {
  return imageBuilder({
    objects,
    registry,
    clientOf: openClient,
    clock: systemClock,
    folder,
    version: "bench",
  });
}

/** As a reconciler waits: asked again whenever there is news. @throws Error when a build fails */
export async function buildAll(builder: BenchBuilder, requests: readonly BuildRequest[]): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const open = new Map(requests.map((request) => [request.workload.name, request]));
  const ask = async (request: BuildRequest) => {
    const state = await builder.ensure(request);
    if (state.phase === "failed") throw new Error(state.message);
    if (state.phase === "built") open.delete(request.workload.name);
    if (open.size === 0) resolve();
  };
  const stop = builder.onChange(({ name }) => {
    const request = open.get(name);
    if (request) ask(request).catch(reject);
  });
  try {
    for (const request of requests) await ask(request);
    await promise;
  } finally {
    stop();
  }
}
