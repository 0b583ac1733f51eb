import { messageOf } from "../../errors/index.ts";
import { API_RESOURCES, type ApiObject, type Selection, watchResource } from "../../kubernetes/index.ts";
import { type LogLine, logLines, toText } from "./log-lines.ts";
import type { LogOptions } from "./pod-logs.ts";

const AGAIN_MS = 1_000;
/** So much waits for whoever reads; then the pods' streams wait too. */
const WAITING_MAX_CHARS = 1024 * 1024;

/**
 * Goes on after `since` (the last stamp of each pod), with pods that come later too, until the signal aborts. Pods that
 * print faster than it is read are slowed down here, not collected.
 */
export async function* followPods(
  selection: Selection,
  since: Map<string, string>,
  options: LogOptions,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const { client, clock, log } = options;
  const lines = lineQueue(signal);
  const pods = watchResource<ApiObject>(client, API_RESOURCES.Pod, { ...selection, clock, log });
  const followed = new Set<string>();
  const follow = (pod: ApiObject) => {
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

  async function followPod(pod: ApiObject): Promise<boolean> {
    const { name } = pod.metadata;
    const from = since.get(name);
    const query = { follow: true, sinceTime: from && `${from.slice(0, 19)}Z` };
    try {
      for await (const line of logLines(pod, query, client, signal)) {
        // `sinceTime` counts whole seconds.
        if (line.stamp !== "" && line.stamp <= (since.get(name) ?? "")) continue;
        if (line.stamp !== "") since.set(name, line.stamp);
        await lines.put(line);
      }
      return true;
    } catch (error) {
      log.warn({ pod: name, err: messageOf(error) }, "log interrupted");
      return false;
    }
  }
  void pods.start(signal).catch(() => undefined);
  yield* lines.texts();
}

interface LineQueue {
  /** Resolves when there is room for a further one, or nobody reads any more. */
  put(line: LogLine): Promise<void>;
  /** What was put since, until the signal aborts. */
  texts(): AsyncGenerator<Uint8Array>;
}

function lineQueue(signal: AbortSignal): LineQueue {
  let waiting: string[] = [];
  let chars = 0;
  const wakes: (() => void)[] = [];
  const wake = () => {
    for (const resolve of wakes.splice(0)) resolve();
  };
  const news = () => new Promise<void>((resolve) => void wakes.push(resolve));
  signal.addEventListener("abort", wake, { once: true });
  return {
    async put(line) {
      const text = toText(line);
      waiting.push(text);
      chars += text.length;
      wake();
      while (chars > WAITING_MAX_CHARS && !signal.aborted) await news();
    },
    async *texts() {
      while (!signal.aborted) {
        if (chars === 0) {
          await news();
          continue;
        }
        const text = waiting.join("");
        waiting = [];
        chars = 0;
        wake();
        yield Buffer.from(text);
      }
    },
  };
}
