import { MEDIA_TYPES, RegistryError, type StoredManifest } from "../../registry/index.ts";

/** Something of a registry by its content (OCI image specification, "descriptor"). */
export interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
  readonly platform?: { readonly os?: string; readonly architecture?: string; readonly variant?: string };
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface ImageManifest {
  readonly schemaVersion: 2;
  readonly mediaType?: string;
  readonly config: Descriptor;
  readonly layers: readonly Descriptor[];
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface ImageIndex {
  readonly schemaVersion: 2;
  readonly mediaType?: string;
  readonly manifests: readonly Descriptor[];
  readonly annotations?: Readonly<Record<string, string>>;
}

/** The parts of an image's configuration that sless reads or writes; all others go on as they are. */
export interface ImageConfig {
  readonly created?: string;
  readonly os?: string;
  readonly architecture?: string;
  readonly config?: {
    readonly Env?: readonly string[];
    readonly Entrypoint?: readonly string[] | null;
    readonly Cmd?: readonly string[] | null;
    readonly WorkingDir?: string;
    readonly User?: string;
    readonly Labels?: Readonly<Record<string, string>> | null;
  };
  readonly rootfs: { readonly type: "layers"; readonly diff_ids: readonly string[] };
  readonly history?: readonly object[];
}

const INDEX_TYPES: readonly string[] = [MEDIA_TYPES.ociIndex, MEDIA_TYPES.dockerIndex];

export function isIndex({ mediaType }: Pick<StoredManifest, "mediaType">): boolean {
  return INDEX_TYPES.includes(mediaType);
}

/** @throws RegistryError when the bytes are no JSON object */
export function parseJson<T>(bytes: Uint8Array, what: string): T {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString("utf8"));
    if (value !== null && typeof value === "object" && !Array.isArray(value)) return value as T;
  } catch {
    // Told below.
  }
  throw new RegistryError(0, "MANIFEST_INVALID", `${what} is no JSON object`);
}

/**
 * The manifest of one image.
 *
 * @throws RegistryError when it is something else, such as an image of Docker's oldest kind
 */
export function imageManifestOf({ bytes, mediaType, digest }: StoredManifest): ImageManifest {
  const manifest = parseJson<ImageManifest>(bytes, `the manifest ${digest}`);
  if (Array.isArray(manifest.layers) && typeof manifest.config?.digest === "string") return manifest;
  throw new RegistryError(
    0,
    "MANIFEST_INVALID",
    `${digest} is no image with layers (${mediaType || "without a type"})`,
  );
}

/** The type of a layer that fits a manifest: Docker and OCI types never stand in one image. */
export function layerTypeFor(manifestType: string): string {
  return manifestType === MEDIA_TYPES.dockerManifest ? MEDIA_TYPES.dockerLayer : MEDIA_TYPES.ociLayer;
}
