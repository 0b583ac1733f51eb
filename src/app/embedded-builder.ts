import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { imageBuilder } from "../build/images/index.ts";
import type { Builder } from "../build/index.ts";
import {
  type LocalBuilder,
  localBuilder,
  openInterpreters,
  type PulledImages,
  processJobs,
  pulledImages,
  pullingBuilder,
} from "../build/local/index.ts";
import type { LocalRegistrySettings, Settings } from "../config/index.ts";
import { systemClock } from "../controller/index.ts";
import { messageOf, SlessError } from "../errors/index.ts";
import type { GarbageOptions } from "../garbage/index.ts";
import type { LocalImage, ProcessSupervisor } from "../processes/index.ts";
import { credentialsIn, isRegistryError, type RegistryClient } from "../registry/index.ts";
import type { Runtime } from "../runtimes/index.ts";
import type { ObjectStore } from "../storage/index.ts";
import type { Closers } from "./closers.ts";
import { registryClients } from "./registry-clients.ts";

export interface EmbeddedBuilderOptions {
  readonly data: string;
  readonly settings: Pick<Settings, "path" | "buildEnvironment">;
  /** Undefined: images are folders of this machine alone. */
  readonly registry: LocalRegistrySettings | undefined;
  /** Names this data folder among all that use the registry. */
  readonly installation: string;
  readonly objects: ObjectStore;
  readonly processes: ProcessSupervisor;
  readonly runtimes: ReadonlyMap<string, Runtime>;
  /** Folders whose programs are not taken. */
  readonly excluded: readonly string[];
  readonly version: string;
  readonly notice: (message: string) => void;
}

export interface EmbeddedBuilder {
  readonly builder: Builder;
  /** What an image starts with here, also one that an earlier start made elsewhere. */
  readonly resolveImage: (imageRef: string) => Promise<LocalImage | undefined>;
  /** What such an image lost, as it is now. */
  readonly imageDamage: (imageRef: string) => Promise<string | undefined>;
  readonly garbage: Required<Pick<GarbageOptions, "localImages">> & Pick<GarbageOptions, "registry">;
}

/**
 * Makes images as folders of this machine; with a registry it makes them there, and unpacks them here. What the other way
 * has made before runs on until its successor is ready, and is collected like everything else.
 *
 * @throws SlessError `registry_denied`, `settings_invalid`
 */
export async function openEmbeddedBuilder(options: EmbeddedBuilderOptions, closers: Closers): Promise<EmbeddedBuilder> {
  const { data, settings, processes, runtimes, excluded, notice } = options;
  const folder = join(data, "builds");
  const machine = { folder, path: settings.path, excluded, passThrough: settings.buildEnvironment };
  const interpreters = openInterpreters(machine, notice);
  const local = closers.add(localBuilder({ ...options, ...machine, processes, clock: systemClock }));
  const pulled = pulledImages({ folder: join(folder, "pulled"), runtimes, interpreters, clock: systemClock });
  const resolveImage = (imageRef: string) =>
    isLocal(imageRef) ? local.resolveImage(imageRef) : pulled.resolveImage(imageRef);
  const imageDamage = (imageRef: string) =>
    isLocal(imageRef) ? local.imageDamage(imageRef) : pulled.damageNow(imageRef);
  if (!options.registry) {
    return {
      builder: local,
      resolveImage,
      imageDamage,
      garbage: { localImages: bothImages(local, pulled, () => false) },
    };
  }
  // Jobs work there. The builder of local images would clear it when it first builds.
  await rm(join(folder, "tmp"), { recursive: true, force: true });
  await mkdir(join(folder, "tmp"), { recursive: true });
  const { isPlainHttp, ...place } = options.registry;
  const ofHost = (host: string) => credentialsOf(place, host);
  const clients = registryClients({ clock: systemClock, isPlainHttp, credentialsOf: ofHost }, closers);
  const prefix = `${place.prefix}sless-dev-${options.installation}/`;
  const registry = clients(place.host);
  await ofHost(registry.host)();
  await checkRegistry(registry, `${prefix}sless-base`, notice);
  const jobs = closers.add(processJobs({ ...machine, processes, registry, interpreters, clock: systemClock }));
  const images = closers.add(
    imageBuilder({
      ...{ objects: options.objects, registry, prefix, clientOf: clients, mirror: place.mirror, jobs },
      clock: systemClock,
      folder: join(folder, "registry"),
      version: options.version,
      runsBase: false,
      notice,
    }),
  );
  const from = { registry, copies: `${prefix}sless-base` };
  const builder = closers.add(pullingBuilder({ images, pulled, from, interpreters, clock: systemClock, notice }));
  const has = (imageRef: string) => (isLocal(imageRef) ? local.has(imageRef) : builder.has(imageRef));
  return {
    builder: { ...builder, has },
    resolveImage,
    imageDamage,
    garbage: {
      localImages: bothImages(local, pulled, builder.isWanted),
      registry: { registry, prefix, removed: images.forget },
    },
  };
}

function isLocal(imageRef: string): boolean {
  return imageRef.startsWith("local/");
}

type LocalImages = NonNullable<GarbageOptions["localImages"]>;

/** Those that were built here, and those that were pulled. */
function bothImages(local: LocalBuilder, pulled: PulledImages, isWanted: (key: string) => boolean): LocalImages {
  return {
    async *images() {
      yield* local.images();
      yield* pulled.images();
    },
    bytesOf: async (key) => (await local.bytesOf(key)) + (await pulled.bytesOf(key)),
    removeImage: async (key) => (await pulled.removeImage(key, isWanted)) && local.removeImage(key),
    async removeLeftovers() {
      await local.removeLeftovers();
      await pulled.removeLeftovers();
    },
  };
}

/** What the docker config says of a host alone; that is read anew when it is needed. */
function credentialsOf({ dockerConfig }: Pick<LocalRegistrySettings, "dockerConfig">, host: string) {
  return async () => {
    if (dockerConfig === undefined) return undefined;
    const text = await readDockerConfig(dockerConfig);
    try {
      return credentialsIn(text, host);
    } catch (error) {
      // What is said of it elsewhere is of a Secret, or of a request.
      const cause = `the registry's docker config ${dockerConfig} is no JSON with "auths", as docker login writes it`;
      throw new SlessError("settings_invalid", { cause }, { cause: error });
    }
  };
}

async function readDockerConfig(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    const cause = `the registry's docker config cannot be read: ${messageOf(error)}`;
    throw new SlessError("settings_invalid", { cause }, { cause: error });
  }
}

/**
 * Asks for something that need not be there: whoever may not even ask could push nothing. A registry that does not answer
 * may yet do so, and what was unpacked runs without it.
 */
async function checkRegistry(
  registry: RegistryClient,
  repository: string,
  notice: (message: string) => void,
): Promise<void> {
  try {
    await registry.tags(repository);
  } catch (error) {
    if (!isRegistryError(error)) throw error;
    const details = { host: registry.host, cause: error.message };
    if (isRegistryError(error, 401, 403)) throw new SlessError("registry_denied", details, { cause: error });
    notice(new SlessError("registry_unavailable", details).message);
  }
}
