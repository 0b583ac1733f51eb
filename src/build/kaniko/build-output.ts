import { messageOf } from "../../errors/index.ts";
import { API_RESOURCES, apiPath, isApiError, type KubernetesClient } from "../../kubernetes/index.ts";
import type { BuildContainer } from "./build-names.ts";
import { commandIn, stepIn, withoutCredentials } from "./executor-output.ts";
import type { LiveJob, LivePod } from "./live-builds.ts";

/** What was heard of a build's commands. */
export interface Heard {
  /** What the executor said last of itself. */
  readonly step: string | undefined;
  readonly command: readonly string[] | undefined;
  /** The last lines. */
  readonly output: string;
}

/** Listens to the commands of builds that run, and keeps the last of what they say. */
export interface BuildOutputs {
  /** Begins to listen when its commands run, unless it does already. */
  listen(job: LiveJob, pod: LivePod): void;
  heard(job: LiveJob): Heard | undefined;
  forget(job: LiveJob): void;
}

export interface OutputOptions {
  readonly client: KubernetesClient;
  readonly log: { warn(fields: object, message: string): void };
  /** Ends all listening. */
  readonly signal: AbortSignal;
  /** A build says of itself that it does something else now. */
  readonly stepped: (job: LiveJob) => void;
}

const KEPT_LINES = 200;
const LINE_MAX = 2_000;
/** No more of a container's output is read at once. */
const READ_MAX_BYTES = 10 * 1024 * 1024;

interface Listening extends Heard {
  step: string | undefined;
  command: readonly string[] | undefined;
  readonly lines: string[];
  isOn: boolean;
}

export function openBuildOutputs({ client, log, signal, stepped }: OutputOptions): BuildOutputs {
  const all = new Map<string, Listening>();

  async function listenTo(job: LiveJob, pod: LivePod, into: Listening): Promise<void> {
    into.lines.length = 0;
    try {
      for await (const line of containerLines(client, pod, "build", { follow: true, signal })) {
        into.lines.push(line.slice(0, LINE_MAX));
        if (into.lines.length > KEPT_LINES) into.lines.shift();
        into.command = commandIn(line) ?? into.command;
        const step = stepIn(line);
        if (step === undefined || step === into.step) continue;
        into.step = step;
        stepped(job);
      }
    } catch (error) {
      log.warn({ pod: pod.metadata.name, err: messageOf(error) }, "output of a build interrupted");
    }
    into.isOn = false;
  }

  return {
    listen(job, pod) {
      const { uid = "" } = job.metadata;
      const into = all.get(uid) ?? newListening();
      if (into.isOn || !pod.containers.build?.running || signal.aborted) return;
      into.isOn = true;
      all.set(uid, into);
      void listenTo(job, pod, into);
    },
    heard: ({ metadata }) => all.get(metadata.uid ?? ""),
    forget: ({ metadata }) => void all.delete(metadata.uid ?? ""),
  };
}

function newListening(): Listening {
  const lines: string[] = [];
  return {
    step: undefined,
    command: undefined,
    lines,
    isOn: false,
    get output() {
      return lines.join("\n");
    },
  };
}

/** The last lines of a build's commands after they ended; undefined when they cannot be had any more. */
export async function readHeard(client: KubernetesClient, pod: LivePod): Promise<Heard | undefined> {
  const heard = newListening();
  try {
    for await (const line of containerLines(client, pod, "build", { tailLines: KEPT_LINES })) {
      heard.lines.push(line.slice(0, LINE_MAX));
      heard.command = commandIn(line) ?? heard.command;
    }
  } catch {
    return undefined;
  }
  return heard.lines.length > 0 ? heard : undefined;
}

/** Output of a container, without credentials; with `follow` until it ends. Nothing when it has not begun, or is gone. */
export async function* containerOutput(
  client: KubernetesClient,
  pod: LivePod,
  container: BuildContainer,
  options: { readonly follow: boolean; readonly signal: AbortSignal },
): AsyncGenerator<Uint8Array> {
  for await (const line of containerLines(client, pod, container, options))
    yield Buffer.from(`${withoutCredentials(line)}\n`);
}

async function* containerLines(
  client: KubernetesClient,
  { metadata }: LivePod,
  container: BuildContainer,
  { signal, ...query }: { readonly follow?: boolean; readonly tailLines?: number; readonly signal?: AbortSignal },
): AsyncGenerator<string> {
  const chunks = client.stream({
    method: "GET",
    path: apiPath(API_RESOURCES.Pod, { ...metadata, subresource: "log" }),
    query: { container, ...(query.follow ? {} : { limitBytes: READ_MAX_BYTES }), ...query },
    accept: "*/*",
    ...(signal ? { signal } : {}),
  });
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for await (const chunk of chunks) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      // A command that prints no line break must not fill the memory.
      if (rest.length > READ_MAX_BYTES) rest = rest.slice(-LINE_MAX);
      yield* lines;
    }
    if (rest !== "") yield rest;
  } catch (error) {
    if (!isApiError(error, 400) && !isApiError(error, 404)) throw error;
  }
}
