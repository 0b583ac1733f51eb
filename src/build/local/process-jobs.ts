import { randomUUID } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../controller/clock.ts";
import { logFile } from "../../processes/index.ts";
import { parseImageReference, type RegistryClient } from "../../registry/index.ts";
import { openCommandSlots } from "../command-slots.ts";
import type { ImageJobRequest, ImageJobState } from "../image-jobs.ts";
import { appendImage, type LayerFile, makeLayerFile } from "../layer/index.ts";
import type { Making } from "../making.ts";
import { toImageFault } from "../registry-faults.ts";
import type { EnvironmentOptions } from "./build-environment.ts";
import { type Interpreters, toolchainMissing } from "./interpreters.ts";
import { type JobTable, jobTable } from "./job-table.ts";
import type { CommandDeps } from "./run-command.ts";
import { type RecipeDeps, runRecipe } from "./run-recipe.ts";

const LOG_MAX_BYTES = 10 * 1024 * 1024;
const DEADLINE_MS = 600_000;
const CONCURRENCY = 2;

export interface ProcessJobsOptions extends Omit<CommandDeps, "deadlineMs">, EnvironmentOptions {
  /** Where images go; their bases are there too. */
  readonly registry: RegistryClient;
  readonly interpreters: Interpreters;
  readonly clock: Clock;
  /** For each command. Default 10 min. */
  readonly deadlineMs?: number;
  /** Commands at the same time. Default 2. */
  readonly concurrency?: number;
}

/** Closed, nothing half made stays. */
export type ProcessJobs = JobTable;

/**
 * ImageJobs of one machine: commands run in processes of its own tools, and what they leave becomes a layer on the base
 * image. It is no boundary between tenants, and what it makes fits this machine. It knows the jobs of this process alone:
 * what an earlier one made is found in the registry.
 */
export function processJobs(options: ProcessJobsOptions): ProcessJobs {
  const { folder, clock } = options;
  const deps = {
    ...options,
    deadlineMs: options.deadlineMs ?? DEADLINE_MS,
    slots: openCommandSlots(options.concurrency ?? CONCURRENCY),
  };
  return jobTable({
    clock,
    logOf: ({ key }) => logFile(join(folder, "tmp", `job-${key}.log`), { maxBytes: LOG_MAX_BYTES, whenFull: "stop" }),
    run: (request, making) =>
      making.log
        .clear()
        .then(() => makeImage(request, making, deps))
        .catch((error: unknown) => stateOf(error, deps)),
  });
}

type JobDeps = ProcessJobsOptions & RecipeDeps;

async function makeImage(request: ImageJobRequest, making: Making, deps: JobDeps): Promise<ImageJobState> {
  const { recipe, files } = request;
  if (!recipe) throw new Error("the request is for containers alone");
  const interpreter = await deps.interpreters.find(recipe.runtime);
  if (!interpreter) throw toolchainMissing(recipe.runtime);
  const work = join(deps.folder, "tmp", `job-${randomUUID()}`);
  try {
    await mkdir(work, { recursive: true });
    await mkdir(join(deps.folder, "home"), { recursive: true });
    const end = await runRecipe({ recipe, files, work, interpreter, ...making }, deps);
    if ("ok" in end) {
      const { cause, tail } = end;
      return {
        phase: "failed",
        by: "command",
        reason: "BuildFailed",
        message: cause,
        tail,
        failedAt: deps.clock.now(),
      };
    }
    making.step("pushing what was made");
    making.signal.throwIfAborted();
    const layer = await makeLayerFile(end.entries, join(work, "layer.tar.gz"));
    return { phase: "built", digest: await push(layer, request, recipe.base, deps), builtAt: deps.clock.now() };
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function push(
  layer: LayerFile,
  { target }: ImageJobRequest,
  base: string,
  { registry }: JobDeps,
): Promise<string> {
  const { host, repository, digest = "" } = parseImageReference(base);
  // What starts it is said when the code goes on top.
  const settings = { entrypoint: [], workingDir: "/", user: "0", env: {}, labels: {} };
  return appendImage({
    base: { client: registry, host, repository, digest },
    layers: [layer],
    settings,
    target: { client: registry, repository: target.repository, tags: [target.tag] },
  });
}

function stateOf(error: unknown, { registry, clock }: JobDeps): ImageJobState {
  const { reason, message, tail } = toImageFault(error, registry.host);
  return { phase: "failed", by: "builder", reason, message, tail, failedAt: clock.now() };
}
