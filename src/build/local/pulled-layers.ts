import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type FolderChecks, sealFolder } from "./folder-checks.ts";
import { replaceFolder } from "./replace-folder.ts";
import type { UnpackedLayer } from "./stack-layers.ts";
import { type LayerRemovals, type PackedLayer, type UnpackBudget, unpackLayer } from "./unpack-layer.ts";

/** Layers of images, each unpacked once, by the hex digits of their digests. */
export interface PulledLayers {
  folderOf(key: string): string;
  /**
   * Unpacks the layer unless it is there and whole; whoever wants the same meanwhile waits for it.
   *
   * @throws what `fetch` throws; SlessError `archive_invalid`; errors of the file system
   */
  provide(key: string, fetch: () => Promise<PackedLayer>, budget: UnpackBudget): Promise<UnpackedLayer>;
  /** Removes those of no image that `used` names. */
  removeOthers(used: ReadonlySet<string>): Promise<void>;
}

const RECORD = "layer.json";

/** @param tmp an empty folder beside `folder` */
export function pulledLayers(folder: string, tmp: string, checks: FolderChecks): PulledLayers {
  const folderOf = (key: string) => join(folder, key);
  const unpacking = new Map<string, Promise<UnpackedLayer>>();

  async function read(key: string): Promise<UnpackedLayer | undefined> {
    const at = join(folder, key);
    try {
      return { ...(JSON.parse(await readFile(join(at, RECORD), "utf8")) as LayerRemovals), folder: at };
    } catch {
      return undefined; // not there, or not readable: it is fetched anew
    }
  }

  async function unpack(key: string, fetch: () => Promise<PackedLayer>, budget: UnpackBudget): Promise<UnpackedLayer> {
    const known = await read(key);
    if (known && (await checks.damage(folderOf(key))) === undefined) return known;
    const draft = join(tmp, `layer-${randomUUID()}`);
    const at = join(folder, key);
    try {
      await mkdir(draft, { recursive: true });
      const removals = await unpackLayer(await fetch(), draft, budget);
      await sealFolder(draft);
      await writeFile(join(draft, RECORD), JSON.stringify(removals));
      await mkdir(folder, { recursive: true });
      await replaceFolder(draft, at, `${draft}.old`);
      checks.forget(at);
      return { ...removals, folder: at };
    } finally {
      for (const left of [draft, `${draft}.old`]) await rm(left, { recursive: true, force: true });
    }
  }

  return {
    folderOf,
    provide(key, fetch, budget) {
      const running = unpacking.get(key);
      if (running) return running;
      const started = unpack(key, fetch, budget).finally(() => unpacking.delete(key));
      unpacking.set(key, started);
      return started;
    },
    async removeOthers(used) {
      for (const key of await readdir(folder).catch(() => [])) {
        if (used.has(key)) continue;
        const doomed = join(tmp, `doomed-${randomUUID()}`);
        await rename(join(folder, key), doomed);
        await rm(doomed, { recursive: true, force: true });
      }
    },
  };
}
