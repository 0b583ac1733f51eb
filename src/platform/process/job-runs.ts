import { rm } from "node:fs/promises";
import { refText, type WorkloadRef } from "../../apis/index.ts";
import type { LogFile } from "../../processes/index.ts";
import type { JobRun, JobState } from "../platform.ts";
import { type JobRecords, jobRecords } from "./job-records.ts";
import { runJobProcess } from "./run-job.ts";
import type { ReplicaDeps } from "./start-replica.ts";

const INTERRUPTED =
  "Interrupted: sless was ended while it ran, so it may have done a part of its work. Raise spec.runID to run it again.";

/** Runs of jobs: each (workload, runID) is started at most once, ever. */
export interface JobRuns {
  run(run: JobRun): Promise<JobState>;
  /** Stops what runs of it and forgets its runs. */
  remove(workload: WorkloadRef): Promise<void>;
  /** Stops what runs; the next life tells it as interrupted. */
  close(): Promise<void>;
}

interface JobRunsOptions {
  readonly folder: string;
  readonly deps: ReplicaDeps;
  readonly logOf: (workload: WorkloadRef) => LogFile;
  readonly changed: (workload: WorkloadRef) => void;
}

interface ActiveRun {
  readonly workload: WorkloadRef;
  readonly state: Promise<JobState>;
  readonly stop: AbortController;
  readonly done: Promise<void>;
}

export function openJobRuns({ folder, deps, logOf, changed }: JobRunsOptions): JobRuns {
  const records = jobRecords(folder);
  const active = new Map<string, ActiveRun>();
  const now = () => deps.clock.now().toISOString();

  function start(run: JobRun): ActiveRun {
    const { workload } = run.spec;
    const stop = new AbortController();
    const begun = begin(run);
    const state = begun.then(({ state }) => state);
    const done = begun
      .then(async ({ state, fresh }) => {
        if (fresh) await finish(run, state, stop.signal);
      })
      .catch(() => undefined) // whoever asks hears it; the record says what is known
      .finally(() => active.delete(keyOf(run)));
    return { workload, state, stop, done };
  }

  /** Writes down that it runs before it does: should we be killed, it is never started a second time. */
  async function begin(run: JobRun): Promise<{ state: JobState; fresh: boolean }> {
    const known = await recall(run, records, now());
    if (known) return { state: known, fresh: false };
    const jobName = jobNameOf(run.spec.workload, run.runID);
    const state: JobState = { phase: "running", jobName, startTime: now() };
    await records.write(run.spec.workload, run.runID, state);
    return { state, fresh: true };
  }

  async function finish(run: JobRun, state: JobState, signal: AbortSignal): Promise<void> {
    const { spec, runID } = run;
    const files = records.filesOf(spec.workload, runID);
    const options = { jobName: state.jobName, files, log: logOf(spec.workload), deps, signal };
    const end = await runJobProcess(run, options);
    if (!end) return;
    const { jobName, startTime } = state;
    await records.write(spec.workload, runID, { ...end, jobName, startTime, completionTime: now() });
    active.delete(keyOf(run));
    changed(spec.workload);
  }

  async function stopAll(runs: readonly ActiveRun[]): Promise<void> {
    for (const run of runs) run.stop.abort();
    await Promise.all(runs.map((run) => run.done));
  }

  return {
    async run(run) {
      const key = keyOf(run);
      let found = active.get(key);
      if (!found) {
        found = start(run);
        active.set(key, found);
      }
      return found.state;
    },
    async remove(workload) {
      await stopAll([...active.values()].filter((run) => refText(run.workload) === refText(workload)));
      await records.remove(workload);
    },
    async close() {
      await stopAll([...active.values()]);
    },
  };
}

/** What the record says; a run that it calls running, but that is none of ours, ended with an earlier process. */
async function recall({ spec, runID, begun }: JobRun, records: JobRecords, now: string): Promise<JobState | undefined> {
  const known = await records.read(spec.workload, runID);
  const lost: JobState = { phase: "running", jobName: jobNameOf(spec.workload, runID), startTime: now };
  const state = known === "unreadable" ? lost : (known ?? (begun ? lost : undefined));
  if (state?.phase !== "running") return state;
  const interrupted: JobState = { ...state, phase: "failed", completionTime: now, message: INTERRUPTED };
  for (const file of Object.values(records.filesOf(spec.workload, runID))) await rm(file, { force: true });
  await records.write(spec.workload, runID, interrupted);
  return interrupted;
}

function jobNameOf({ name }: WorkloadRef, runID: number): string {
  return `${name}-${runID}`;
}

function keyOf({ spec, runID }: JobRun): string {
  return `${refText(spec.workload)}#${runID}`;
}
