import { createHash } from "node:crypto";
import { appendFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { imageName, refText, type WorkloadRef } from "../../src/apis/index.ts";
import type { Builder, BuildRequest, BuildState } from "../../src/build/index.ts";

export interface FolderBuilderOptions {
  /** Stands for the registry: whoever uses the same folder finds what is built. */
  readonly folder: string;
  /** How long a build takes. */
  readonly buildMs: number;
}

/**
 * A Builder whose images are the names of files, so that they outlive the process: a build that is broken off begins
 * anew, one that has ended is found. `finishedBuilds` tells what was built. Of the builds of its own process it has the
 * output: a line when one begins, one when it has ended.
 */
export function folderBuilder({ folder, buildMs }: FolderBuilderOptions): Builder {
  const running = new Map<string, Date>();
  const begun = new Map<string, Promise<void>>();
  const listeners = new Set<(workload: WorkloadRef) => void>();

  async function build(image: string, workload: WorkloadRef): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, buildMs));
    await writeFile(join(folder, image), "");
    await appendFile(logOf(folder), `${image}\n`);
    running.delete(image);
    for (const listener of listeners) listener(workload);
  }
  return {
    async ensure({ workload, runtime, sourceDigest, entrypoint }: BuildRequest): Promise<BuildState> {
      await mkdir(folder, { recursive: true });
      const key = `${workload.namespace}/${workload.name} ${runtime.name} ${sourceDigest} ${runtime.build ? entrypoint : ""}`;
      const image = createHash("sha256").update(key).digest("hex");
      if (await isThere(join(folder, image))) {
        const imageRef = `registry.test/${imageName(workload)}@sha256:${image}`;
        return { phase: "built", imageRef, builtAt: new Date(0), durationMs: buildMs, reused: false };
      }
      const startedAt = running.get(image) ?? new Date();
      if (!running.has(image)) begun.set(refText(workload), build(image, workload));
      running.set(image, startedAt);
      return { phase: "building", startedAt, step: "building" };
    },
    has: async () => true,
    cancel: async () => undefined,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async *logs(workload, { follow, signal }) {
      const build = begun.get(refText(workload));
      if (!build) return;
      yield Buffer.from(`${workload.name} begins\n`);
      const left = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      if (follow) await Promise.race([build, left]);
      if (follow && !signal.aborted) yield Buffer.from(`${workload.name} has ended\n`);
    },
  };
}

/** Every build that ended, in all processes that used the folder; one that was made twice stands there twice. */
export async function finishedBuilds(folder: string): Promise<string[]> {
  const text = await readFile(logOf(folder), "utf8").catch(() => "");
  return text.split("\n").filter((line) => line !== "");
}

function logOf(folder: string): string {
  return join(folder, "finished.log");
}

async function isThere(file: string): Promise<boolean> {
  return (await readFile(file).catch(() => undefined)) !== undefined;
}
