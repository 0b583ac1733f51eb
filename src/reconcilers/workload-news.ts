import { type Condition, findCondition, refText, type WorkloadRef, type WorkloadStatus } from "../apis/index.ts";
import type { ProgressEvent } from "../report/index.ts";

export interface StatusChange {
  readonly ref: WorkloadRef;
  readonly before: WorkloadStatus | undefined;
  readonly after: WorkloadStatus;
  /** The wanted version serves, and since when it was on its way: milliseconds; undefined when nothing was rolled out. */
  readonly rolloutMs: number | undefined;
}

/** What to tell of a workload whose status went from `before` to `after`; equal statuses tell nothing. Pure. */
export function workloadNews(change: StatusChange): ProgressEvent[] {
  return [servingNews(change), stoppedNews(change), failedNews(change)].filter((event) => event !== undefined);
}

function servingNews({ ref, before, after, rolloutMs }: StatusChange): ProgressEvent | undefined {
  if (rolloutMs === undefined || after.phase !== "Ready") return undefined;
  const isSame =
    before?.phase === "Ready" &&
    before.imageRef === after.imageRef &&
    before.observedGeneration === after.observedGeneration;
  return isSame ? undefined : { step: "serving", object: ref, url: after.url, durationMs: rolloutMs };
}

function stoppedNews({ ref, before, after }: StatusChange): ProgressEvent | undefined {
  const isStopped = readyOf(after)?.reason === "ScaledToZero";
  const wasStopped =
    readyOf(before)?.reason === "ScaledToZero" && before?.observedGeneration === after.observedGeneration;
  if (!isStopped || wasStopped) return undefined;
  return { step: "finished", object: ref, phase: "Ready", message: "scaled to zero", durationMs: 0 };
}

function failedNews({ ref, before, after }: StatusChange): ProgressEvent | undefined {
  const ready = readyOf(after);
  const isNew = before?.phase !== "Failed" || readyOf(before)?.message !== ready?.message;
  if (after.phase !== "Failed" || !isNew) return undefined;
  return { step: "failed", object: ref, reason: ready?.reason ?? "Failed", message: ready?.message ?? refText(ref) };
}

function readyOf(status: WorkloadStatus | undefined): Condition | undefined {
  return findCondition(status?.conditions, "Ready");
}
