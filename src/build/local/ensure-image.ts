import { join } from "node:path";
import { imageName, refText, type WorkloadRef } from "../../apis/index.ts";
import type { Clock } from "../../controller/clock.ts";
import { type BuildFailures, failNow } from "../build-failures.ts";
import { toBuildFault } from "../build-fault.ts";
import type { BuildLogs } from "../build-logs.ts";
import type { BuildRequest, BuildState } from "../builder.ts";
import type { BuildsInFlight } from "../builds-in-flight.ts";
import { failureId } from "../handler-file.ts";
import { buildKey } from "./build-keys.ts";
import { checkHandlerInFolder } from "./handler-in-folder.ts";
import type { ImageFolders, ImageRecord } from "./image-folders.ts";
import { type Interpreters, toolchainMissing } from "./interpreters.ts";
import type { BuildWanted } from "./run-build.ts";

export interface EnsureDeps {
  readonly clock: Clock;
  readonly images: ImageFolders;
  readonly logs: BuildLogs;
  readonly interpreters: Interpreters;
  readonly failures: BuildFailures;
  readonly builds: BuildsInFlight<BuildWanted>;
  /** Hears of images that are not whole any more. */
  readonly notice: (message: string) => void;
  /** By workload: which key it asked for last, and whether that was built for it. */
  readonly wanted: Map<string, { readonly key: string; readonly made: boolean }>;
}

/** Tells where the image of a request stands, and starts or joins its build when it is missing. */
export async function ensureImage(request: BuildRequest, deps: EnsureDeps): Promise<BuildState> {
  const { workload, runtime, entrypoint } = request;
  const { failures, images, builds, logs } = deps;
  const toolchain = `toolchain ${runtime.name} ${runtime.digest}`;
  const missing = failures.current(toolchain, workload.name);
  if (missing) return missing;
  const interpreter = await deps.interpreters.find(runtime);
  if (!interpreter) return failNow(toolchain, toolchainMissing(runtime), workload, deps);
  const key = buildKey(request, interpreter);
  want(workload, key, deps);
  if (!builds.get(key)) {
    const image = await images.read(key);
    const damage = image && (await images.damage(key, image));
    if (image && damage === undefined) return reuse(request, key, image, deps);
    const ids = [failureId(key, undefined), failureId(key, entrypoint)];
    const known = ids.map((id) => failures.current(id, workload.name)).find((state) => state !== undefined);
    if (known) return known;
    if (damage !== undefined && !builds.get(key)) deps.notice(damagedImage(workload, damage));
  }
  const build = builds.get(key) ?? builds.start(key, { request, interpreter });
  build.workloads.set(refText(workload), workload);
  await logs.pointDurably(workload, key);
  return { phase: "building", startedAt: build.startedAt, step: build.step };
}

/** What is said of an image that lost something. */
export function damagedImage(workload: WorkloadRef, damage: string): string {
  return `The image of ${refText(workload)} on this machine is damaged: ${damage}. It is made again.`;
}

/** Remembers what the workload wants now; nobody may wait for what it wanted before. */
function want(workload: WorkloadRef, key: string, { wanted, builds }: EnsureDeps): void {
  const before = wanted.get(refText(workload));
  if (before?.key === key) return;
  if (before) void builds.leave(before.key, workload);
  wanted.set(refText(workload), { key, made: false });
}

async function reuse(request: BuildRequest, key: string, image: ImageRecord, deps: EnsureDeps): Promise<BuildState> {
  const { workload, entrypoint, runtime } = request;
  const { images, failures, logs, clock, wanted } = deps;
  logs.point(workload, key);
  try {
    // Another workload's build may have made it, for another entry point.
    await checkHandlerInFolder(join(images.folderOf(key), "source"), entrypoint, runtime);
  } catch (error) {
    const id = failureId(key, entrypoint);
    return failures.current(id, workload.name) ?? failNow(id, toBuildFault(error), workload, deps);
  }
  await images.touch(key, clock.now());
  return {
    phase: "built",
    imageRef: `local/${imageName(workload)}@sha256:${key}`,
    builtAt: new Date(image.builtAt),
    durationMs: image.durationMs,
    reused: !wanted.get(refText(workload))?.made,
  };
}
