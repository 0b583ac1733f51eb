import type { WorkloadRef } from "../../apis/index.ts";
import type { TimerClock } from "../../controller/clock.ts";
import { messageOf } from "../../errors/index.ts";
import {
  API_RESOURCES,
  type ApiObject,
  apiPath,
  isApiError,
  type KubernetesClient,
  listObjects,
  watchResource,
} from "../../kubernetes/index.ts";
import type { Platform } from "../platform.ts";
import { CHILD_LABELS, deployNamespaceOf, labelsOf } from "./names.ts";
import { CONTAINER } from "./pod-spec.ts";

export interface LogOptions {
  readonly client: KubernetesClient;
  readonly clock: TimerClock;
  readonly log: { warn(fields: object, message: string): void };
}

/** A line of a pod's log. `stamp` is RFC 3339 with nanoseconds and in UTC, so that it sorts as text; empty when there is none. */
interface Line {
  readonly stamp: string;
  readonly pod: string;
  readonly text: string;
}

interface LoggedPod extends ApiObject {
  status?: { containerStatuses?: { restartCount?: number; state?: { waiting?: object } }[] };
}

/** No more of one container's output is read at once. */
const READ_MAX_BYTES = 5 * 1024 * 1024;
const AGAIN_MS = 1_000;
/** What a node answers in place of a log that it has removed. */
const NO_LOG = /^(unable to retrieve container logs|failed to try resolving symlinks)/;

/** Output of a workload's pods. It asks the API server itself, so a process needs no watches for it, only `pods` and `pods/log`. */
export function kubernetesLogs(options: LogOptions): Pick<Platform, "logs"> {
  return {
    async *logs(workload, { follow, tailLines, signal }) {
      const pods = await listPods(workload, options.client, signal);
      const lines = (await Promise.all(pods.map((pod) => readPod(pod, tailLines, options, signal)))).flat();
      lines.sort((a, b) => (a.stamp < b.stamp ? -1 : a.stamp > b.stamp ? 1 : 0));
      const shown = tailLines === undefined ? lines : lines.slice(Math.max(0, lines.length - tailLines));
      if (shown.length > 0) yield Buffer.from(shown.map(toText).join(""));
      if (follow) yield* followPods(workload, lastStamps(lines), options, signal);
    },
  };
}

/** `2026-01-01T00:00:00.123Z hello-5d9f-x2k text` */
function toText({ stamp, pod, text }: Line): string {
  const time = stamp === "" ? "" : `${stamp.slice(0, 23)}Z `;
  return `${time}${pod} ${text}\n`;
}

function selectorText(workload: WorkloadRef): string {
  const labels = labelsOf(workload);
  return [CHILD_LABELS.managedBy, CHILD_LABELS.kind, CHILD_LABELS.workload]
    .map((key) => `${key}=${labels[key]}`)
    .join(",");
}

async function listPods(workload: WorkloadRef, client: KubernetesClient, signal: AbortSignal): Promise<LoggedPod[]> {
  const selection = { namespace: deployNamespaceOf(workload.namespace), labelSelector: selectorText(workload) };
  const { items } = await listObjects<LoggedPod>(client, API_RESOURCES.Pod, selection, signal);
  return items;
}

/** What a pod has printed so far; of a container that was started anew, what its last life printed too. */
async function readPod(
  pod: LoggedPod,
  tailLines: number | undefined,
  options: LogOptions,
  signal: AbortSignal,
): Promise<Line[]> {
  const [status] = pod.status?.containerStatuses ?? [];
  const query = { tailLines, limitBytes: READ_MAX_BYTES };
  const lives = [...((status?.restartCount ?? 0) > 0 ? [true] : []), false];
  const read = lives.map(async (previous) => {
    const lines: Line[] = [];
    for await (const line of linesOf(pod, { ...query, previous }, options.client, signal)) lines.push(line);
    return lines;
  });
  return (await Promise.all(read)).flat();
}

function lastStamps(lines: readonly Line[]): Map<string, string> {
  return new Map(lines.flatMap(({ pod, stamp }) => (stamp === "" ? [] : [[pod, stamp]])));
}

/** Lines of a container from the API server; none when it has not started, or is gone. */
async function* linesOf(
  { metadata }: ApiObject,
  query: Readonly<Record<string, string | number | boolean | undefined>>,
  client: KubernetesClient,
  signal: AbortSignal,
): AsyncGenerator<Line> {
  const path = apiPath(API_RESOURCES.Pod, { ...metadata, subresource: "log" });
  const chunks = client.stream({
    method: "GET",
    path,
    query: { container: CONTAINER, timestamps: true, ...query },
    accept: "*/*",
    signal,
  });
  let rest = "";
  const decoder = new TextDecoder();
  try {
    for await (const chunk of chunks) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) if (!NO_LOG.test(line)) yield toLine(metadata.name, line);
    }
    if (rest !== "" && !NO_LOG.test(rest)) yield toLine(metadata.name, rest);
  } catch (error) {
    if (!isApiError(error, 400) && !isApiError(error, 404)) throw error;
  }
}

function toLine(pod: string, line: string): Line {
  const [stamped, stamp] = /^(\d{4}-\d\d-\d\dT\S+) /.exec(line) ?? ["", ""];
  return { stamp: utc(stamp), pod, text: line.slice(stamped.length) };
}

/** Some nodes write their own time zone. */
function utc(stamp: string): string {
  if (stamp === "" || stamp.endsWith("Z")) return stamp;
  const fraction = /\.(\d+)/.exec(stamp)?.[1] ?? "0";
  const time = Date.parse(stamp);
  return Number.isNaN(time) ? stamp : `${new Date(time).toISOString().slice(0, 19)}.${fraction.padEnd(9, "0")}Z`;
}

/** Goes on after `since`, with pods that come later too, until the signal aborts. */
async function* followPods(
  workload: WorkloadRef,
  since: Map<string, string>,
  options: LogOptions,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const { client, clock, log } = options;
  const waiting: Line[] = [];
  let wake = () => {};
  const pods = watchResource<LoggedPod>(client, API_RESOURCES.Pod, {
    clock,
    log,
    namespace: deployNamespaceOf(workload.namespace),
    labelSelector: selectorText(workload),
  });
  const followed = new Set<string>();
  const follow = (pod: LoggedPod) => {
    const { namespace, name } = pod.metadata;
    if (signal.aborted || followed.has(name) || !pods.get(namespace, name)) return;
    followed.add(name);
    void followPod(pod).then((isDone) => {
      followed.delete(name);
      // What ended goes on when its container is started anew, which the watch tells.
      if (!isDone) clock.setTimer(AGAIN_MS, () => follow(pod));
    });
  };
  pods.onChange(follow);

  async function followPod(pod: LoggedPod): Promise<boolean> {
    const { name } = pod.metadata;
    const from = since.get(name);
    const query = { follow: true, sinceTime: from && `${from.slice(0, 19)}Z` };
    try {
      for await (const line of linesOf(pod, query, client, signal)) {
        // `sinceTime` counts whole seconds.
        if (line.stamp !== "" && line.stamp <= (since.get(name) ?? "")) continue;
        if (line.stamp !== "") since.set(name, line.stamp);
        waiting.push(line);
        wake();
      }
      return true;
    } catch (error) {
      log.warn({ pod: name, err: messageOf(error) }, "log interrupted");
      return false;
    }
  }
  signal.addEventListener("abort", () => wake(), { once: true });
  void pods.start(signal).catch(() => undefined);
  while (!signal.aborted) {
    if (waiting.length > 0) yield Buffer.from(waiting.splice(0).map(toText).join(""));
    else
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
  }
}
