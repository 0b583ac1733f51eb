import {
  DEFAULT_ENTRYPOINT,
  type FunctionJobStatus,
  keyOf,
  type ObjectKey,
  type ObjectOf,
  sourceDigestOfKey,
  type WorkloadRef,
} from "../apis/index.ts";
import { type Clock, type Next, withFinalizer } from "../controller/index.ts";
import { SlessError } from "../errors/index.ts";
import { hindranceOf, type WorkloadSpec } from "../platform/index.ts";
import { cleanUp } from "./clean-up.ts";
import { functionJobStatus, type JobObservation } from "./function-job-status.ts";
import type { RunDeps } from "./run-deps.ts";
import { writeJobStatus } from "./write-job-status.ts";

export type FunctionJobDeps = RunDeps;

/** Characters of a result in an event. */
const NEWS_MAX = 1_000;

type Job = ObjectOf<"FunctionJob">;

/** A job's code and settings, its own or those of the function that it names. */
interface Program {
  /** Whose source and image it is. */
  readonly ref: WorkloadRef;
  readonly runtime: string;
  readonly sourceKey: string | undefined;
  readonly spec: Omit<WorkloadSpec, "workload" | "imageRef" | "sourceDigest">;
}

/**
 * Reconciles FunctionJobs: a run for every raise of `runID`, at most once each; 0 is no run. A run that ended is not
 * run again, whatever else of the spec changes.
 */
export function createFunctionJobReconciler(deps: FunctionJobDeps): (key: ObjectKey) => Promise<Next> {
  return async (key) => {
    const ref: WorkloadRef = { kind: "FunctionJob", ...key };
    const present = await deps.store.get("FunctionJob", key);
    if (!present || present.metadata.deletionTimestamp) return cleanUp(ref, present, deps);
    const job = await withFinalizer(present, deps.store, "reconciler");
    if (isSettled(job)) {
      await deps.store.updateStatus(job, observedStatus(job));
      return { kind: "done" };
    }
    const settle = async (seen: JobObservation) => {
      const status = functionJobStatus(job, seen, deps.clock.now().toISOString());
      report(ref, job.status, status, deps);
      await writeJobStatus(job, status, deps.store);
    };
    try {
      const seen = await observe(ref, job, deps);
      await settle(seen);
      return nextOf(seen, deps.clock);
    } catch (error) {
      const hindrance = isBegun(job) ? undefined : hindranceOf(error);
      // It is asked again as after any other error.
      if (hindrance) await settle({ kind: "waiting", ...hindrance });
      throw error;
    }
  };
}

/** A run that is under way says more of itself than what hinders the next look at it. */
function isBegun({ spec, status }: Job): boolean {
  return status?.lastRunID !== undefined && status.lastRunID === spec.runID;
}

/** The present `runID` was run to its end; nothing is to do until it is raised. */
function isSettled(job: Job): boolean {
  const ended = job.status?.phase === "Succeeded" || job.status?.phase === "Failed";
  return ended && job.status?.completionTime !== undefined && (job.spec.runID ?? 0) <= (job.status.lastRunID ?? 0);
}

/** The same status for the present generation: whoever waits for it sees that the change was looked at. */
function observedStatus({ metadata, status = {} }: Job): FunctionJobStatus {
  const observedGeneration = metadata.generation;
  const conditions = status.conditions?.map((condition) => ({ ...condition, observedGeneration }));
  return { ...status, observedGeneration, ...(conditions ? { conditions } : {}) };
}

async function observe(ref: WorkloadRef, job: Job, deps: FunctionJobDeps): Promise<JobObservation> {
  const runID = job.spec.runID ?? 0;
  if (runID === 0) return { kind: "skipped" };
  const program = await programOf(ref, job, deps);
  if ("reason" in program) return { kind: "waiting", ...program };
  const runtime = deps.runtimes.get(program.runtime);
  if (!runtime) {
    const error = new SlessError("runtime_unknown", {
      runtime: program.runtime,
      known: [...deps.runtimes.keys()].join(", "),
    });
    return { kind: "fault", reason: "RuntimeUnknown", message: error.message };
  }
  const sourceDigest = sourceDigestOfKey(program.ref, program.sourceKey);
  if (sourceDigest === undefined || program.sourceKey === undefined) {
    return { kind: "waiting", reason: "WaitingForSource", message: "No source is stored yet; push or upload it." };
  }
  const { entrypoint } = program.spec;
  const build = await deps.builder.ensure({
    workload: ref,
    runtime,
    entrypoint,
    sourceDigest,
    sourceKey: program.sourceKey,
  });
  if (build.phase !== "built") return { kind: "build", build };
  const spec: WorkloadSpec = { ...program.spec, workload: ref, imageRef: build.imageRef, sourceDigest };
  const begun = job.status?.lastRunID === runID;
  const run = await deps.platform.runJob({ spec, runID, eventJSON: job.spec.eventJSON, begun });
  return { kind: "run", imageRef: build.imageRef, runID, run };
}

async function programOf(
  ref: WorkloadRef,
  job: Job,
  deps: FunctionJobDeps,
): Promise<Program | { reason: string; message: string }> {
  const { functionRef, runtime } = job.spec;
  const timeoutSec = job.spec.timeoutSec ?? 30;
  if (functionRef === undefined)
    return { ref, runtime: runtime ?? "", sourceKey: job.spec.s3Key, spec: settingsOf(job.spec, timeoutSec) };
  const target = await deps.store.get("Function", { namespace: ref.namespace, name: functionRef });
  if (!target) {
    const message = `Function ${functionRef} does not exist in this namespace; the job runs once there is one.`;
    return { reason: "FunctionNotFound", message };
  }
  const targetRef: WorkloadRef = { kind: "Function", namespace: ref.namespace, name: functionRef };
  return {
    ref: targetRef,
    runtime: target.spec.runtime,
    sourceKey: target.spec.s3Key,
    spec: settingsOf(target.spec, timeoutSec),
  };
}

function settingsOf(spec: Job["spec"], timeoutSec: number): Program["spec"] {
  const { entrypoint = DEFAULT_ENTRYPOINT, memoryMB = 128, env = {}, secretEnv = {} } = spec;
  return { entrypoint, memoryMB, timeoutSec, env, secretEnv };
}

function nextOf(seen: JobObservation, clock: Clock): Next {
  if (seen.kind === "build" && seen.build.phase === "failed") {
    return { kind: "after", ms: Math.max(100, seen.build.retryAt.getTime() - clock.now().getTime()) };
  }
  return { kind: "done" };
}

function report(
  ref: WorkloadRef,
  before: FunctionJobStatus | undefined,
  after: FunctionJobStatus,
  deps: FunctionJobDeps,
): void {
  if (before?.phase === after.phase && before?.lastRunID === after.lastRunID) return;
  if (after.completionTime !== undefined) {
    const durationMs = Date.parse(after.completionTime) - Date.parse(after.startTime ?? after.completionTime);
    const message = after.phase === "Failed" ? (after.message ?? "") : newsOf(after.message ?? "");
    deps.report({ step: "finished", object: ref, phase: after.phase ?? "", message, durationMs });
  } else if (after.phase === "Failed") {
    deps.report({
      step: "failed",
      object: ref,
      reason: after.conditions?.[0]?.reason ?? "Failed",
      message: after.message ?? keyOf(ref),
    });
  }
}

/** The beginning of a result is enough for whoever watches; the status has the rest. */
function newsOf(message: string): string {
  return message.length > NEWS_MAX ? `${message.slice(0, NEWS_MAX).toWellFormed()}…` : message;
}
