import { hashFields, refText, type WorkloadRef } from "../../apis/index.ts";
import { digestReference } from "../../registry/index.ts";
import { type BuildFailures, failNow } from "../build-failures.ts";
import { type BuildFault, toBuildFault } from "../build-fault.ts";
import type { BuildLogs } from "../build-logs.ts";
import type { BuildRequest, BuildState } from "../builder.ts";
import type { BuildsInFlight } from "../builds-in-flight.ts";
import { checkHandlerFile, failureId } from "../handler-file.ts";
import { imageKey, originKey } from "../plan/index.ts";
import { toImageFault } from "../registry-faults.ts";
import type { BaseImages, RuntimeBases } from "./base-images.ts";
import type { KeptLogs } from "./kept-logs.ts";
import { type MakeDeps, repositoryOf } from "./make-image.ts";
import type { Renewals } from "./renewals.ts";
import { readSource } from "./source-files.ts";
import type { Built, WantedImage, WantedImages } from "./wanted-images.ts";

export interface FlightWanted {
  readonly request: BuildRequest;
  readonly bases: RuntimeBases;
  readonly wanted: WantedImage;
}

export interface EnsureDeps extends MakeDeps {
  readonly bases: BaseImages;
  readonly failures: BuildFailures;
  readonly logs: BuildLogs;
  readonly builds: BuildsInFlight<FlightWanted>;
  readonly wanted: WantedImages;
  readonly renewals: Renewals;
  readonly kept: KeptLogs;
  readonly recheckMs: number;
  /** Aborted when the builder is closed. */
  readonly closing: AbortSignal;
}

/**
 * Tells where the image of a request stands, and begins or joins its build when the registry does not have it. For an
 * image that is there that is one HEAD request, and none for a while after that.
 */
export async function ensureImage(request: BuildRequest, deps: EnsureDeps): Promise<BuildState> {
  const { workload } = request;
  const bases = await basesOf(request, deps);
  if (!("digests" in bases)) return bases;
  const wanted = want(request, bases, deps);
  const flight = deps.builds.get(wanted.build);
  if (!flight) {
    const settled = await settledState(request, wanted, deps);
    if (settled) return settled;
  }
  const build = flight ?? deps.builds.get(wanted.build) ?? deps.builds.start(wanted.build, { request, bases, wanted });
  build.workloads.set(refText(workload), workload);
  await deps.logs.pointDurably(workload, wanted.build);
  return { phase: "building", startedAt: build.startedAt, step: build.step };
}

/** Without its base images a workload gets what was last made of the same source, if that is known or there. */
async function basesOf(request: BuildRequest, deps: EnsureDeps): Promise<RuntimeBases | BuildState> {
  const { runtime, workload } = request;
  const id = `bases ${runtime.name} ${runtime.digest}`;
  if (!deps.failures.current(id, workload.name)) {
    try {
      const bases = await deps.bases.of(runtime);
      deps.failures.forget(id);
      return bases;
    } catch (error) {
      deps.failures.add(id, toBuildFault(error));
    }
  }
  const origin = originKey(request, deps.platform);
  const before = deps.wanted.get(workload);
  const known = before?.origin === origin ? (before.built ?? before.older) : undefined;
  const state = known ?? (await older(request, origin, deps).catch(() => undefined));
  return state ?? deps.failures.current(id, workload.name) ?? failNow(id, unknownFault(), workload, deps);
}

/** Only when a failure is over in the very moment that it is asked for. */
function unknownFault(): BuildFault {
  return toBuildFault(new Error("its base images could not be looked for"));
}

function want(request: BuildRequest, bases: RuntimeBases, deps: EnsureDeps): WantedImage {
  const { workload } = request;
  const key = imageKey(request, bases.digests, deps.platform);
  const origin = originKey(request, deps.platform);
  const { wanted, left } = deps.wanted.want(request, { key, origin, build: hashFields([key, refText(workload)]) });
  if (left) {
    deps.renewals.leave(workload);
    void deps.builds.leave(left.build, workload);
  }
  return wanted;
}

/** What needs no build at the moment; undefined when one has to begin. */
async function settledState(
  request: BuildRequest,
  wanted: WantedImage,
  deps: EnsureDeps,
): Promise<BuildState | undefined> {
  const { workload, entrypoint } = request;
  const { failures, renewals } = deps;
  if (!wanted.built || !(await isStillThere(wanted, deps))) {
    const ids = [failureId(wanted.build, undefined), failureId(wanted.build, entrypoint)];
    const failed = ids.map((id) => failures.current(id, workload.name)).find((state) => state !== undefined);
    if (failed) return failed;
    try {
      wanted.built = await find(request, wanted, deps);
    } catch (error) {
      return failNow(wanted.build, toImageFault(error, deps.registry.host), workload, deps);
    }
  }
  if (wanted.built) {
    renewals.leave(workload);
    return (await entrypointFault(request, wanted, deps)) ?? wanted.built;
  }
  return wanted.older && !renewals.take(workload) ? wanted.older : undefined;
}

/** Looks for the image of the key, and for what it would renew. */
async function find(request: BuildRequest, wanted: WantedImage, deps: EnsureDeps): Promise<Built | undefined> {
  const { registry, made } = deps;
  const repository = repositoryOf(request.workload, deps);
  const digest = await registry.manifestDigest(repository, tagOf(wanted.key));
  if (digest === undefined) {
    wanted.older ??= await older(request, wanted.origin, deps);
    return undefined;
  }
  wanted.seenAtMs = deps.clock.monotonicMs();
  made.add(wanted.key, { repository, digest });
  return reusedState(request, digest, deps);
}

async function older(request: BuildRequest, origin: string, deps: EnsureDeps): Promise<Built | undefined> {
  const repository = repositoryOf(request.workload, deps);
  const digest = await deps.registry.manifestDigest(repository, originTagOf(origin));
  return digest === undefined ? undefined : reusedState(request, digest, deps);
}

/** Names the image of a key in its repository. */
export function tagOf(key: string): string {
  return key.slice(0, 12);
}

/** Names the newest image of a source, whatever it stands on. */
export function originTagOf(origin: string): string {
  return `source-${origin.slice(0, 12)}`;
}

export function imageRefOf(workload: WorkloadRef, digest: string, deps: MakeDeps): string {
  return digestReference({ host: deps.registry.host, repository: repositoryOf(workload, deps) }, digest);
}

function reusedState({ workload }: BuildRequest, digest: string, deps: EnsureDeps): Built {
  const imageRef = imageRefOf(workload, digest, deps);
  return { phase: "built", imageRef, builtAt: deps.clock.now(), durationMs: 0, reused: true };
}

/** Now and then the registry is asked; one that does not answer changes nothing. */
async function isStillThere(wanted: WantedImage, deps: EnsureDeps): Promise<boolean> {
  const { clock, recheckMs, registry } = deps;
  const { imageRef = "" } = wanted.built ?? {};
  if (clock.monotonicMs() - wanted.seenAtMs < recheckMs) return true;
  const digest = imageRef.slice(imageRef.lastIndexOf("@") + 1);
  const repository = repositoryOf(wanted.workload, deps);
  try {
    if ((await registry.manifestDigest(repository, digest)) === undefined) {
      wanted.built = undefined;
      return false;
    }
  } catch {
    return true;
  }
  wanted.seenAtMs = clock.monotonicMs();
  return true;
}

/** An image serves every entry point of its source; another one than before may have no file there. */
async function entrypointFault(
  request: BuildRequest,
  wanted: WantedImage,
  deps: EnsureDeps,
): Promise<BuildState | undefined> {
  const { workload, entrypoint, runtime } = request;
  wanted.entrypoint ??= entrypoint;
  if (wanted.entrypoint === entrypoint) return undefined;
  const id = failureId(wanted.build, entrypoint);
  const known = deps.failures.current(id, workload.name);
  if (known) return known;
  try {
    const source = await readSource(request, deps, deps.closing);
    await source.close();
    await checkHandlerFile(entrypoint, runtime, source.has);
    wanted.entrypoint = entrypoint;
    return undefined;
  } catch (error) {
    return failNow(id, toBuildFault(error), workload, deps);
  }
}
