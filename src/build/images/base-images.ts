import type { TimerClock } from "../../controller/clock.ts";
import { messageOf } from "../../errors/index.ts";
import {
  digestReference,
  type ImageReference,
  parseImageReference,
  type RegistryClient,
} from "../../registry/index.ts";
import type { Runtime } from "../../runtimes/index.ts";
import { BuildFault } from "../build-fault.ts";
import {
  type BaseImage,
  type Descriptor,
  type ImageIndex,
  imageManifestOf,
  isIndex,
  parseJson,
  readConfig,
} from "../layer/index.ts";
import type { BaseDigests, PinnedImage } from "../plan/index.ts";
import { toImageFault } from "../registry-faults.ts";
import { copyImage } from "./copy-image.ts";

/** Images that functions of a runtime stand on, in the registry of functions. */
export interface RuntimeBases {
  readonly base: BaseImage;
  /** What a compiled program runs on. */
  readonly run: BaseImage;
  readonly digests: BaseDigests;
}

export interface BaseImages {
  /**
   * From memory where they were looked for before. What is older is looked for again behind the back of who asks.
   *
   * @throws BuildFault `base_image_missing`, `registry_unavailable`, `registry_denied`
   */
  of(runtime: Runtime): Promise<RuntimeBases>;
  /** This digest, or something of them, is gone from the registry: looks for it, or for all of them, again. */
  forget(digest?: string): void;
  close(): void;
}

export interface BaseImagesOptions {
  /** Where images of functions are. */
  readonly registry: RegistryClient;
  /** Prefix of repositories there, `team/`. */
  readonly prefix: string;
  /** Of another host. */
  readonly clientOf: (host: string) => RegistryClient;
  /** Host that answers for docker.io. */
  readonly mirror: string | undefined;
  /** `linux/amd64` */
  readonly platform: string;
  /** See `ImageBuilderOptions`. */
  readonly runsBase: boolean;
  readonly clock: TimerClock;
  readonly refreshMs: number;
  /** A tag names another image now. */
  readonly changed: (image: string) => void;
}

interface Known {
  readonly image: BaseImage;
  /** What the tag named: an index or the image itself. */
  readonly tagged: string;
}

/** Looks tags of base images up, now and then again, and brings what lies in other registries into that of functions. */
export function openBaseImages(options: BaseImagesOptions): BaseImages {
  const { clock, refreshMs } = options;
  const known = new Map<string, Promise<Known>>();
  const timers = new Map<string, () => void>();
  let isClosed = false;

  function find(image: string, runtime: string): Promise<Known> {
    const found = known.get(image);
    if (found) return found;
    const finding = locate(image, runtime, undefined, options);
    known.set(image, finding);
    finding.then(
      () => refreshLater(image, runtime),
      () => known.get(image) === finding && known.delete(image),
    );
    return finding;
  }

  function refreshLater(image: string, runtime: string): void {
    timers.get(image)?.();
    if (!isClosed)
      timers.set(
        image,
        clock.setTimer(refreshMs, () => void refresh(image, runtime)),
      );
  }

  async function refresh(image: string, runtime: string): Promise<void> {
    const before = known.get(image);
    if (!before) return;
    // A registry that does not answer changes nothing: what was found serves on.
    const found = await locate(image, runtime, await before, options).catch(() => undefined);
    if (isClosed || known.get(image) !== before) return;
    if (found && found.tagged !== (await before).tagged) {
      known.set(image, Promise.resolve(found));
      options.changed(image);
    }
    refreshLater(image, runtime);
  }

  return {
    async of({ name, baseImage, runImage, build }) {
      const { image: base } = await find(baseImage, name);
      const separate = build && runImage !== undefined ? (await find(runImage, name)).image : undefined;
      return { base, run: separate ?? base, digests: { base: base.digest, run: separate?.digest } };
    },
    forget(digest) {
      if (digest === undefined) known.clear();
      for (const [name, finding] of known)
        finding.then(
          ({ image }) => image.digest === digest && known.get(name) === finding && known.delete(name),
          () => undefined,
        );
    },
    close() {
      isClosed = true;
      for (const stop of timers.values()) stop();
    },
  };
}

/** `host/repository@digest`, for `FROM`. */
export function pinned(image: BaseImage): PinnedImage {
  return digestReference(image, image.digest) as PinnedImage;
}

async function locate(
  image: string,
  runtime: string,
  before: Known | undefined,
  options: BaseImagesOptions,
): Promise<Known> {
  const missing = (cause: string) => new BuildFault("base_image_missing", { image, runtime, cause });
  const reference = referenceOf(image, missing);
  const host = reference.host === "docker.io" ? (options.mirror ?? reference.host) : reference.host;
  const client = host === options.registry.host ? options.registry : options.clientOf(host);
  try {
    const { repository } = reference;
    const tagged = reference.digest ?? (await client.manifestDigest(repository, reference.tag ?? "latest"));
    if (tagged === undefined) throw missing(`${host} does not have it`);
    if (before?.tagged === tagged) return before;
    const digest = await forPlatform({ client, host, repository, digest: tagged }, options.platform, missing);
    const found = { client, host, repository, digest };
    const check = async () => {
      if (digest === tagged && options.runsBase) await checkPlatform(found, options.platform, missing);
    };
    return { image: await bring(found, check, options), tagged };
  } catch (error) {
    throw toImageFault(error, host);
  }
}

function referenceOf(image: string, missing: (cause: string) => BuildFault): ImageReference {
  try {
    return parseImageReference(image);
  } catch (error) {
    throw missing(messageOf(error));
  }
}

/** An index has one image per platform; the nodes run one of them. */
async function forPlatform(
  { client, repository, digest }: BaseImage,
  platform: string,
  missing: (cause: string) => BuildFault,
): Promise<string> {
  const stored = await client.manifest(repository, digest);
  if (!stored) throw missing(`${client.host} does not have ${digest}`);
  if (!isIndex(stored)) return digest;
  const { manifests } = parseJson<ImageIndex>(stored.bytes, `the index ${digest}`);
  const child = manifests.find((one) => isFor(platformOf(one), platform));
  if (!child) throw missing(`it is made for ${manifests.map(platformOf).join(", ")}, not for ${platform}`);
  return child.digest;
}

function isFor(madeFor: string, platform: string): boolean {
  return madeFor === platform || madeFor.startsWith(`${platform}/`);
}

function platformOf({ platform }: Pick<Descriptor, "platform">): string {
  return [platform?.os, platform?.architecture, platform?.variant].filter(Boolean).join("/");
}

/** An image that stands in no index is made for one platform, too. */
async function checkPlatform(
  image: BaseImage,
  platform: string,
  missing: (cause: string) => BuildFault,
): Promise<void> {
  const stored = await image.client.manifest(image.repository, image.digest);
  if (!stored) throw missing(`${image.host} does not have ${image.digest}`);
  const madeFor = platformOf({ platform: await readConfig(imageManifestOf(stored).config, image) });
  if (madeFor.includes("/") && !isFor(madeFor, platform))
    throw missing(`it is made for ${madeFor}, not for ${platform}`);
}

/** Where the blobs of an image can be mounted from. A whole copy is made once per digest, of what `check` lets pass. */
async function bring(
  image: BaseImage,
  check: () => Promise<void>,
  { registry, prefix }: BaseImagesOptions,
): Promise<BaseImage> {
  if (image.host === registry.host) {
    await check();
    return image;
  }
  const repository = `${prefix}sless-base`;
  const copy = { client: registry, host: registry.host, repository, digest: image.digest };
  const tag = image.digest.replace("sha256:", "");
  if ((await registry.manifestDigest(repository, tag)) === image.digest) return copy;
  await check();
  await copyImage(image, { client: registry, repository, tags: [tag] });
  return copy;
}
