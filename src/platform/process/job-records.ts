import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { WorkloadRef } from "../../apis/index.ts";
import { syncFolder } from "../../disk/index.ts";
import type { JobState } from "../platform.ts";
import { workloadPath } from "./workload-path.ts";

const RUNS_KEPT = 20;

/** The runs of jobs on disk: `<folder>/<namespace>/<Kind>-<name>/<runID>.json`, each whole or not there. */
export interface JobRecords {
  /** What a machine that lost its power left of one says that there was a run, and nothing else of it. */
  read(workload: WorkloadRef, runID: number): Promise<JobState | "unreadable" | undefined>;
  /** On the disk when it resolves: what it says is under way is not begun a second time. */
  write(workload: WorkloadRef, runID: number, state: JobState): Promise<void>;
  remove(workload: WorkloadRef): Promise<void>;
  /** Where a run finds its event, and leaves its result. */
  filesOf(workload: WorkloadRef, runID: number): { readonly event: string; readonly result: string };
}

export function jobRecords(folder: string): JobRecords {
  const folderOf = (workload: WorkloadRef) => join(folder, workloadPath(workload));
  const pathOf = (workload: WorkloadRef, runID: number, suffix: string) =>
    join(folderOf(workload), `${runID}${suffix}`);

  return {
    filesOf: (workload, runID) => ({
      event: pathOf(workload, runID, ".event"),
      result: pathOf(workload, runID, ".result"),
    }),
    async read(workload, runID) {
      try {
        return JSON.parse(await readFile(pathOf(workload, runID, ".json"), "utf8")) as JobState;
      } catch (error) {
        if (error instanceof SyntaxError) return "unreadable";
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
        throw error;
      }
    },
    async write(workload, runID, state) {
      const path = pathOf(workload, runID, ".json");
      await mkdir(dirname(path), { recursive: true });
      await writeFile(`${path}.draft`, JSON.stringify(state), { mode: 0o600, flush: true });
      await rename(`${path}.draft`, path);
      // A new name stands in its folder.
      await syncFolder(dirname(path));
      await removeOldRuns(folderOf(workload), runID);
    },
    remove: (workload) => rm(folderOf(workload), { recursive: true, force: true }),
  };
}

async function removeOldRuns(folder: string, runID: number): Promise<void> {
  const runs = (await readdir(folder))
    .map((name) => /^(\d+)\.json$/.exec(name)?.[1])
    .filter((run) => run !== undefined);
  const old = runs.map(Number).filter((run) => run < runID);
  for (const run of old.sort((a, b) => b - a).slice(RUNS_KEPT)) await rm(join(folder, `${run}.json`), { force: true });
}
