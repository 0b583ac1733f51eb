import { CHILD_LABELS, deployNamespaceOf, type WorkloadRef } from "../../apis/index.ts";
import type { TimerClock } from "../../controller/clock.ts";
import { createSlots } from "../../controller/slots.ts";
import { API_RESOURCES, type ApiObject, type KubernetesClient, listObjects } from "../../kubernetes/index.ts";
import type { Platform } from "../platform.ts";
import { followPods } from "./follow-pods.ts";
import { type LogLine, logLines, toText } from "./log-lines.ts";
import { labelsOf } from "./names.ts";
import { RESULT_LINES_MAX } from "./result-lines.ts";

export interface LogOptions {
  /** One of its own: a log that is followed keeps a connection for each replica, of which a client has so many. */
  readonly client: KubernetesClient;
  readonly clock: TimerClock;
  readonly log: { warn(fields: object, message: string): void };
}

interface LoggedPod extends ApiObject {
  status?: { containerStatuses?: { restartCount?: number; state?: { waiting?: object } }[] };
}

/** No more of one container's output is read at once, */
const READ_MAX_BYTES = 5 * 1024 * 1024;
/** and of all containers of a workload together; each has its share, which is not less than the last. */
const READ_ALL_MAX_BYTES = 16 * 1024 * 1024;
const READ_LEAST_BYTES = 128 * 1024;
/** What is read stands in memory as lines until all of it is sorted: workloads that are read at a time. */
const READING_MAX = 2;

/** Output of a workload's pods. It asks the API server itself, so a process needs no watches for it, only `pods` and `pods/log`. */
export function kubernetesLogs(options: LogOptions): Pick<Platform, "logs"> {
  const reading = createSlots(READING_MAX).run;
  return {
    async *logs(workload, { follow, tailLines, signal }) {
      const { text, last } = await reading(() => readAll(workload, tailLines, options, signal));
      if (text.length > 0) yield text;
      if (follow) yield* followPods(selectionOf(workload), last, options, signal);
    },
  };
}

interface Read {
  readonly text: Buffer;
  /** Stamp of the last line of each pod. */
  readonly last: Map<string, string>;
}

/** What all pods have printed so far, oldest first. */
async function readAll(
  workload: WorkloadRef,
  tailLines: number | undefined,
  options: LogOptions,
  signal: AbortSignal,
): Promise<Read> {
  signal.throwIfAborted();
  const { items } = await listObjects<LoggedPod>(options.client, API_RESOURCES.Pod, selectionOf(workload), signal);
  const lives = items.flatMap((pod) => livesOf(pod).map((previous) => ({ pod, previous })));
  const query = { tailLines: askedLines(workload, tailLines), limitBytes: shareOf(lives.length) };
  const lines: LogLine[] = [];
  const read = lives.map(async ({ pod, previous }) => {
    for await (const line of logLines(pod, { ...query, previous }, options.client, signal)) lines.push(line);
  });
  await Promise.all(read);
  lines.sort((a, b) => (a.stamp < b.stamp ? -1 : a.stamp > b.stamp ? 1 : 0));
  const shown = tailLines === undefined ? lines : lines.slice(Math.max(0, lines.length - tailLines));
  return { text: Buffer.from(shown.map(toText).join("")), last: lastStamps(lines) };
}

/** Of a container that was started anew, what its last life printed is told too. */
function livesOf(pod: LoggedPod): boolean[] {
  const [status] = pod.status?.containerStatuses ?? [];
  return [...((status?.restartCount ?? 0) > 0 ? [true] : []), false];
}

/** Those at the end of a run's log that are not shown are counted by the node too. */
function askedLines({ kind }: WorkloadRef, tailLines: number | undefined): number | undefined {
  return tailLines !== undefined && kind === "FunctionJob" ? tailLines + RESULT_LINES_MAX : tailLines;
}

function shareOf(lives: number): number {
  return Math.min(READ_MAX_BYTES, Math.max(READ_LEAST_BYTES, Math.floor(READ_ALL_MAX_BYTES / Math.max(1, lives))));
}

function selectionOf(workload: WorkloadRef): { namespace: string; labelSelector: string } {
  const labels = labelsOf(workload);
  const terms = [CHILD_LABELS.managedBy, CHILD_LABELS.kind, CHILD_LABELS.workload].map(
    (key) => `${key}=${labels[key]}`,
  );
  return { namespace: deployNamespaceOf(workload.namespace), labelSelector: terms.join(",") };
}

function lastStamps(lines: readonly LogLine[]): Map<string, string> {
  return new Map(lines.flatMap(({ pod, stamp }) => (stamp === "" ? [] : [[pod, stamp]])));
}
