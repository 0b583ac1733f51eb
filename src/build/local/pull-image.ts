import {
  CONFIG_MAX_BYTES,
  isDigest,
  parseImageReference,
  type RegistryClient,
  RegistryError,
} from "../../registry/index.ts";
import type { Runtime } from "../../runtimes/index.ts";
import { type Descriptor, type ImageConfig, type ImageManifest, parseJson } from "../layer/index.ts";
import { IMAGE_PATHS } from "../plan/index.ts";
import { IMAGE, type ImageRecord, INTERPRETER } from "./image-folders.ts";
import type { PulledLayers } from "./pulled-layers.ts";
import { stackLayers, type UnpackedLayer } from "./stack-layers.ts";
import { unpackBudget } from "./unpack-layer.ts";

export interface PullDeps {
  readonly registry: RegistryClient;
  /** Where copies of base images of other registries are. */
  readonly copies: string;
}

const BASE_NAME = "org.opencontainers.image.base.name";
const BASE_DIGEST = "org.opencontainers.image.base.digest";

/**
 * Unpacks what an image has below `/sless` into a folder. The layers of its base image stay where they are: what is in them
 * this machine has itself.
 *
 * @returns how the image is started here
 * @throws RegistryError, code `MANIFEST_UNKNOWN` or `BLOB_UNKNOWN` when it is not there; SlessError `archive_invalid`; the
 *   signal's reason
 */
export async function pullImage(
  imageRef: string,
  runtime: Runtime,
  to: { readonly folder: string; readonly layers: PulledLayers },
  { registry, copies }: PullDeps,
  signal: AbortSignal,
): Promise<Omit<ImageRecord, "builtAt" | "durationMs">> {
  const { repository, digest = "" } = parseImageReference(imageRef);
  const manifest = await manifestOf(registry, repository, digest);
  if (!manifest) throw new RegistryError(404, "MANIFEST_UNKNOWN", `${imageRef} is not there`);
  const bytes = await registry.blob(repository, manifest.config.digest, CONFIG_MAX_BYTES);
  if (!bytes) throw gone(repository, manifest.config);
  const { config = {} } = parseJson<ImageConfig>(bytes, `the configuration of ${imageRef}`);
  const below = await baseLayers(config.Labels ?? {}, { registry, copies });
  const budget = unpackBudget();
  const own = manifest.layers.filter((one) => !below.has(one.digest));
  const unpacked: UnpackedLayer[] = [];
  for (const layer of own) {
    signal.throwIfAborted();
    const fetch = async () => {
      const pieces = await registry.blobPieces(repository, layer.digest);
      if (!pieces) throw gone(repository, layer);
      return { mediaType: layer.mediaType, pieces };
    };
    unpacked.push(await to.layers.provide(keyOf(layer), fetch, budget));
  }
  await stackLayers(unpacked, to.folder);
  return { ...startOf(config, runtime), layers: own.map(keyOf) };
}

/** What is no digest names no folder. */
function keyOf({ digest }: Descriptor): string {
  if (!isDigest(digest)) throw new RegistryError(0, "MANIFEST_INVALID", "a layer of the image has no sha256 digest");
  return digest.slice("sha256:".length);
}

async function manifestOf(
  registry: RegistryClient,
  repository: string,
  digest: string,
): Promise<ImageManifest | undefined> {
  const stored = await registry.manifest(repository, digest);
  return stored && parseJson<ImageManifest>(stored.bytes, `the manifest ${digest}`);
}

function gone(repository: string, { digest }: Descriptor): RegistryError {
  return new RegistryError(404, "BLOB_UNKNOWN", `${repository}@${digest} is gone`);
}

/** Digests of the layers of the base image, where it is found; else all of the image is looked through. */
async function baseLayers(
  { [BASE_NAME]: name, [BASE_DIGEST]: digest }: Readonly<Record<string, string>>,
  { registry, copies }: PullDeps,
): Promise<ReadonlySet<string>> {
  if (name === undefined || digest === undefined) return new Set();
  for (const repository of [copies, parseImageReference(name).repository]) {
    const base = await manifestOf(registry, repository, digest);
    if (base?.layers) return new Set(base.layers.map((layer) => layer.digest));
  }
  return new Set();
}

/** The image's own command and variables, with this machine's interpreter and folder for those of a container. */
function startOf(
  { Entrypoint, Env = [] }: NonNullable<ImageConfig["config"]>,
  { name, interpreter, start }: Runtime,
): Pick<ImageRecord, "runtime" | "command" | "env"> {
  const [program = ""] = interpreter.commands;
  const variables = new Map(Env.map((line) => line.split(/=(.*)/s) as [string, string]));
  const env = Object.keys(start.env).flatMap((variable) => {
    const value = variables.get(variable);
    return value === undefined ? [] : [[variable, here(value)] as const];
  });
  const command = (Entrypoint ?? []).map((part) => (part === program ? INTERPRETER : here(part)));
  return { runtime: name, command, env: Object.fromEntries(env) };
}

const ROOT = IMAGE_PATHS.out.slice(0, IMAGE_PATHS.out.lastIndexOf("/"));
const BELOW_ROOT = new RegExp(`(?<![\\w.-])${ROOT}(?=/|$)`, "g");

/** Paths of the image as paths of its folder. */
function here(text: string): string {
  return text.replaceAll(BELOW_ROOT, `${IMAGE}${ROOT}`);
}
