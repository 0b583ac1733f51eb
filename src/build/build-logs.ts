import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { refText, type WorkloadRef } from "../apis/index.ts";
import { type LogFile, logFile } from "../processes/index.ts";

const LOG_MAX_BYTES = 10 * 1024 * 1024;

/** Output of builds: a log per key, and which key each workload built last. */
export interface BuildLogs {
  /** An empty log for a build that begins. */
  begin(key: string): Promise<LogFile>;
  /** The workload's last build is of this key, as far as this process tells. */
  point(workload: WorkloadRef, key: string): void;
  /** The same, also after a restart. */
  pointDurably(workload: WorkloadRef, key: string): Promise<void>;
  /** Log of the workload's last build; undefined before the first. */
  of(workload: WorkloadRef): Promise<LogFile | undefined>;
  /** No more is written to the log of the key. */
  end(key: string): Promise<void>;
  collect(keep: ReadonlySet<string>): Promise<void>;
}

export function buildLogs(folder: string): BuildLogs {
  const writing = new Map<string, LogFile>();
  const pointers = new Map<string, string>();
  const open = (key: string) => logFile(join(folder, `${key}.log`), { maxBytes: LOG_MAX_BYTES, whenFull: "stop" });
  const pointerOf = ({ kind, namespace, name }: WorkloadRef) => join(folder, "workloads", namespace, `${kind}-${name}`);

  async function keyOf(workload: WorkloadRef): Promise<string | undefined> {
    const known = pointers.get(refText(workload));
    return known ?? (await readFile(pointerOf(workload), "utf8").catch(() => undefined));
  }

  return {
    async begin(key) {
      const log = open(key);
      writing.set(key, log);
      await log.clear();
      return log;
    },
    point: (workload, key) => void pointers.set(refText(workload), key),
    async pointDurably(workload, key) {
      pointers.set(refText(workload), key);
      try {
        await mkdir(dirname(pointerOf(workload)), { recursive: true });
        await writeFile(pointerOf(workload), key);
      } catch {
        // A full disk costs the way to old output, not the build.
      }
    },
    async of(workload) {
      const key = await keyOf(workload);
      if (key === undefined || !/^[0-9a-f]{64}$/.test(key)) return undefined;
      const log = writing.get(key);
      if (log) return log;
      const ended = open(key);
      await ended.finish();
      return ended;
    },
    async end(key) {
      const log = writing.get(key);
      writing.delete(key);
      await log?.finish();
    },
    async collect(keep) {
      const names = await readdir(folder).catch(() => []);
      const pointed = new Set(pointers.values());
      for (const name of names.filter((entry) => entry.endsWith(".log"))) {
        const key = name.slice(0, -".log".length);
        if (!keep.has(key) && !writing.has(key) && !pointed.has(key)) {
          await rm(join(folder, name), { force: true });
        }
      }
    },
  };
}
