import { PULL_REASONS } from "../../kubernetes/index.ts";
import { CONTAINERS } from "./build-names.ts";
import type { RunningBuild } from "./build-state.ts";
import type { LiveContainer, LivePod } from "./live-builds.ts";

/** Why a build does not go on, or did not. */
export interface Trouble {
  readonly reason: TroubleReason;
  readonly happened: string;
  readonly remedy: string;
}

interface Details {
  readonly cause: string;
  readonly memoryMB: number;
  readonly diskMB: number;
}

type Words = (details: Details) => { readonly happened: string; readonly remedy: string };

const words =
  (happened: string, remedy: string): Words =>
  (details) => {
    const fill = (text: string) =>
      text.replaceAll(/\{(\w+)\}/g, (_, name: keyof Details) => String(details[name]).replace(/\.$/, ""));
    return { happened: fill(happened), remedy: fill(remedy) };
  };

/** What each reason of a condition is in words: what happened, and what to do. */
export const TROUBLES = {
  ImagePullFailed: words(
    "An image of the build's pod cannot be pulled: {cause}.",
    "Check BUILDER_IMAGE and SLESS_IMAGE, and that the nodes may read them.",
  ),
  ContainerRefused: words("The node cannot start the build: {cause}.", "Correct what the message names."),
  Unschedulable: words(
    "No node takes the build's pod: {cause}.",
    "Add a node, or let builds ask for less (BUILD_MEMORY_REQUEST, BUILD_CPU_REQUEST).",
  ),
  QuotaExceeded: words(
    "The quota of the build namespace leaves no room: {cause}.",
    "Have the quota raised, or let fewer builds run at the same time (BUILD_CONCURRENCY).",
  ),
  Refused: words("The cluster refuses the build: {cause}.", "Have the rule changed that refuses it."),
  OutOfMemory: words(
    "The build used more memory than its {memoryMB} MiB: {cause}.",
    "Raise BUILD_MEMORY, or make the install use less.",
  ),
  DiskFull: words(
    "The build wrote more than its {diskMB} MiB: {cause}.",
    "Raise BUILD_DISK, or leave out dependencies that are not needed.",
  ),
  Evicted: words("The node ended the build: {cause}.", "Wait for the next try, or give builds nodes with more room."),
  BuildTimedOut: words(
    "The build was ended because {cause}.",
    "Check that the registries of its dependencies answer, or raise BUILD_TIMEOUT.",
  ),
  ContextUnavailable: words(
    "The build did not get its files: {cause}.",
    "Check that pods of the build namespace reach the object store; they are stored anew with the next try.",
  ),
  BaseImageUnavailable: words(
    "The base image cannot be pulled: {cause}.",
    "Check that the registry has it, and REGISTRY_MIRROR where it limits how often it is asked.",
  ),
  BuilderFailed: words("The builder failed: {cause}.", "Read the build's output; it is tried again by itself."),
  PushFailed: words("The image was built and not pushed: {cause}.", "Wait for the next try, which comes by itself."),
  PodLost: words("The build did not end: {cause}.", "Wait for the next try, which comes by itself."),
  ResultLost: words(
    "The image was built, and what the build told of it is lost.",
    "Wait for the next try, which comes by itself.",
  ),
} as const satisfies Record<string, Words>;

export type TroubleReason = keyof typeof TROUBLES;

const CONFIG_REASONS = ["CreateContainerConfigError", "CreateContainerError", "RunContainerError"];

/** What keeps a running build from going on; undefined when nothing does (yet). Pure. */
export function troubleOf(
  build: Pick<RunningBuild, "pod" | "refusal" | "now" | "unschedulableSec">,
): Trouble | undefined {
  const { pod, refusal, now, unschedulableSec } = build;
  if (!pod) return refusal === undefined ? undefined : refusalTrouble(refusal);
  const since = unscheduledSince(pod);
  if (since) {
    const isLong = now.getTime() - since.at.getTime() >= unschedulableSec * 1_000;
    return isLong ? trouble("Unschedulable", since.message) : undefined;
  }
  for (const name of CONTAINERS) {
    const found = pod.containers[name] && waitingTrouble(pod.containers[name]);
    if (found) return found;
  }
  return undefined;
}

/** The words of a quota or of whatever else refused a pod or a Job. */
export function refusalTrouble(message: string): Trouble {
  const cause = message.replace(/^Error creating: /, "");
  return trouble(/exceeded quota|must specify|maximum .* usage/i.test(cause) ? "QuotaExceeded" : "Refused", cause);
}

/** Since when it waits for a node, and what the scheduler says of that. */
export function unscheduledSince({ conditions, metadata }: LivePod): { at: Date; message: string } | undefined {
  const scheduled = conditions.find(({ type }) => type === "PodScheduled");
  if (scheduled?.status !== "False" || scheduled.reason !== "Unschedulable") return undefined;
  const at = new Date(scheduled.lastTransitionTime ?? metadata.creationTimestamp ?? 0);
  return { at, message: scheduled.message ?? "no node has room" };
}

function waitingTrouble({ image, waiting }: LiveContainer): Trouble | undefined {
  const { reason = "", message = "" } = waiting ?? {};
  if (PULL_REASONS.includes(reason)) return trouble("ImagePullFailed", `${image}: ${pullCause(message) || reason}`);
  if (CONFIG_REASONS.includes(reason)) return trouble("ContainerRefused", message || reason);
  return undefined;
}

/** The kubelet tells the error itself, and the wait for the next try, in turns. */
function pullCause(message: string): string {
  return message.replace(/^Back-off pulling image "[^"]*"(: (ErrImagePull: )?)?/, "").trim();
}

/** Why the node took the pod away, if it did. */
export function evictionOf(pod: LivePod): { reason: TroubleReason; cause: string } | undefined {
  const disrupted = pod.conditions.find(({ type, status }) => type === "DisruptionTarget" && status === "True");
  if (pod.reason !== "Evicted" && !disrupted) return undefined;
  const cause = pod.message || disrupted?.message || "it gave no reason";
  return { reason: /ephemeral|emptydir/i.test(cause) ? "DiskFull" : "Evicted", cause };
}

function trouble(reason: TroubleReason, cause: string): Trouble {
  return { reason, ...TROUBLES[reason]({ cause, memoryMB: 0, diskMB: 0 }) };
}
