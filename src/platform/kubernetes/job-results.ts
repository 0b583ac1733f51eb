import type { WorkloadRef } from "../../apis/index.ts";
import { createSlots } from "../../controller/slots.ts";
import { cutResultBytes } from "../truncate-message.ts";
import type { LivePod } from "./live-objects.ts";
import { type ReadOptions, readResult } from "./read-result.ts";

/** Results that were too long for the status of their pod. */
export interface JobResults {
  /** The result that `message`, of the pod's status, tells; undefined while it is read: the workload is told of it then. */
  of(workload: WorkloadRef, pod: LivePod, message: string): string | undefined;
}

interface ResultOptions extends Omit<ReadOptions, "turn"> {
  tell(workload: WorkloadRef): void;
}

/** Logs that are read at a time. */
const READING_MAX = 4;
/** Results that were read and may be asked for again, until they stand in a status. */
const KEPT_MAX = 64;

export function jobResults({ tell, ...options }: ResultOptions): JobResults {
  const turn = createSlots(READING_MAX).run;
  const underWay = new Set<string>();
  const kept = new Map<string, string>();

  async function read(workload: WorkloadRef, pod: LivePod, cut: string): Promise<void> {
    const key = keyOf(pod);
    underWay.add(key);
    const result = await readResult(pod, cut, { ...options, turn });
    underWay.delete(key);
    if (options.signal.aborted) return;
    kept.set(key, result);
    const [oldest] = kept.keys();
    if (kept.size > KEPT_MAX && oldest !== undefined) kept.delete(oldest);
    tell(workload);
  }

  return {
    of(workload, pod, message) {
      if (cutResultBytes(message) === undefined) return message;
      const key = keyOf(pod);
      if (!kept.has(key) && !underWay.has(key)) void read(workload, pod, message);
      return kept.get(key);
    },
  };
}

function keyOf({ metadata }: LivePod): string {
  return metadata.uid ?? `${metadata.namespace}/${metadata.name}`;
}
