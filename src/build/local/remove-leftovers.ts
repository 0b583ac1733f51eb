import { randomUUID } from "node:crypto";
import { readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { BuildLogs } from "../build-logs.ts";
import type { FolderChecks } from "./folder-checks.ts";
import type { ImageFolders } from "./image-folders.ts";

interface LeftoverOptions {
  readonly checks: FolderChecks;
  readonly images: ImageFolders;
  readonly logs: BuildLogs;
  readonly folder: string;
  /** Keys of images whose logs stay though they are not there yet. */
  readonly wanted: Iterable<string>;
  /** What was used since stays. */
  readonly before: Date;
  /** No build is in flight: one may have seen dependencies that no image names yet. */
  readonly isIdle: () => boolean;
}

/** Removes dependencies that no image links to, and logs of no image. */
export async function removeLeftovers(options: LeftoverOptions): Promise<void> {
  const { checks, images, logs, folder, wanted, before, isIdle } = options;
  const keys = await images.keys();
  const records = await Promise.all(keys.map((key) => images.read(key)));
  const linked = new Set(records.map((record) => record?.dependencies));
  for (const key of await readdir(join(folder, "deps")).catch(() => [])) {
    const path = join(folder, "deps", key);
    const found = await stat(path).catch(() => undefined);
    if (linked.has(key) || !found || found.ctimeMs >= before.getTime()) continue;
    if (!isIdle()) return;
    const doomed = join(folder, "tmp", `doomed-${randomUUID()}`);
    await rename(path, doomed);
    checks.forget(path);
    await rm(doomed, { recursive: true, force: true });
  }
  await logs.collect(new Set([...keys, ...wanted]));
}
