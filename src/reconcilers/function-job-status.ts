import { type ConditionUpdate, conditionsAfter, type FunctionJobStatus, type ObjectOf } from "../apis/index.ts";
import type { BuildState } from "../build/index.ts";
import type { JobState } from "../platform/index.ts";
import { withoutUndefined } from "./workload-status.ts";

/** Where a job stands, seen at one moment. */
export type JobObservation =
  | { readonly kind: "skipped" }
  | { readonly kind: "fault"; readonly reason: string; readonly message: string }
  | { readonly kind: "waiting"; readonly reason: string; readonly message: string }
  | { readonly kind: "build"; readonly build: BuildState }
  | { readonly kind: "run"; readonly imageRef: string; readonly runID: number; readonly run: JobState };

/** The status that an observation means; a run that ended stays until `runID` is raised. Pure; `now` is RFC 3339. */
export function functionJobStatus(
  object: ObjectOf<"FunctionJob">,
  seen: JobObservation,
  now: string,
): FunctionJobStatus {
  const before = object.status ?? {};
  const generation = object.metadata.generation;
  const ready = readyCondition(seen);
  const status: FunctionJobStatus = {
    ...carriedOver(before, seen),
    ...runFields(seen),
    observedGeneration: generation,
    phase: phaseOf(seen),
    conditions: conditionsAfter(
      before.conditions,
      conditionsOf(seen, { ...ready, observedGeneration: generation }),
      now,
    ),
  };
  return withoutUndefined(status);
}

/** What the last run left, while the next one has not begun. */
function carriedOver(before: FunctionJobStatus, seen: JobObservation): FunctionJobStatus {
  if (seen.kind === "run") return {};
  return { lastRunID: before.lastRunID, imageRef: before.imageRef, message: messageOf(seen) };
}

function messageOf(seen: JobObservation): string | undefined {
  if (seen.kind === "fault" || seen.kind === "waiting") return seen.message;
  if (seen.kind === "build" && seen.build.phase === "failed") return seen.build.message;
  return undefined;
}

function runFields(seen: JobObservation): FunctionJobStatus {
  if (seen.kind !== "run") return {};
  const { run } = seen;
  const started = { jobName: run.jobName, startTime: run.startTime, imageRef: seen.imageRef, lastRunID: seen.runID };
  return run.phase === "running" ? started : { ...started, completionTime: run.completionTime, message: run.message };
}

function phaseOf(seen: JobObservation): NonNullable<FunctionJobStatus["phase"]> {
  switch (seen.kind) {
    case "skipped":
      return "Skipped";
    case "fault":
      return "Failed";
    case "waiting":
      return "Pending";
    case "build":
      return seen.build.phase === "failed" ? "Failed" : "Building";
    case "run":
      return ({ running: "Running", succeeded: "Succeeded", failed: "Failed" } as const)[seen.run.phase];
  }
}

function readyCondition(seen: JobObservation): ConditionUpdate {
  const type = "Ready";
  switch (seen.kind) {
    case "skipped":
      return { type, status: "True", reason: "Skipped", message: "runID is 0; raise it to run." };
    case "fault":
    case "waiting":
      return { type, status: "False", reason: seen.reason, message: seen.message };
    case "build":
      return seen.build.phase === "failed"
        ? { type, status: "False", reason: seen.build.reason, message: seen.build.message }
        : { type, status: "False", reason: "Building", message: "The image is being built." };
    case "run":
      if (seen.run.phase === "running")
        return { type, status: "False", reason: "Running", message: `Run ${seen.runID} is under way.` };
      return seen.run.phase === "succeeded"
        ? { type, status: "True", reason: "Succeeded", message: `Run ${seen.runID} succeeded.` }
        : {
            type,
            status: "False",
            reason: "RunFailed",
            message: `Run ${seen.runID} failed; status.message has the reason.`,
          };
  }
}

function conditionsOf(seen: JobObservation, ready: ConditionUpdate): ConditionUpdate[] {
  const phase = phaseOf(seen);
  if (phase === "Failed") return [ready, { ...ready, type: "Stalled", status: "True" }];
  if (phase === "Building" || phase === "Running" || phase === "Pending")
    return [ready, { ...ready, type: "Reconciling", status: "True" }];
  return [ready];
}
