import { imageName, type WorkloadRef } from "../../apis/index.ts";
import type { Clock } from "../../controller/clock.ts";
import type { LogFile } from "../../processes/index.ts";
import type { RegistryClient } from "../../registry/index.ts";
import { BuildFault } from "../build-fault.ts";
import type { BuildRequest } from "../builder.ts";
import type { CommandSlots } from "../command-slots.ts";
import { checkHandlerFile } from "../handler-file.ts";
import type { ImageRecipe } from "../image-jobs.ts";
import { appendImage, type BaseImage, type ImageTarget, type LayerEntry } from "../layer/index.ts";
import type { Making } from "../making.ts";
import type { SourceDeps } from "../open-source.ts";
import { type DependencyFile, IMAGE_PATHS, type ImagePlan, planImage } from "../plan/index.ts";
import { isGone } from "../registry-faults.ts";
import { type BaseImages, pinned, type RuntimeBases } from "./base-images.ts";
import { copyImage } from "./copy-image.ts";
import { imageSettings } from "./image-settings.ts";
import { contextFiles } from "./job-context.ts";
import type { JobImages } from "./job-images.ts";
import { checkLayerNames } from "./layer-names.ts";
import type { MadeImages } from "./made-images.ts";
import { inLayer, type ServerLayers } from "./server-layers.ts";
import { readSource, type SourceFiles } from "./source-files.ts";
import { withSourceLayer } from "./source-layer.ts";

export interface MakeDeps extends SourceDeps {
  readonly registry: RegistryClient;
  readonly prefix: string;
  readonly platform: string;
  readonly version: string;
  readonly addresses: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly servers: ServerLayers;
  readonly jobImages: JobImages;
  readonly made: MadeImages;
  /** Sources are on the disk while a slot is taken. */
  readonly slots: CommandSlots;
  readonly bases: Pick<BaseImages, "of">;
  /** This digest, or something, is gone from the registry: what was known of it is looked for again. */
  readonly forget: (digest?: string) => void;
}

export interface ImageWanted {
  /** Of the image, the same for every workload. */
  readonly key: string;
  readonly request: BuildRequest;
  readonly bases: RuntimeBases;
  readonly tags: readonly string[];
}

export interface MadeImage {
  readonly digest: string;
  /** It was there, as the image of another workload. */
  readonly reused: boolean;
}

/**
 * Makes the image of a request and pushes it; its last tag is written last.
 *
 * @throws BuildFault, RegistryError, SlessError of the object store and the archive; the signal's reason
 */
export async function makeImage(wanted: ImageWanted, making: Making, deps: MakeDeps): Promise<MadeImage> {
  try {
    return await makeOnce(wanted, making, deps);
  } catch (error) {
    if (!isGone(error)) throw error;
    deps.forget();
    await say(making.log, "something is gone from the registry: everything is pushed once more");
    // Copies of base images are brought again. Where those come from may not answer, and they may be what is still there.
    await deps.bases.of(wanted.request.runtime).catch(() => undefined);
    return makeOnce(wanted, making, deps);
  }
}

async function makeOnce(wanted: ImageWanted, making: Making, deps: MakeDeps): Promise<MadeImage> {
  const { signal, step, log } = making;
  const tenant = wanted.request.workload.namespace;
  step("reading the source");
  const { plan, dependencies, image } = await deps.slots.run(signal, () => begin(wanted, making, deps), tenant);
  if (image) return image;
  const base = await baseOf({ wanted, plan, dependencies }, making, deps);
  step(`putting the code on its image (${plan.reason})`);
  const digest = await deps.slots.run(signal, () => append({ wanted, plan, base }, signal, deps), tenant);
  await sayPushed(log, wanted, digest, deps);
  return { digest, reused: false };
}

interface Begun extends Planned {
  /** When nothing has to be built first. */
  readonly image?: MadeImage;
}

/** Looks at the source, and makes the image while it is at hand unless commands have to make something first. */
async function begin(wanted: ImageWanted, { log, signal, step }: Making, deps: MakeDeps): Promise<Begun> {
  const { key, request, bases } = wanted;
  const source = await readSource(request, deps, signal);
  try {
    await checkHandlerFile(request.entrypoint, request.runtime, source.has);
    checkLayerNames(source.files);
    const planned = await planOf(wanted, source, deps);
    const elsewhere = deps.made.get(key);
    const from = elsewhere && { client: deps.registry, host: deps.registry.host, ...elsewhere };
    const reused = from && (await copyImage(from, targetOf(wanted, deps)));
    if (reused !== undefined) {
      await say(log, `the same source was built before: ${request.workload.name} takes that image`);
      return { ...planned, image: { digest: reused, reused: true } };
    }
    const { plan } = planned;
    await say(log, plan.reason);
    if (plan.kind !== "append") return planned;
    step(`putting the code on its image (${plan.reason})`);
    const digest = await append({ wanted, plan, base: bases.base, source }, signal, deps);
    await sayPushed(log, wanted, digest, deps);
    return { ...planned, image: { digest, reused: false } };
  } finally {
    await source.close();
  }
}

/** Where the images of a workload are in the registry. */
export function repositoryOf(workload: WorkloadRef, { prefix }: Pick<MakeDeps, "prefix">): string {
  return prefix + imageName(workload);
}

function targetOf({ request, tags }: ImageWanted, deps: MakeDeps): ImageTarget {
  return { client: deps.registry, repository: repositoryOf(request.workload, deps), tags };
}

interface Planned {
  readonly plan: ImagePlan;
  readonly dependencies: readonly DependencyFile[];
}

async function planOf(
  { request, bases }: ImageWanted,
  source: SourceFiles,
  { platform, addresses }: MakeDeps,
): Promise<Planned> {
  const dependencies = await source.dependencies(request.runtime.dependencyFiles);
  const runBase = bases.digests.run === undefined ? undefined : pinned(bases.run);
  const input = { request, base: pinned(bases.base), runBase, platform, dependencies, hasFile: source.has, addresses };
  return { plan: planImage(input), dependencies };
}

/** What the code goes on: the base image, or one that commands made. */
async function baseOf(
  { wanted, plan, dependencies }: Planned & { readonly wanted: ImageWanted },
  { log, signal, step }: Making,
  deps: MakeDeps,
): Promise<BaseImage> {
  const { request, bases } = wanted;
  if (plan.kind === "append") return bases.base;
  const { job, kind, reason } = plan;
  const repository = `${deps.prefix}${kind === "deps" ? "sless-deps" : "sless-builds"}`;
  const named = dependencies.map(({ name }) => name).join(", ");
  const digest = await deps.jobImages.provide(
    {
      key: job.key,
      workload: request.workload,
      // All of the key: the repository is shared, and nobody shall be able to make a key that begins like another's.
      target: { repository, tag: job.key },
      dockerfile: job.dockerfile,
      recipe: recipeOf(wanted, plan),
      files: () => contextFiles(request, job.context, dependencies, deps, signal),
      reason,
      fault: (cause, tail) =>
        kind === "deps"
          ? new BuildFault("dependencies_failed", { cause, file: named }, { tail })
          : new BuildFault("build_failed", { cause }, { tail }),
    },
    { log, signal, step: (name) => step(`${name} (${reason})`) },
  );
  await say(
    log,
    kind === "deps" ? `dependencies ${job.key.slice(0, 12)} are installed` : `built ${job.key.slice(0, 12)}`,
  );
  return { client: deps.registry, host: deps.registry.host, repository, digest };
}

function recipeOf({ request, bases }: ImageWanted, plan: Exclude<ImagePlan, { kind: "append" }>): ImageRecipe {
  const { runtime, entrypoint } = request;
  if (plan.kind === "deps") return { kind: "deps", runtime, entrypoint, base: pinned(bases.base) };
  return plan.appendsSource
    ? { kind: "program", runtime, entrypoint, base: pinned(bases.run) }
    : { kind: "source", runtime, entrypoint, base: pinned(bases.base) };
}

interface Appended {
  readonly wanted: ImageWanted;
  readonly plan: ImagePlan;
  readonly base: BaseImage;
  /** Where it is open already. */
  readonly source?: SourceFiles;
}

async function append({ wanted, plan, base, source }: Appended, signal: AbortSignal, deps: MakeDeps): Promise<string> {
  const { request, bases } = wanted;
  const { runtime } = request;
  const isProgram = plan.kind === "full" && plan.appendsSource;
  const standsOn = isProgram ? bases.run : bases.base;
  const name = isProgram ? (runtime.runImage ?? runtime.baseImage) : runtime.baseImage;
  const settings = imageSettings(request, { name, digest: standsOn.digest }, deps.version);
  const target = targetOf(wanted, deps);
  const server = await deps.servers.of(runtime);
  if (plan.kind === "full" && !plan.appendsSource) return appendImage({ base, layers: [server], settings, target });
  const beside = plan.kind === "deps" && runtime.linkDeps !== undefined ? [linkTo(runtime.linkDeps)] : [];
  const opened = source ?? (await readSource(request, deps, signal));
  try {
    return await withSourceLayer(opened, beside, deps.temporary, (layer) =>
      appendImage({ base, layers: [server, layer], settings, target }),
    );
  } finally {
    if (!source) await opened.close();
  }
}

function linkTo(name: string): LayerEntry {
  return { path: inLayer(`${IMAGE_PATHS.out}/${name}`), target: `deps/${name}` };
}

async function sayPushed(log: LogFile, wanted: ImageWanted, digest: string, deps: MakeDeps): Promise<void> {
  const { repository } = targetOf(wanted, deps);
  await say(log, `pushed ${deps.registry.host}/${repository}@${digest}`);
}

async function say(log: LogFile, text: string): Promise<void> {
  await log.append(Buffer.from(`sless: ${text}\n`));
}
