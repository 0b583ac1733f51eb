import { access, readdir } from "node:fs/promises";
import { join } from "node:path";
import { refText, type WorkloadRef } from "../../apis/index.ts";
import type { Clock } from "../../controller/clock.ts";
import { type LogFile, logFile, type ProcessSupervisor } from "../../processes/index.ts";
import type { Platform, WorkloadSpec } from "../platform.ts";
import { openJobRuns } from "./job-runs.ts";
import type { ImageSource } from "./prepare-run.ts";
import type { Environment } from "./replica-environment.ts";
import { openRollout, type Rollout } from "./rollout.ts";
import { servingRecords } from "./serving-records.ts";
import { openSlots } from "./slots.ts";
import type { ReplicaDeps } from "./start-replica.ts";
import { DEFAULT_TIMING, type Timing } from "./timing.ts";
import { workloadOfPath, workloadPath } from "./workload-path.ts";

const LOG_MAX_BYTES = 5 * 1024 * 1024;
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
  /** Stops every replica and job; nothing of them is left when it resolves. */
  close(): Promise<void>;
}

/**
 * A Platform of child processes on loopback ports. It isolates nobody from anybody: one user's own machine. What served
 * in an earlier life of the folder is started again at once.
 */
export function processPlatform(options: ProcessPlatformOptions): ProcessPlatform {
  const deps: ReplicaDeps = {
    ...options,
    host: options.host ?? "127.0.0.1",
    timing: { ...DEFAULT_TIMING, ...options.timing },
    starts: openSlots(STARTS_AT_ONCE),
  };
  const logsFolder = join(options.folder, "logs");
  const jobsFolder = join(options.folder, "jobs");
  const records = servingRecords(join(options.folder, "serving"));
  const rollouts = new Map<string, Rollout>();
  const logs = new Map<string, LogFile>();
  const listeners = new Set<(workload: WorkloadRef) => void>();
  const leaving = new Set<Rollout>();

  function changed(workload: WorkloadRef): void {
    for (const listener of listeners) listener(workload);
  }

  function logOf(workload: WorkloadRef): LogFile {
    const key = refText(workload);
    const known = logs.get(key);
    if (known) return known;
    const log = logFile(join(logsFolder, `${workloadPath(workload)}.log`), {
      maxBytes: LOG_MAX_BYTES,
      whenFull: "rotate",
    });
    logs.set(key, log);
    return log;
  }

  function rolloutOf(workload: WorkloadRef): Rollout {
    const key = refText(workload);
    const known = rollouts.get(key);
    if (known) return known;
    const rollout = openRollout({
      workload,
      log: logOf(workload),
      deps,
      changed: () => changed(workload),
      keep: (serving) => void records.keep(workload, serving),
    });
    rollouts.set(key, rollout);
    return rollout;
  }

  const jobs = openJobRuns({ folder: jobsFolder, deps, logOf, changed });
  /** Everything but `acquire` waits for it: by then it is known what served, and its replicas are starting. */
  const resumed = resume();

  async function resume(): Promise<void> {
    const isThere = async ({ imageRef }: WorkloadSpec) => (await deps.resolveImage(imageRef)) !== undefined;
    for (const serving of await records.read(isThere)) rolloutOf(serving.spec.workload).resume(serving);
  }

  async function list(): Promise<WorkloadRef[]> {
    await resumed;
    const kept = [...(await workloadsIn(logsFolder, ".log")), ...(await workloadsIn(jobsFolder, ""))];
    const byKey = new Map(kept.map((ref) => [refText(ref), ref]));
    for (const key of rollouts.keys()) {
      const [kind, namespace, name] = key.split("/") as [WorkloadRef["kind"], string, string];
      byKey.set(key, { kind, namespace, name });
    }
    return [...byKey.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, ref]) => ref);
  }

  async function remove(workload: WorkloadRef): Promise<void> {
    await resumed;
    const key = refText(workload);
    const rollout = rollouts.get(key);
    rollouts.delete(key);
    if (rollout) {
      leaving.add(rollout);
      void rollout.retire().finally(() => leaving.delete(rollout));
    }
    await records.keep(workload, undefined);
    await jobs.remove(workload);
    const log = logOf(workload);
    logs.delete(key);
    await log.finish();
    await log.clear();
  }

  return {
    async apply(spec, replicas) {
      await resumed;
      return rolloutOf(spec.workload).apply(spec, replicas);
    },
    remove,
    async state(workload) {
      await resumed;
      const known = rollouts.get(refText(workload));
      if (known) return known.state();
      const path = workloadPath(workload);
      const kept = [join(logsFolder, `${path}.log`), join(jobsFolder, path)];
      return (await Promise.all(kept.map(exists))).includes(true) ? { serving: 0, current: false } : undefined;
    },
    list,
    acquire: (workload) => rollouts.get(refText(workload))?.acquire(),
    runJob: (run) => jobs.run(run),
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    logs: (workload, readOptions) => logOf(workload).read(readOptions),
    async close() {
      await resumed;
      const all = [...rollouts.values(), ...leaving];
      await Promise.all([jobs.close(), ...all.map((rollout) => rollout.stop())]);
      await records.flush();
      await Promise.all([...logs.values()].map((log) => log.finish()));
    },
  };
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

async function workloadsIn(folder: string, suffix: string): Promise<WorkloadRef[]> {
  const namespaces = await readdir(folder).catch(() => []);
  const lists = namespaces.map(async (namespace) => {
    const names = await readdir(join(folder, namespace)).catch(() => []);
    return names
      .filter((name) => name.endsWith(suffix))
      .map((name) => workloadOfPath(namespace, name.slice(0, name.length - suffix.length)))
      .filter((ref) => ref !== undefined);
  });
  return (await Promise.all(lists)).flat();
}
