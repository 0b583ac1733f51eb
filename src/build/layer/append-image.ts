import {
  CONFIG_MAX_BYTES,
  digestOf,
  type ImageReference,
  type RegistryClient,
  RegistryError,
  remoteBlob,
  type StoredManifest,
} from "../../registry/index.ts";
import {
  type Descriptor,
  type ImageConfig,
  type ImageIndex,
  type ImageManifest,
  imageManifestOf,
  isIndex,
  layerTypeFor,
  parseJson,
} from "./image-manifest.ts";
import type { Layer, LayerFile } from "./layer.ts";

/** What the image says of itself on top of its base: what starts it and where. */
export interface ImageSettings {
  readonly entrypoint: readonly string[];
  readonly workingDir: string;
  readonly user: string;
  /** Above the base's own variables of the same name. */
  readonly env: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
}

/** A base image where it lies, by digest. */
export interface BaseImage extends Pick<ImageReference, "host" | "repository"> {
  readonly client: RegistryClient;
  readonly digest: string;
}

export interface ImageTarget {
  readonly client: RegistryClient;
  readonly repository: string;
  /** Written one after the other: an image with the last of them has them all. */
  readonly tags: readonly string[];
}

export interface AppendRequest {
  readonly base: BaseImage;
  readonly layers: readonly (Layer | LayerFile)[];
  readonly settings: ImageSettings;
  readonly target: ImageTarget;
}

/**
 * Puts layers on top of an image and pushes the result; nothing of the base moves where the registry can mount it. An
 * index gets the same layers on each of its platforms. The same request gives the same digest, whoever makes it.
 *
 * @returns digest of what was pushed
 * @throws RegistryError; code `BLOB_UNKNOWN` or `MANIFEST_UNKNOWN` when something of the base is gone
 */
export async function appendImage(request: AppendRequest): Promise<string> {
  const { base, target } = request;
  const stored = await base.client.manifest(base.repository, base.digest);
  if (!stored)
    throw new RegistryError(404, "MANIFEST_UNKNOWN", `${base.host}/${base.repository}@${base.digest} is gone`);
  if (!isIndex(stored)) {
    const image = await appendToManifest(stored, request);
    return putTags(target, image);
  }
  const index = parseJson<ImageIndex>(stored.bytes, `the index ${base.digest}`);
  const manifests: Descriptor[] = [];
  // One after the other: the layers of the platforms are the same and are sent once.
  for (const child of index.manifests.filter(isPlatform)) manifests.push(await appendToChild(child, request));
  const bytes = toJson({ schemaVersion: 2, mediaType: stored.mediaType, manifests });
  return putTags(target, { mediaType: stored.mediaType, bytes });
}

/** @returns digest of the manifest */
export async function putTags(
  { client, repository, tags }: ImageTarget,
  manifest: Omit<StoredManifest, "digest">,
): Promise<string> {
  for (const tag of tags) await client.putManifest(repository, tag, manifest);
  return digestOf(manifest.bytes);
}

/** Attestations and the like stand in an index as images of no platform. */
function isPlatform({ platform }: Descriptor): boolean {
  return platform?.os !== undefined && platform.os !== "unknown" && platform.architecture !== "unknown";
}

async function appendToChild(child: Descriptor, request: AppendRequest): Promise<Descriptor> {
  const { base, target } = request;
  const stored = await base.client.manifest(base.repository, child.digest);
  if (!stored) throw new RegistryError(404, "MANIFEST_UNKNOWN", `${base.repository}@${child.digest} is gone`);
  const image = await appendToManifest(stored, request);
  const digest = digestOf(image.bytes);
  await target.client.putManifest(target.repository, digest, image);
  const { platform } = child;
  return { mediaType: image.mediaType, digest, size: image.bytes.byteLength, ...(platform ? { platform } : {}) };
}

/** Brings blobs to the target and gives the manifest that names them. */
async function appendToManifest(
  stored: StoredManifest,
  { base, layers, settings, target }: AppendRequest,
): Promise<Omit<StoredManifest, "digest">> {
  const manifest = imageManifestOf(stored);
  const config = await readConfig(manifest.config, base);
  const configBytes = toJson(configured(config, layers, settings));
  const configDigest = digestOf(configBytes);
  await Promise.all([
    ...manifest.layers.map((layer) => bringBlob(layer, base, target)),
    ...layers.map((layer) => putLayer(layer, target)),
    target.client.putBlob(target.repository, { digest: configDigest, bytes: configBytes }),
  ]);
  const mediaType = layerTypeFor(stored.mediaType);
  const appended = layers.map((layer): Descriptor => ({ mediaType, digest: layer.digest, size: sizeOf(layer) }));
  const made: ImageManifest = {
    schemaVersion: 2,
    mediaType: stored.mediaType,
    config: { mediaType: manifest.config.mediaType, digest: configDigest, size: configBytes.byteLength },
    layers: [...manifest.layers, ...appended],
  };
  return { mediaType: stored.mediaType, bytes: toJson(made) };
}

async function putLayer(layer: Layer | LayerFile, { client, repository }: ImageTarget): Promise<void> {
  if ("bytes" in layer) await client.putBlob(repository, layer);
  else await client.putBlobFile(repository, layer, []);
}

function sizeOf(layer: Layer | LayerFile): number {
  return "bytes" in layer ? layer.bytes.byteLength : layer.size;
}

/** @throws RegistryError when it is gone, or none of an image */
export async function readConfig(
  { digest }: Descriptor,
  { client, repository }: Pick<BaseImage, "client" | "repository">,
): Promise<ImageConfig> {
  const bytes = await client.blob(repository, digest, CONFIG_MAX_BYTES);
  if (!bytes) throw new RegistryError(404, "BLOB_UNKNOWN", `the configuration ${repository}@${digest} is gone`);
  const config = parseJson<ImageConfig>(bytes, `the configuration ${digest}`);
  if (Array.isArray(config.rootfs?.diff_ids)) return config;
  throw new RegistryError(0, "MANIFEST_INVALID", `${repository}@${digest} is no configuration of an image`);
}

/** Makes a blob of the base part of the target; within one registry nothing moves. */
export async function bringBlob(
  { digest, size }: Pick<Descriptor, "digest" | "size">,
  base: Omit<BaseImage, "digest">,
  target: Pick<ImageTarget, "client" | "repository">,
): Promise<void> {
  if (base.host === target.client.host) {
    await target.client.mountBlob({ digest, size, from: base.repository, to: target.repository });
    return;
  }
  await target.client.putBlobFile(target.repository, remoteBlob(base, { digest, size }), []);
}

const CREATED = "1970-01-01T00:00:00Z";

function configured(base: ImageConfig, layers: AppendRequest["layers"], settings: ImageSettings): ImageConfig {
  const { Env = [], Labels, ...rest } = base.config ?? {};
  return {
    ...base,
    created: CREATED,
    config: {
      ...rest,
      Env: withVariables(Env, settings.env),
      Labels: { ...Labels, ...settings.labels },
      Entrypoint: settings.entrypoint,
      Cmd: [],
      WorkingDir: settings.workingDir,
      User: settings.user,
    },
    rootfs: { type: "layers", diff_ids: [...base.rootfs.diff_ids, ...layers.map(({ diffId }) => diffId)] },
    history: [...(base.history ?? []), ...layers.map(() => ({ created: CREATED, created_by: "sless" }))],
  };
}

function withVariables(env: readonly string[], variables: Readonly<Record<string, string>>): string[] {
  const others = env.filter((line) => !Object.hasOwn(variables, line.split("=", 1)[0] ?? ""));
  return [...others, ...Object.entries(variables).map(([name, value]) => `${name}=${value}`)];
}

function toJson(value: object): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}
