import type { WorkloadRef } from "../../apis/index.ts";
import { SlessError } from "../../errors/index.ts";
import { jobOutcome } from "./job-state.ts";
import type { LiveChild, LiveJob } from "./live-objects.ts";
import { INPUT_SUFFIX, inputNameOf } from "./names.ts";
import type { RunDeps } from "./run-deps.ts";

/** Runs of one job that may be under way at a time, and as many that ended are kept. */
export const RUNS_MAX = 10;

/**
 * Makes room for a run: whoever raises `runID` again and again gets no more Jobs of it than others have in all. Those
 * that ended go, oldest first, and what runs read that are no more.
 *
 * @throws SlessError `runs_busy` when too many have not ended; ApiError
 */
export async function makeRoomForRun(
  workload: WorkloadRef,
  jobName: string,
  { view, writer }: Pick<RunDeps, "view" | "writer">,
): Promise<void> {
  const children = view.children(workload);
  const jobs = children.flatMap(({ kind, object }) =>
    kind === "Job" && object.metadata.name !== jobName ? [object as LiveJob] : [],
  );
  const ended = jobs.filter((job) => jobOutcome(job) !== undefined).sort(byAge);
  const underWay = jobs.filter((job) => jobOutcome(job) === undefined);
  if (underWay.length >= RUNS_MAX) throw new SlessError("runs_busy", { count: underWay.length });
  const read = new Set([jobName, ...underWay.map(({ metadata }) => metadata.name)].map(inputNameOf));
  const inputs = children.flatMap(({ kind, object }) =>
    kind === "Secret" && object.metadata.name.endsWith(INPUT_SUFFIX) && !read.has(object.metadata.name) ? [object] : [],
  );
  for (const input of inputs) await writer.remove("Secret", input);
  for (const job of ended.slice(0, Math.max(0, ended.length - RUNS_MAX + 1))) await writer.remove("Job", job);
}

/** Oldest first; of one second by their names. */
export function byAge(a: LiveChild, b: LiveChild): number {
  const [one, other] = [a, b].map(({ metadata }) => `${metadata.creationTimestamp ?? ""} ${metadata.name}`);
  return one! < other! ? -1 : 1;
}
