import type { Runtime } from "../../runtimes/index.ts";
import type { BuildRequest } from "../builder.ts";
import { decideBuild } from "./decide-build.ts";
import {
  type DockerfileParts,
  depsDockerfile,
  namesServer,
  programDockerfile,
  sourceDockerfile,
} from "./dockerfile.ts";
import { type DependencyFile, depsKey, fullKey, imageKey } from "./plan-keys.ts";

/** An image by where it lies in the registry and by digest: `registry.example.org/library/python@sha256:…`. */
export type PinnedImage = `${string}@sha256:${string}`;

export interface PlanInput {
  readonly request: Pick<BuildRequest, "runtime" | "entrypoint" | "sourceDigest">;
  readonly base: PinnedImage;
  /** Of compiled languages with a `runImage`. */
  readonly runBase?: PinnedImage | undefined;
  /** `linux/amd64` */
  readonly platform: string;
  /** Those of the runtime's `dependencyFiles` that the root of the source has. */
  readonly dependencies: readonly DependencyFile[];
  /** Is a file of this path in the source? */
  readonly hasFile: (path: string) => boolean;
  /** See `DockerfileParts`. */
  readonly addresses: Readonly<Record<string, string>>;
}

/** What has to be made by commands before anything can be appended. */
export interface JobPlan {
  readonly key: string;
  readonly dockerfile: string;
  readonly context: { readonly dependencies: boolean; readonly source: boolean; readonly runtime: boolean };
}

/**
 * How a function's image comes to be. `append`: the code goes on the base image; `deps`: on an image of its
 * dependencies, which others share; `full`: a build of the whole source.
 */
export type ImagePlan =
  | { readonly kind: "append"; readonly reason: string }
  | { readonly kind: "deps"; readonly reason: string; readonly job: JobPlan }
  /** `appendsSource`: the job's image has a program, but not the source beside it. */
  | { readonly kind: "full"; readonly reason: string; readonly job: JobPlan; readonly appendsSource: boolean };

/** Decides, by what the source is made of alone. Pure: the same input gives the same plan everywhere. */
export function planImage(input: PlanInput): ImagePlan {
  const { runtime } = input.request;
  const decision = decideBuild(runtime, input);
  const { kind, why } = decision;
  if (kind === "append") return { kind, reason: `${why}: the code goes on ${runtime.baseImage}` };
  if (kind === "deps") return planDeps(input, decision.install);
  const reason = `${why}, so the whole source is built`;
  return runtime.build ? planProgram(input, decision.install, reason) : planWithSource(input, decision.install, reason);
}

function planProgram(input: PlanInput, install: readonly string[] | undefined, reason: string): ImagePlan {
  const context = { dependencies: install !== undefined, source: true, runtime: true };
  const job = fullJob(input, context, (images) => programDockerfile(partsOf(input, install, images)));
  return { kind: "full", reason, job, appendsSource: true };
}

function planWithSource(input: PlanInput, install: readonly string[] | undefined, reason: string): ImagePlan {
  const context = { dependencies: false, source: true, runtime: usesServer(input.request.runtime, install) };
  const job = fullJob(input, context, (images) => sourceDockerfile(partsOf(input, install, images)));
  return { kind: "full", reason, job, appendsSource: false };
}

function planDeps(input: PlanInput, install: readonly string[]): ImagePlan {
  const { request, base, platform, dependencies } = input;
  const { runtime } = request;
  const hasServer = usesServer(runtime, install);
  const digests = digestsOf(input);
  const key = depsKey({
    runtime: runtime.name,
    serverDigest: hasServer ? runtime.digest : "",
    baseDigest: digests.base,
    platform,
    installCommand: install,
    dockerfile: depsDockerfile(partsOf(input, install, digests)),
    files: dependencies,
  });
  const dockerfile = depsDockerfile(partsOf(input, install, { base }));
  const files = dependencies.map(({ name }) => name).sort();
  return {
    kind: "deps",
    reason: `the dependencies of ${files.join(", ")} are installed once; the code goes on top`,
    job: { key, dockerfile, context: { dependencies: true, source: false, runtime: hasServer } },
  };
}

interface Images {
  readonly base: string;
  readonly run?: string | undefined;
}

function fullJob(input: PlanInput, context: JobPlan["context"], dockerfileOf: (images: Images) => string): JobPlan {
  const digests = digestsOf(input);
  const image = imageKey(input.request, digests, input.platform);
  // Where the bases lie is nothing to the key.
  const key = fullKey(image, dockerfileOf(digests));
  return { key, dockerfile: dockerfileOf({ base: input.base, run: input.runBase }), context };
}

function partsOf(
  { request, addresses }: PlanInput,
  install: readonly string[] | undefined,
  images: Images,
): DockerfileParts {
  const { runtime, entrypoint } = request;
  return { runtime, base: images.base, runBase: images.run, install, entrypoint, addresses };
}

function digestsOf({ base, runBase }: PlanInput): { base: string; run: string | undefined } {
  return { base: digestOf(base), run: runBase && digestOf(runBase) };
}

function digestOf(image: PinnedImage): string {
  return image.slice(image.lastIndexOf("@") + 1);
}

function usesServer({ buildEnv }: Runtime, install: readonly string[] = []): boolean {
  return namesServer([...install, ...Object.values(buildEnv)]);
}
