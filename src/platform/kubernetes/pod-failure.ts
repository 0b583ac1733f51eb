import { type ErrorCode, SlessError } from "../../errors/index.ts";
import { PULL_REASONS } from "../../kubernetes/index.ts";
import { lastLines } from "../../processes/index.ts";
import type { WorkloadState } from "../platform.ts";
import type { LivePod, Terminated } from "./live-objects.ts";

export type Failure = NonNullable<WorkloadState["failure"]>;

const CONFIG_REASONS = [
  "CreateContainerConfigError",
  "CreateContainerError",
  "RunContainerError",
  "PreCreateHookError",
  "PreStartHookError",
];
/** Exit code of a runtime that cannot load the handler. */
const EXIT_UNLOADABLE = 65;
/** Exit code of a runtime whose handler took too long. */
export const EXIT_TIMED_OUT = 75;
/** From so many restarts on it is a loop. */
const LOOP_RESTARTS = 3;
/** What V8 and Go write when a heap cannot grow any more; both end themselves then. */
const HEAP_EXHAUSTED = /heap out of memory|runtime: out of memory/;

/** Reasons of the scheduler, and of whoever keeps a pod from it, for which a pod has no node. */
const NO_NODE = ["Unschedulable", "SchedulingGated", "SchedulerError"];

/** Why a pod does not serve, in words that stay the same while nothing changes; undefined when nothing is wrong (yet). */
export function podFailure(pod: LivePod, name: string): Failure | undefined {
  if (pod.container.ready || hasLeft(pod)) return undefined;
  return waitingFailure(pod) ?? crashFailure(pod, name);
}

/** It waits for a node; since when, as the scheduler tells it. */
export function unscheduledSince(pod: LivePod): string | undefined {
  const scheduled = pod.conditions.find(({ type }) => type === "PodScheduled");
  return scheduled?.status === "False" && NO_NODE.includes(scheduled.reason ?? "")
    ? (scheduled.lastTransitionTime ?? pod.metadata.creationTimestamp)
    : undefined;
}

export function unschedulable(pod: LivePod): Failure {
  const cause = pod.conditions.find(({ type }) => type === "PodScheduled")?.message ?? "no node takes it";
  return { reason: "Unschedulable", message: messageOf("pod_unschedulable", { cause }) };
}

/** It ended for good, though nothing that serves ever should: its node did not keep it. Another one is made in its place. */
export function hasLeft({ phase }: LivePod): boolean {
  return phase === "Failed" || phase === "Succeeded";
}

/** Why a node did not keep a pod: pressure, a shutdown, no room after all. */
export function evicted({ reason, message, conditions }: LivePod): Failure {
  const disrupted = conditions.find(({ type, status }) => type === "DisruptionTarget" && status === "True");
  const cause = message || disrupted?.message || reason || "it ended by itself";
  return { reason: "Evicted", message: messageOf("pod_evicted", { cause }) };
}

/** Its node has it and does not get as far as its container. */
export function isStuckOnNode({ conditions }: LivePod): boolean {
  const holds = (type: string, status: string) =>
    conditions.some((condition) => condition.type === type && condition.status === status);
  return holds("PodScheduled", "True") && holds("PodReadyToStartContainers", "False");
}

export function notStarting(): Failure {
  const cause = "its pod has no network or no volumes there; `kubectl describe pod` tells why";
  return { reason: "PodNotStarting", message: messageOf("container_refused", { cause }) };
}

/** What keeps a container from being started. */
export function waitingFailure({ image, container }: LivePod): Failure | undefined {
  const { reason = "", message = "" } = container.state?.waiting ?? {};
  if (PULL_REASONS.includes(reason)) {
    const cause = pullCause(message) || reason;
    return { reason: "ImagePullBackOff", message: messageOf("image_pull_failed", { image, cause }) };
  }
  if (CONFIG_REASONS.includes(reason))
    return { reason, message: messageOf("container_refused", { cause: message || reason }) };
  return undefined;
}

/** The kubelet tells the error itself, and the wait for the next try, in turns. */
function pullCause(message: string): string {
  return message.replace(/^Back-off pulling image "[^"]*"(: (ErrImagePull: )?)?/, "").trim();
}

function crashFailure(pod: LivePod, name: string): Failure | undefined {
  const { container } = pod;
  const ended = container.state?.terminated ?? container.lastState?.terminated;
  if (!ended || (ended.exitCode === 0 && !container.state?.waiting)) return undefined;
  const memory = outOfMemory(ended, pod.memory);
  if (memory) return memory;
  const cause = exitText(ended);
  if (ended.exitCode === EXIT_UNLOADABLE)
    return { reason: "StartFailed", message: withTail(messageOf("start_failed", { cause, name }), ended.message) };
  const isLoop = (container.restartCount ?? 0) >= LOOP_RESTARTS;
  const message = messageOf(isLoop ? "crash_loop" : "crashed", { cause, name });
  return { reason: isLoop ? "CrashLoopBackOff" : "Crashed", message: withTail(message, ended.message) };
}

export function outOfMemory(ended: Terminated, limit: string): Failure | undefined {
  const isHeap = ended.exitCode !== 0 && HEAP_EXHAUSTED.test(ended.message ?? "");
  if (ended.reason !== "OOMKilled" && !isHeap) return undefined;
  const used = isHeap ? "its whole heap" : "more than it may";
  const message = messageOf("out_of_memory", { used, limit: megabytes(limit) });
  return { reason: "OutOfMemory", message: withTail(message, ended.message) };
}

export function exitText({ exitCode, signal }: Terminated): string {
  return signal ? `signal ${signal}` : `exit code ${exitCode}`;
}

/** With the last lines of what the kubelet left of a container's output. */
export function withTail(message: string, output: string | undefined): string {
  const last = lastLines();
  for (const line of (output ?? "").split("\n")) last.push(Buffer.from(line));
  const text = last.text();
  return text === "" ? message : `${message}\n${text}`;
}

/** `128Mi` → `128`, `2Gi` → `2048`. */
function megabytes(quantity: string): string {
  const [, digits = quantity, unit] = /^(\d+)(Mi|Gi)$/.exec(quantity) ?? [];
  return unit === "Gi" ? String(Number(digits) * 1024) : digits;
}

function messageOf(code: ErrorCode, details: Record<string, string>): string {
  return new SlessError(code, details).message;
}
