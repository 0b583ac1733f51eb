import { isDigest } from "../../registry/index.ts";
import type { ImageJobState } from "../image-jobs.ts";
import { BUILD_ANNOTATIONS, type BuildContainer, CONTAINERS } from "./build-names.ts";
import { evictionOf, TROUBLES, type Trouble, type TroubleReason, troubleOf } from "./build-troubles.ts";
import { executorFailure, tailOf, withoutCredentials } from "./executor-output.ts";
import type { LiveContainer, LiveJob, LivePod } from "./live-builds.ts";

/** What is known of a Job that has not ended. */
export interface RunningBuild {
  readonly job: LiveJob;
  readonly pod: LivePod | undefined;
  /** Why no pod was made. */
  readonly refusal: string | undefined;
  /** What the executor said last of itself. */
  readonly progress: string | undefined;
  readonly now: Date;
  readonly unschedulableSec: number;
}

/** What a running build does, or waits for. Pure. */
export function runningState(build: RunningBuild): Extract<ImageJobState, { phase: "building" }> {
  const trouble = troubleOf(build);
  const step = trouble ? `waiting: ${lowerFirst(trouble.happened)}` : stepOf(build);
  return { phase: "building", startedAt: new Date(build.job.startedAt), step };
}

const STEPS: Record<BuildContainer, { readonly waiting: string; readonly running: string }> = {
  fetch: { waiting: "starting its pod", running: "fetching its files" },
  build: { waiting: "pulling the builder's image", running: "building the image" },
  push: { waiting: "pulling the image of sless", running: "pushing the image" },
};

function stepOf({ pod, progress }: RunningBuild): string {
  if (!pod) return "waiting for its pod";
  const [name, container] = currentOf(pod) ?? [];
  if (!name || !container) return "waiting for a node";
  if (name === "build" && container.running) return progress ?? STEPS.build.running;
  return container.running ? STEPS[name].running : STEPS[name].waiting;
}

/** The container that runs, or the first that has not ended well; undefined before a node has the pod. */
function currentOf({ containers, conditions }: LivePod): [BuildContainer, LiveContainer] | undefined {
  const isScheduled = conditions.some(({ type, status }) => type === "PodScheduled" && status === "True");
  const names = CONTAINERS.filter((name) => containers[name] !== undefined);
  const states = names.map((name): [BuildContainer, LiveContainer] => [name, containers[name]!]);
  const isTold = states.some(([, { waiting, running, terminated }]) => waiting || running || terminated);
  if (!isScheduled && !isTold) return undefined;
  return states.find(([, { running }]) => running) ?? states.find(([, { terminated }]) => terminated?.exitCode !== 0);
}

/** A Job that ended, and what was seen of it. */
export interface EndedBuild {
  readonly job: LiveJob;
  readonly pod: LivePod | undefined;
  /** What kept it from going on when it was last seen running. */
  readonly trouble: Trouble | undefined;
  /** Output of the executor, or the last of it; empty when it cannot be had. */
  readonly output: string;
  /** The command that it ran last. */
  readonly command: readonly string[] | undefined;
  readonly memoryMB: number;
  readonly diskMB: number;
}

/** How a build ended. Pure. */
export function endedState(build: EndedBuild): Exclude<ImageJobState, { phase: "building" }> {
  const { job, pod } = build;
  const endedAt = new Date(job.endedAt ?? job.startedAt);
  const digest = pod?.containers.push?.terminated?.message?.trim() ?? "";
  if (job.outcome === "complete" && isDigest(digest)) return { phase: "built", digest, builtAt: endedAt };
  return { phase: "failed", ...failureOf(build), failedAt: endedAt };
}

type Failure = Pick<Extract<ImageJobState, { phase: "failed" }>, "by" | "reason" | "message" | "tail">;

function failureOf(build: EndedBuild): Failure {
  const { job, pod, trouble, output } = build;
  if (job.outcome === "complete") return builderFailure("ResultLost", "", build);
  if (job.reason === "DeadlineExceeded") {
    const late = `it took longer than ${job.deadlineSec} s`;
    if (!trouble) return builderFailure("BuildTimedOut", late, build);
    return {
      by: "builder",
      reason: trouble.reason,
      message: `${trouble.happened} ${trouble.remedy}`,
      tail: tailOf(output),
    };
  }
  const eviction = pod && evictionOf(pod);
  if (eviction) return builderFailure(eviction.reason, eviction.cause, build);
  if (!pod) return builderFailure("PodLost", "its pod was deleted before it ended", build);
  return containerFailure(pod, build) ?? builderFailure("PodLost", "its node was lost before it ended", build);
}

function containerFailure({ containers }: LivePod, build: EndedBuild): Failure | undefined {
  const failed = CONTAINERS.find((name) => (containers[name]?.terminated?.exitCode ?? 0) !== 0);
  const ended = failed && containers[failed]?.terminated;
  if (!failed || !ended) return undefined;
  const said = withoutCredentials(ended.message ?? "").trim();
  if (ended.reason === "OOMKilled") return builderFailure("OutOfMemory", "it was killed", build);
  if (failed === "fetch") return builderFailure("ContextUnavailable", spoken(said), build);
  if (failed === "push") return builderFailure("PushFailed", spoken(said), build);
  const { by, reason, cause } = executorFailure(build.output || said, build.command);
  if (by === "command" || reason === "")
    return { by: "command", reason: "", message: withoutCredentials(cause), tail: tailOf(build.output || said) };
  return builderFailure(reason, withoutCredentials(cause), build);
}

/** `error: The image cannot be pushed: no answer.` in the words of a sentence that goes on. */
function spoken(said: string): string {
  const [line = ""] = said.split("\n").filter((each) => each.startsWith("error: "));
  return (
    (line === "" ? (said.split("\n").at(-1) ?? "") : line.slice("error: ".length)).replace(/\.$/, "") ||
    "it ended without a word"
  );
}

function builderFailure(reason: TroubleReason, cause: string, { output, memoryMB, diskMB }: EndedBuild): Failure {
  const { happened, remedy } = TROUBLES[reason]({ cause, memoryMB, diskMB });
  return { by: "builder", reason, message: `${happened} ${remedy}`, tail: tailOf(output) };
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1).replace(/\.$/, "");
}

/** For whom `retryBefore` counts: it was begun and has ended before that time. */
export function isOver(job: LiveJob, before: Date | undefined): boolean {
  if (!before || job.endedAt === undefined) return false;
  return new Date(job.endedAt) < before && new Date(job.startedAt) < before;
}

/** The whole key of a Job's build. */
export function keyOf({ metadata }: LiveJob): string | undefined {
  return metadata.annotations?.[BUILD_ANNOTATIONS.key];
}
