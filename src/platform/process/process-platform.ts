import { join } from "node:path";
import { type ObjectKey, refText, type WorkloadRef } from "../../apis/index.ts";
import type { Clock } from "../../controller/clock.ts";
import { createSlots } from "../../controller/slots.ts";
import type { ProcessSupervisor } from "../../processes/index.ts";
import type { Platform } from "../platform.ts";
import { openJobRuns } from "./job-runs.ts";
import { isKept, keptWorkloads } from "./kept-workloads.ts";
import type { ImageSource } from "./prepare-run.ts";
import type { Environment } from "./replica-environment.ts";
import { openRollouts } from "./rollouts.ts";
import { servingRecords } from "./serving-records.ts";
import type { ReplicaDeps } from "./start-replica.ts";
import { DEFAULT_TIMING, type Timing } from "./timing.ts";
import { LOG_SUFFIX, workloadLogs } from "./workload-logs.ts";

const STARTS_AT_ONCE = 8;

export interface ProcessPlatformOptions extends ImageSource {
  /** Logs, runs of jobs, and what serves; used by one process at a time. */
  readonly folder: string;
  readonly processes: ProcessSupervisor;
  readonly clock: Clock;
  /** Environment of every replica below its own: PATH, HOME, LANG, TMPDIR. */
  readonly baseEnv: Environment;
  /** Default 127.0.0.1. */
  readonly host?: string;
  readonly timing?: Partial<Timing>;
}

export interface ProcessPlatform extends Platform {
  /** The replicas that got other values of the secret are replaced, one revision by the next. */
  secretChanged(secret: ObjectKey): Promise<void>;
  /** Stops every replica and job; nothing of them is left when it resolves. */
  close(): Promise<void>;
}

/**
 * A Platform of child processes on loopback ports. It isolates nobody from anybody: one user's own machine. What served
 * in an earlier life of the folder is started again at once.
 */
export function processPlatform(options: ProcessPlatformOptions): ProcessPlatform {
  const deps = replicaDeps(options);
  const shelves = {
    logs: { folder: join(options.folder, "logs"), suffix: LOG_SUFFIX },
    jobs: { folder: join(options.folder, "jobs"), suffix: "" },
  };
  const listeners = new Set<(workload: WorkloadRef) => void>();
  const changed = (workload: WorkloadRef) => {
    for (const listener of listeners) listener(workload);
  };
  const records = servingRecords(join(options.folder, "serving"));
  const logs = workloadLogs(shelves.logs.folder);
  const rollouts = openRollouts({ deps, logs, records, changed });
  const jobs = openJobRuns({ folder: shelves.jobs.folder, deps, logOf: logs.of, changed });
  /** Everything but `acquire` waits for it: by then it is known what served, and its replicas are starting. */
  const resumed = rollouts.resume();

  return {
    async apply(spec, replicas) {
      await resumed;
      return rollouts.apply(spec, replicas);
    },
    async secretChanged(secret) {
      await resumed;
      await rollouts.secretChanged(secret);
    },
    async remove(workload) {
      await resumed;
      await rollouts.remove(workload);
      await jobs.remove(workload);
      await logs.remove(workload);
    },
    async state(workload) {
      await resumed;
      const known = rollouts.get(workload);
      if (known) return known.state();
      return (await isKept(workload, Object.values(shelves))) ? { serving: 0, current: false } : undefined;
    },
    async list() {
      await resumed;
      const all = [...(await keptWorkloads(Object.values(shelves))), ...rollouts.workloads()];
      const byKey = new Map(all.map((ref) => [refText(ref), ref]));
      return [...byKey.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, ref]) => ref);
    },
    acquire: (workload) => rollouts.get(workload)?.acquire(),
    runJob: (run) => jobs.run(run),
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    logs: (workload, readOptions) => logs.of(workload).read(readOptions),
    async close() {
      await resumed;
      await Promise.all([jobs.close(), rollouts.stop()]);
      await logs.finish();
    },
  };
}

function replicaDeps(options: ProcessPlatformOptions): ReplicaDeps {
  return {
    ...options,
    host: options.host ?? "127.0.0.1",
    timing: { ...DEFAULT_TIMING, ...options.timing },
    starts: createSlots(STARTS_AT_ONCE),
  };
}
