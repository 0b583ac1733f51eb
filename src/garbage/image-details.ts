import { CONFIG_MAX_BYTES, isRegistryError, MEDIA_TYPES, type RegistryClient } from "../registry/index.ts";
import type { ImageDetails } from "./thing.ts";

/** What images are made of, by digest; remembered, for it never changes. */
export interface DetailsReader {
  /** undefined when the image is not there, or is none of ours. @throws RegistryError */
  of(repository: string, digest: string): Promise<ImageDetails | undefined>;
}

const KEPT = 20_000;
const SOURCE_LABEL = "sless.kube5s.ru/source-digest";
const IMAGE_TYPES: readonly string[] = [MEDIA_TYPES.ociManifest, MEDIA_TYPES.dockerManifest];

export function detailsReader(registry: Pick<RegistryClient, "manifest" | "blob">): DetailsReader {
  const known = new Map<string, ImageDetails>();

  async function read(repository: string, digest: string): Promise<ImageDetails | undefined> {
    const manifest = await registry.manifest(repository, digest);
    if (!manifest || !IMAGE_TYPES.includes(manifest.mediaType)) return undefined;
    const { config, layers } = parse<Manifest>(manifest.bytes);
    if (!config?.digest || !Array.isArray(layers)) return undefined;
    const blob = await registry.blob(repository, config.digest, CONFIG_MAX_BYTES);
    if (!blob) return undefined;
    const { config: settings } = parse<{ config?: { Labels?: Record<string, string> | null } }>(blob);
    const sizes = [config.size, ...layers.map(({ size }) => size)].map((size) => size ?? 0);
    return {
      sourceDigest: settings?.Labels?.[SOURCE_LABEL],
      layers: layers.map((layer) => layer.digest ?? ""),
      bytes: sizes.reduce((sum, size) => sum + size, 0),
    };
  }

  return {
    async of(repository, digest) {
      const found = known.get(digest) ?? (await read(repository, digest));
      if (!found) return undefined;
      known.delete(digest);
      known.set(digest, found);
      for (const oldest of known.keys()) {
        if (known.size <= KEPT) break;
        known.delete(oldest);
      }
      return found;
    },
  };
}

interface Blob {
  readonly digest?: string;
  readonly size?: number;
}
interface Manifest {
  readonly config?: Blob;
  readonly layers?: readonly Blob[];
}

/** What is no JSON says nothing. */
function parse<T extends object>(bytes: Uint8Array): Partial<T> {
  try {
    const value = JSON.parse(Buffer.from(bytes).toString("utf8")) as unknown;
    return value !== null && typeof value === "object" ? value : {};
  } catch {
    return {};
  }
}

/** The registry does not let manifests be deleted. */
export function isDeletionRefused(error: unknown): boolean {
  return isRegistryError(error, 405) || (isRegistryError(error) && error.code === "UNSUPPORTED");
}
