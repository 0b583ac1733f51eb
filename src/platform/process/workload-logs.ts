import { join } from "node:path";
import { refText, type WorkloadRef } from "../../apis/index.ts";
import { type LogFile, logFile } from "../../processes/index.ts";
import { workloadPath } from "./workload-path.ts";

const LOG_MAX_BYTES = 5 * 1024 * 1024;
export const LOG_SUFFIX = ".log";

/** One log per workload, `<folder>/<namespace>/<Kind>-<name>.log`, which its writers and readers share. */
export interface WorkloadLogs {
  of(workload: WorkloadRef): LogFile;
  /** Removes it; followers end. */
  remove(workload: WorkloadRef): Promise<void>;
  finish(): Promise<void>;
}

export function workloadLogs(folder: string): WorkloadLogs {
  const logs = new Map<string, LogFile>();

  function of(workload: WorkloadRef): LogFile {
    const key = refText(workload);
    const known = logs.get(key);
    if (known) return known;
    const path = join(folder, workloadPath(workload) + LOG_SUFFIX);
    const log = logFile(path, { maxBytes: LOG_MAX_BYTES, whenFull: "rotate" });
    logs.set(key, log);
    return log;
  }

  return {
    of,
    async remove(workload) {
      const log = of(workload);
      logs.delete(refText(workload));
      await log.finish();
      await log.clear();
    },
    async finish() {
      await Promise.all([...logs.values()].map((log) => log.finish()));
    },
  };
}
