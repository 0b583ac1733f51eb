import {
  DEFAULT_ENTRYPOINT,
  effectiveReplicas,
  isReachable,
  keyOf,
  type ObjectKey,
  type ObjectOf,
  type ObjectRef,
  sourceDigestOfKey,
  type WorkloadRef,
} from "../apis/index.ts";
import type { BuildState } from "../build/index.ts";
import { type Clock, type Next, withFinalizer } from "../controller/index.ts";
import { SlessError } from "../errors/index.ts";
import type { WorkloadSpec, WorkloadState } from "../platform/index.ts";
import type { Runtime } from "../runtimes/index.ts";
import { cleanUp } from "./clean-up.ts";
import { createRolloutClock, type RolloutClock } from "./rollout-clock.ts";
import type { RunDeps } from "./run-deps.ts";
import { workloadNews } from "./workload-news.ts";
import { type WorkloadObservation, workloadStatus } from "./workload-status.ts";

export interface WorkloadDeps extends RunDeps {
  /** Triggers of the namespace whose `functionRef` is this name. */
  triggersOf(key: ObjectKey): readonly ObjectOf<"Trigger">[];
  /** The Function or Service that has that name, from watches. */
  targetOf(key: ObjectKey): ObjectRef | undefined;
  /** Address of a workload at `/fn/`. */
  urlOf(ref: ObjectRef): string;
  /** What has no replicas is built and laid out all the same, so that it starts at once. Default false. */
  readonly prepareStopped?: boolean;
}

/** Nodes do not get the image: it is gone, or they may not. */
const NOT_PULLED = "ImagePullBackOff";

type Workload = ObjectOf<"Function"> | ObjectOf<"Service">;
type WorkloadKindServed = "Function" | "Service";

/**
 * Reconciles Functions and Services: source stored → image built → replicas run → status. Level-based; every run
 * reads afresh and the only write is a status that differs. What serves goes on serving until its successor is ready.
 */
export function createWorkloadReconciler(
  kind: WorkloadKindServed,
  deps: WorkloadDeps,
): (key: ObjectKey) => Promise<Next> {
  const rollouts = createRolloutClock(deps.clock);
  return async (key) => {
    const ref: WorkloadRef = { kind, ...key };
    const object = (await deps.store.get(kind, key)) as Workload | undefined;
    if (!object || object.metadata.deletionTimestamp) {
      rollouts.forget(keyOf(key));
      return cleanUp(ref, object, deps);
    }
    const held = (await withFinalizer<WorkloadKindServed>(object, deps.store, "reconciler")) as Workload;
    const seen = await observe(ref, held, { deps, rollouts });
    const status = workloadStatus(held, seen, deps.clock.now().toISOString());
    const rolloutMs = rollouts.note(keyOf(key), progressOf(seen));
    for (const event of workloadNews({ ref, before: held.status, after: status, rolloutMs })) deps.report(event);
    await deps.store.updateStatus<WorkloadKindServed>(held, status);
    return nextOf(seen, deps.clock);
  };
}

function progressOf({ platform, replicas }: WorkloadObservation): "serving" | "missing" | "stopped" {
  if (replicas === 0) return "stopped";
  return platform?.current === true ? "serving" : "missing";
}

interface Run {
  readonly deps: WorkloadDeps;
  readonly rollouts: RolloutClock;
}

async function observe(ref: WorkloadRef, object: Workload, run: Run): Promise<WorkloadObservation> {
  const { deps } = run;
  const triggers = deps.triggersOf(ref);
  const replicas = effectiveReplicas(object, triggers);
  const sourceDigest = sourceDigestOfKey(ref, object.spec.s3Key);
  const runtime = deps.runtimes.get(object.spec.runtime);
  const fault = faultOf(object, ref, runtime, deps);
  const url = isTaken(ref, deps) ? undefined : urlOf(ref, triggers, deps);
  const seen = { sourceDigest, replicas, fault, url };
  if (fault || sourceDigest === undefined || !runtime) {
    return { ...seen, build: undefined, platform: await deps.platform.state(ref) };
  }
  if (replicas === 0 && !deps.prepareStopped) {
    await deps.builder.cancel(ref);
    return { ...seen, build: undefined, platform: await stop(ref, object, deps) };
  }
  const build = await deps.builder.ensure({
    workload: ref,
    runtime,
    entrypoint: object.spec.entrypoint ?? DEFAULT_ENTRYPOINT,
    sourceDigest,
    sourceKey: object.spec.s3Key ?? "",
  });
  if (build.phase !== "built") {
    const platform = replicas === 0 ? await stop(ref, object, deps) : await deps.platform.state(ref);
    return { ...seen, build, platform };
  }
  return { ...seen, build, platform: await start(ref, object, { build, sourceDigest, replicas, run }) };
}

/** Ends what runs of it and keeps its log; what never ran, or is stopped already, needs no word to the platform. */
async function stop(ref: WorkloadRef, object: Workload, deps: WorkloadDeps): Promise<WorkloadState | undefined> {
  const state = await deps.platform.state(ref);
  if (state?.current && state.serving === 0) return state;
  const { imageRef = "", sourceDigest = "" } = object.status ?? {};
  return state && deps.platform.apply(workloadSpec(ref, object, { imageRef, sourceDigest }), 0);
}

async function start(
  ref: WorkloadRef,
  object: Workload,
  made: { build: BuildState & { phase: "built" }; sourceDigest: string; replicas: number; run: Run },
): Promise<WorkloadState> {
  const { build, sourceDigest, replicas, run } = made;
  const spec = workloadSpec(ref, object, { imageRef: build.imageRef, sourceDigest });
  const version = `${object.metadata.generation} ${build.imageRef}`;
  const isNews = run.rollouts.begin(keyOf(ref), version) && object.status?.imageRef !== build.imageRef;
  if (isNews) {
    const { imageRef, reused, durationMs } = build;
    run.deps.report({ step: "built", object: ref, imageRef, reused, durationMs });
  }
  const state = await run.deps.platform.apply(spec, replicas);
  if (state.failure?.reason === NOT_PULLED) {
    // A builder that learns that an image is gone tells so, and makes it anew. Where it cannot be asked the failure stays.
    await run.deps.builder.has(build.imageRef).catch(() => false);
  }
  return state;
}

/** What the platform runs for an object whose defaults are filled in. */
export function workloadSpec(
  ref: WorkloadRef,
  object: Workload,
  image: Pick<WorkloadSpec, "imageRef" | "sourceDigest">,
): WorkloadSpec {
  const { entrypoint = DEFAULT_ENTRYPOINT, memoryMB = 128, timeoutSec = 0, env = {}, secretEnv = {} } = object.spec;
  return { workload: ref, ...image, entrypoint, memoryMB, timeoutSec, env, secretEnv };
}

function faultOf(
  object: Workload,
  ref: WorkloadRef,
  runtime: Runtime | undefined,
  deps: WorkloadDeps,
): WorkloadObservation["fault"] {
  if (isTaken(ref, deps)) {
    const other = ref.kind === "Function" ? "Service" : "Function";
    const message = `A ${other} of this name was here first, and has its address; delete one of them.`;
    return { reason: "NameTaken", message };
  }
  if (!runtime) {
    const error = new SlessError("runtime_unknown", {
      runtime: object.spec.runtime,
      known: [...deps.runtimes.keys()].join(", "),
    });
    return { reason: "RuntimeUnknown", message: error.message };
  }
  if (object.spec.s3Key !== undefined && sourceDigestOfKey(ref, object.spec.s3Key) === undefined) {
    // Rule 9: a key of another object would let one tenant run, and read, another's source.
    return {
      reason: "SourceKeyForeign",
      message: "spec.s3Key names the source of another object; push or upload the source anew.",
    };
  }
  return undefined;
}

/** Two that write the children of one name would undo one another's work without end. */
function isTaken({ kind, ...key }: WorkloadRef, { targetOf }: Pick<WorkloadDeps, "targetOf">): boolean {
  const holder = targetOf(key);
  return holder !== undefined && holder.kind !== kind;
}

function urlOf(ref: WorkloadRef, triggers: readonly ObjectOf<"Trigger">[], deps: WorkloadDeps): string | undefined {
  return isReachable(ref.kind, triggers) ? deps.urlOf(ref) : undefined;
}

function nextOf(seen: WorkloadObservation, clock: Clock): Next {
  if (seen.build?.phase !== "failed") return { kind: "done" };
  return { kind: "after", ms: Math.max(100, seen.build.retryAt.getTime() - clock.now().getTime()) };
}
