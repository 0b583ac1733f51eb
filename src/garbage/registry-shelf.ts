import { imageName, type WorkloadRef } from "../apis/index.ts";
import { SlessError } from "../errors/index.ts";
import { parseImageReference, type RegistryClient, type StoredManifest } from "../registry/index.ts";
import type { ObjectStore } from "../storage/index.ts";
import { eachOf } from "./chunks.ts";
import { type DetailsReader, detailsReader, isDeletionRefused } from "./image-details.ts";
import type { References } from "./references.ts";
import type { Shelf, Sort, Thing } from "./thing.ts";

export interface RegistryShelfOptions {
  /** A client of its own: what others remember of the registry is not what is in it. */
  readonly registry: RegistryClient;
  /** Before all names of repositories there, `team/`; may be empty. */
  readonly prefix: string;
  readonly objects: Pick<ObjectStore, "list" | "put" | "delete">;
  /** Names of the images of all workloads that there are now. */
  readonly imageNames: () => Promise<Iterable<string>>;
  /** Hears of images that went, by digest: what remembers them should forget. */
  readonly removed?: (digest: string) => void;
}

export interface RegistryShelf extends Shelf {
  /** Layers of the images that serve. @throws RegistryError */
  layersOf(references: References): Promise<ReadonlySet<string>>;
}

/** Repositories that every workload shares. */
const SHARED: Readonly<Record<string, Sort>> = {
  "sless-deps": "dependencies",
  "sless-builds": "build",
  "sless-base": "base",
};
/** A registry lists no repositories to everybody: those of workloads that may be gone are remembered. */
const REPOSITORIES = "garbage/repositories/";
const IDS = "images/";
const NEWEST_TAG = "source-";
const REQUESTS_AT_ONCE = 8;

/** Images of workloads, and what they stand on, in a registry. */
export function registryShelf(options: RegistryShelfOptions): RegistryShelf {
  const { registry, prefix, objects } = options;
  const details = detailsReader(registry);
  const removed = new Map<string, { manifest: StoredManifest; tags: readonly string[] }>();
  const tagsOf = new Map<string, readonly string[]>();

  return {
    name: `the registry ${registry.host}`,
    ids: [IDS],
    async *things() {
      tagsOf.clear();
      removed.clear();
      const names = await repositoryNames(options);
      for (const name of [...names, ...Object.keys(SHARED)]) {
        const images = await imagesIn(prefix + name, registry);
        for (const [digest, tags] of images) {
          const id = `${IDS}${prefix}${name}/${digest.replace(":", "-")}`;
          tagsOf.set(id, tags);
          yield thingOf(id, { name, prefix, digest, tags });
        }
      }
    },
    async describe(thing) {
      const { repository, digest } = thing.image!;
      const found = await details.of(prefix + repository, digest);
      return { ...thing, bytes: found?.bytes, image: { ...thing.image!, details: found } };
    },
    async remove(thing) {
      const { repository, digest } = thing.image!;
      const manifest = await registry.manifest(prefix + repository, digest);
      if (!manifest) return true;
      removed.set(thing.id, { manifest, tags: tagsOf.get(thing.id) ?? [] });
      await deleteManifest(registry, prefix + repository, digest);
      options.removed?.(digest);
      return true;
    },
    async putBack(thing) {
      const { manifest, tags } = removed.get(thing.id) ?? { manifest: undefined, tags: [] };
      if (!manifest) return;
      for (const tag of tags) await registry.putManifest(prefix + thing.image!.repository, tag, manifest);
    },
    async tidy() {
      removed.clear();
      await forgetRepositories(new Set([...tagsOf.keys()].map(repositoryOfId)), options);
    },
    layersOf: (references) => layersOf(references, details),
  };

  async function forgetRepositories(used: ReadonlySet<string>, { imageNames }: RegistryShelfOptions): Promise<void> {
    const present = new Set(await imageNames());
    for await (const key of objects.list(REPOSITORIES)) {
      const name = key.slice(REPOSITORIES.length);
      if (!used.has(prefix + name) && !present.has(name)) await objects.delete(key);
    }
  }
}

/** `<prefix><name>` of an id. */
function repositoryOfId(id: string): string {
  return id.slice(IDS.length, id.lastIndexOf("/"));
}

interface Placed {
  readonly name: string;
  readonly prefix: string;
  readonly digest: string;
  readonly tags: readonly string[];
}

function thingOf(id: string, { name, prefix, digest, tags }: Placed): Thing {
  const isNewest = tags.some((tag) => tag.startsWith(NEWEST_TAG));
  return {
    id,
    sort: SHARED[name] ?? "image",
    name: `${prefix}${name}:${tags[0] ?? ""}@${digest.slice(0, 19)}`,
    bytes: undefined,
    usedAt: undefined,
    image: { repository: name, digest, isNewest, details: undefined },
  };
}

/** Of workloads that are there, that have archives, and that had images when it was last looked. */
async function repositoryNames({ objects, imageNames }: RegistryShelfOptions): Promise<string[]> {
  const names = new Set(await imageNames());
  for (const folder of ["functions/", "jobs/"])
    for await (const key of objects.list(folder)) {
      const [, namespace = "", name = ""] = key.split("/");
      const kind = folder === "jobs/" ? "FunctionJob" : "Function";
      names.add(imageName({ kind, namespace, name } satisfies WorkloadRef));
    }
  const known = new Set<string>();
  for await (const key of objects.list(REPOSITORIES)) known.add(key.slice(REPOSITORIES.length));
  const fresh = [...names].filter((name) => !known.has(name));
  await eachOf(fresh, REQUESTS_AT_ONCE, (name) => objects.put(`${REPOSITORIES}${name}`, new Uint8Array()));
  return [...new Set([...names, ...known])].sort();
}

/** Tags of a repository by the digest that they name. */
async function imagesIn(repository: string, registry: RegistryClient): Promise<Map<string, string[]>> {
  const images = new Map<string, string[]>();
  await eachOf(await registry.tags(repository), REQUESTS_AT_ONCE, async (tag) => {
    const digest = await registry.manifestDigest(repository, tag);
    if (digest !== undefined) images.set(digest, [...(images.get(digest) ?? []), tag]);
  });
  return images;
}

async function deleteManifest(registry: RegistryClient, repository: string, digest: string): Promise<void> {
  try {
    await registry.deleteManifest(repository, digest);
  } catch (error) {
    if (!isDeletionRefused(error)) throw error;
    throw new SlessError("deletion_refused", { host: registry.host }, { cause: error });
  }
}

/** An image that serves and is not there any more says nothing; a registry that does not answer ends the run. */
async function layersOf({ serving }: References, details: DetailsReader): Promise<ReadonlySet<string>> {
  const layers = new Set<string>();
  await eachOf([...new Set(serving)], REQUESTS_AT_ONCE, async (imageRef) => {
    const { repository, digest } = parseImageReference(imageRef);
    if (digest === undefined) return;
    for (const layer of (await details.of(repository, digest))?.layers ?? []) layers.add(layer);
  });
  return layers;
}
