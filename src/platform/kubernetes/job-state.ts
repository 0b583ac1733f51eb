import type { JobState } from "../platform.ts";
import { truncateMessage } from "../truncate-message.ts";
import type { LiveJob, LivePod } from "./live-objects.ts";
import { EXIT_TIMED_OUT, exitText, type Failure, outOfMemory, withTail } from "./pod-failure.ts";

export type JobEnd = Extract<JobState, { phase: "succeeded" | "failed" }>;

/** How a Job ended; undefined while it runs. */
export function jobOutcome({ status }: LiveJob): "succeeded" | "failed" | undefined {
  const holds = (type: string) =>
    status.conditions?.some((condition) => condition.type === type && condition.status === "True");
  if (holds("Complete")) return "succeeded";
  return holds("Failed") ? "failed" : undefined;
}

export function runningState(job: LiveJob): Extract<JobState, { phase: "running" }> {
  return { phase: "running", jobName: job.metadata.name, startTime: startTimeOf(job) };
}

export interface EndedJob {
  readonly job: LiveJob;
  /** That ended last; undefined when it is gone. */
  readonly pod: LivePod | undefined;
  /** What kept its pod from starting, as long as it was there. */
  readonly waited: Failure | undefined;
  /** Seconds that the run had. */
  readonly timeoutSec: number;
}

/** What a Job that ended means; of a result, what the pod's status holds of it. Pure. */
export function endedState(ended: EndedJob): JobEnd {
  const { job, pod } = ended;
  const times = {
    jobName: job.metadata.name,
    startTime: startTimeOf(job),
    completionTime: completionTimeOf(job),
  };
  if (jobOutcome(job) === "succeeded") return { phase: "succeeded", ...times, message: resultOf(pod) };
  const { reason, message } = failureOf(ended);
  return { phase: "failed", ...times, message: truncateMessage(`${reason}: ${message}`) };
}

/** The runtime leaves it in the pod's status, cut by itself where it is longer than a message may be. */
function resultOf(pod: LivePod | undefined): string {
  if (!pod) return "It succeeded; its pod is gone, and the result with it.";
  return truncateMessage(pod.container.state?.terminated?.message ?? "");
}

function failureOf({ job, pod, waited, timeoutSec }: EndedJob): Failure {
  const condition = job.status.conditions?.find(({ type, status }) => type === "Failed" && status === "True");
  const late = `It did not end within ${timeoutSec} s.`;
  const ended = pod?.container.state?.terminated;
  if (condition?.reason === "DeadlineExceeded") return { reason: "TimedOut", message: withTail(late, waited?.message) };
  const disrupted = pod?.conditions.find(({ type, status }) => type === "DisruptionTarget" && status === "True");
  if (pod?.reason === "Evicted" || disrupted)
    return {
      reason: "Evicted",
      message: pod?.message || disrupted?.message || "Its pod had to go; raise spec.runID to run it again.",
    };
  if (!ended) {
    const cause = pod ? "Its node was lost" : "Its pod was deleted";
    return { reason: "Failed", message: `${cause} before it ended. Raise spec.runID to run it again.` };
  }
  const memory = pod && outOfMemory(ended, pod.memory);
  if (memory) return memory;
  if (ended.exitCode === EXIT_TIMED_OUT) return { reason: "TimedOut", message: withTail(late, ended.message) };
  return { reason: "Failed", message: withTail(`It ended with ${exitText(ended)}.`, ended.message) };
}

function startTimeOf({ metadata, status }: LiveJob): string {
  return status.startTime ?? metadata.creationTimestamp ?? "";
}

function completionTimeOf(job: LiveJob): string {
  const ended = job.status.conditions?.find(
    ({ type, status }) => ["Complete", "Failed"].includes(type) && status === "True",
  );
  return job.status.completionTime ?? ended?.lastTransitionTime ?? startTimeOf(job);
}
