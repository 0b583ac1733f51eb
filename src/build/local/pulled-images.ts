import { randomUUID } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../controller/clock.ts";
import type { LocalImage } from "../../processes/index.ts";
import type { Runtime } from "../../runtimes/index.ts";
import { openCommandSlots } from "../command-slots.ts";
import { IMAGE_PATHS } from "../plan/index.ts";
import { folderChecks } from "./folder-checks.ts";
import { IMAGE, type ImageRecord, INTERPRETER, imageFolders } from "./image-folders.ts";
import type { Interpreters } from "./interpreters.ts";
import { type PullDeps, pullImage } from "./pull-image.ts";
import { pulledLayers } from "./pulled-layers.ts";
import { bytesBelow, removeImage } from "./remove-image.ts";

/** Each unpacks a layer. */
const PULLS_AT_ONCE = 4;

export interface PulledImagesOptions {
  /** Used by one process at a time. */
  readonly folder: string;
  readonly runtimes: ReadonlyMap<string, Runtime>;
  readonly interpreters: Interpreters;
  readonly clock: Clock;
}

/** Images of a registry, unpacked on this machine: what was pulled runs without the registry. */
export interface PulledImages {
  /** And it is whole. */
  has(imageRef: string): Promise<boolean>;
  /** What is missing of an image that is there; the next `pull` unpacks it again. */
  damage(imageRef: string): Promise<string | undefined>;
  /** As `damage`, of what is there now. */
  damageNow(imageRef: string): Promise<string | undefined>;
  /** Unpacks it, unless it is there. @throws as `pullImage`, errors of the file system */
  pull(imageRef: string, runtime: Runtime, from: PullDeps, signal: AbortSignal): Promise<void>;
  /** Says that it is in use. */
  touch(imageRef: string): Promise<void>;
  /** What it starts with; undefined when it is not there or not whole, or this machine has nothing that it runs on. */
  resolveImage(imageRef: string): Promise<LocalImage | undefined>;
  /** All that are there, by the hex digits of their digests. */
  images(): AsyncIterable<{ readonly key: string; readonly usedAt: Date }>;
  bytesOf(key: string): Promise<number>;
  /** @returns false when `isWanted` says so after all */
  removeImage(key: string, isWanted: (key: string) => boolean): Promise<boolean>;
  /** Removes layers of no image. */
  removeLeftovers(): Promise<void>;
}

export function pulledImages({ folder, runtimes, interpreters, clock }: PulledImagesOptions): PulledImages {
  const tmp = join(folder, "tmp");
  const checks = folderChecks();
  const layers = pulledLayers(join(folder, "layers"), tmp, checks);
  const linked = (record: ImageRecord) => (record.layers ?? []).map(layers.folderOf);
  const images = imageFolders(join(folder, "images"), { checks, linked });
  const slots = openCommandSlots(PULLS_AT_ONCE);
  const pulls = new Set<Promise<void>>();
  let tidying: Promise<void> = Promise.resolve();
  let cleared: Promise<void> | undefined;

  /** What an earlier life had begun goes. */
  function clear(): Promise<void> {
    cleared ??= rm(tmp, { recursive: true, force: true }).then(
      async () => void (await mkdir(tmp, { recursive: true })),
    );
    return cleared;
  }

  async function has(imageRef: string): Promise<boolean> {
    return (await images.resolve(keyOf(imageRef))) !== undefined;
  }

  async function pull(...[imageRef, runtime, from, signal]: Parameters<PulledImages["pull"]>): Promise<void> {
    if (await has(imageRef)) return;
    // Its files may be one with those of a layer that was whole when it was looked at.
    await images.damageNow(keyOf(imageRef));
    await clear();
    const startedMs = clock.monotonicMs();
    const draft = join(tmp, `image-${randomUUID()}`);
    try {
      // What no layer has is there all the same.
      for (const path of [IMAGE_PATHS.source, IMAGE_PATHS.deps]) await mkdir(join(draft, path), { recursive: true });
      const start = await pullImage(imageRef, runtime, { folder: draft, layers }, from, signal);
      signal.throwIfAborted();
      const durationMs = Math.round(clock.monotonicMs() - startedMs);
      await images.publish(draft, keyOf(imageRef), { ...start, builtAt: clock.now().toISOString(), durationMs });
    } finally {
      await rm(draft, { recursive: true, force: true });
    }
  }

  /** Layers that no image names yet are somebody's who is about to. */
  async function tidy(): Promise<void> {
    await Promise.allSettled(pulls);
    await clear();
    const records = await Promise.all((await images.keys()).map((key) => images.read(key)));
    await layers.removeOthers(new Set(records.flatMap((record) => record?.layers ?? [])));
  }

  return {
    has,
    async damage(imageRef) {
      const key = keyOf(imageRef);
      const record = await images.read(key);
      return record && images.damage(key, record);
    },
    damageNow: (imageRef) => images.damageNow(keyOf(imageRef)),
    async pull(imageRef, runtime, from, signal) {
      // While it is waited for another one may have begun.
      for (let waited: Promise<void> | undefined; waited !== tidying; ) {
        waited = tidying;
        await waited.catch(() => undefined);
      }
      const pulling = slots.run(signal, () => pull(imageRef, runtime, from, signal));
      pulls.add(pulling);
      await pulling.finally(() => pulls.delete(pulling));
    },
    removeLeftovers() {
      tidying = tidying.then(tidy, tidy);
      return tidying;
    },
    touch: (imageRef) => images.touch(keyOf(imageRef), clock.now()),
    async resolveImage(imageRef) {
      const key = keyOf(imageRef);
      const record = (await has(imageRef)) ? await images.read(key) : undefined;
      const runtime = record && runtimes.get(record.runtime);
      const interpreter = runtime && (await interpreters.find(runtime));
      return record && interpreter && toLocalImage(record, images.folderOf(key), interpreter.path);
    },
    async *images() {
      for (const key of await images.keys()) {
        const usedAt = await images.usedAt(key);
        if (usedAt) yield { key, usedAt };
      }
    },
    bytesOf: (key) => bytesBelow(images.folderOf(key)),
    async removeImage(key, isWanted) {
      await clear();
      return removeImage(key, { images, folder, isWanted });
    },
  };
}

/** Nothing is named by what is no digest. */
function keyOf(imageRef: string): string {
  return /@sha256:([0-9a-f]{64})$/.exec(imageRef)?.[1] ?? "none";
}

function toLocalImage(record: ImageRecord, root: string, interpreter: string): LocalImage {
  const here = (text: string) => text.replaceAll(IMAGE, root);
  return {
    runtime: record.runtime,
    folder: join(root, IMAGE_PATHS.out),
    source: join(root, IMAGE_PATHS.source),
    deps: join(root, IMAGE_PATHS.deps),
    command: record.command.map((part) => (part === INTERPRETER ? interpreter : here(part))),
    env: Object.fromEntries(Object.entries(record.env).map(([name, value]) => [name, here(value)])),
  };
}
