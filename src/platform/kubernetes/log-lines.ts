import { API_RESOURCES, type ApiObject, apiPath, isApiError, type KubernetesClient } from "../../kubernetes/index.ts";
import { CONTAINER } from "./pod-spec.ts";
import { isResultLine } from "./result-lines.ts";

/** A line of a pod's log. `stamp` is RFC 3339 with nanoseconds and in UTC, so that it sorts as text; empty when there is none. */
export interface LogLine {
  readonly stamp: string;
  readonly pod: string;
  readonly text: string;
}

/** Output without line breaks is told in parts of this many characters. */
const LINE_MAX = 64 * 1024;
/** What a node answers in place of a log that it has removed. */
const NO_LOG = /^(unable to retrieve container logs|failed to try resolving symlinks)/;

/** `2026-01-01T00:00:00.123Z hello-5d9f-x2k text` */
export function toText({ stamp, pod, text }: LogLine): string {
  const time = stamp === "" ? "" : `${stamp.slice(0, 23)}Z `;
  return `${time}${pod} ${text}\n`;
}

/** Lines of a container from the API server, without those that are for sless; none when it has not started, or is gone. */
export async function* logLines(
  { metadata }: ApiObject,
  query: Readonly<Record<string, string | number | boolean | undefined>>,
  client: KubernetesClient,
  signal: AbortSignal,
): AsyncGenerator<LogLine> {
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
      for (; rest.length > LINE_MAX; rest = rest.slice(LINE_MAX)) lines.push(rest.slice(0, LINE_MAX));
      yield* shownOf(metadata.name, lines);
    }
    if (rest !== "") yield* shownOf(metadata.name, [rest]);
  } catch (error) {
    if (!isApiError(error, 400) && !isApiError(error, 404)) throw error;
  }
}

function shownOf(pod: string, lines: readonly string[]): LogLine[] {
  return lines
    .filter((line) => !NO_LOG.test(line))
    .map((line) => toLine(pod, line))
    .filter(({ text }) => !isResultLine(text));
}

function toLine(pod: string, line: string): LogLine {
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
