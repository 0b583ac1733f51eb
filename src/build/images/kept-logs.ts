import { buffer } from "node:stream/consumers";
import { sourceKeyPrefix, type WorkloadRef } from "../../apis/index.ts";
import type { LogFile } from "../../processes/index.ts";
import type { ObjectStore } from "../../storage/index.ts";

/** Logs of ended builds in the object store: other processes of sless, and later ones, have them too. */
export interface KeptLogs {
  /** Begins to store it; a store that refuses costs the log, not the build. */
  keep(workload: WorkloadRef, endedAt: Date, log: LogFile): void;
  last(workload: WorkloadRef): Promise<Uint8Array | undefined>;
  /** Resolves when all is stored. */
  settled(): Promise<void>;
}

const MAX_BYTES = 1 << 20;
const KEPT_PER_WORKLOAD = 3;

/** Below `builds/`, then like the workload's sources. */
export function keptLogs(objects: ObjectStore): KeptLogs {
  // One after the other: nobody waits for them, and builds want the store too.
  let queue: Promise<void> = Promise.resolve();

  return {
    keep(workload, endedAt, log) {
      queue = queue.then(() => store(workload, endedAt, log, objects)).catch(() => undefined);
    },
    async last(workload) {
      const key = (await keysOf(workload, objects)).at(-1);
      return key === undefined ? undefined : objects.get(key);
    },
    settled: () => queue,
  };
}

async function store(workload: WorkloadRef, endedAt: Date, log: LogFile, objects: ObjectStore): Promise<void> {
  const text = await buffer(log.read({ follow: false }));
  // Names sort by time.
  await objects.put(
    `${prefixOf(workload)}${endedAt.toISOString().replaceAll(":", "-")}.log`,
    text.subarray(-MAX_BYTES),
  );
  for (const key of (await keysOf(workload, objects)).slice(0, -KEPT_PER_WORKLOAD)) await objects.delete(key);
}

function prefixOf(workload: WorkloadRef): string {
  return `builds/${sourceKeyPrefix(workload)}`;
}

async function keysOf(workload: WorkloadRef, objects: ObjectStore): Promise<string[]> {
  const keys: string[] = [];
  for await (const key of objects.list(prefixOf(workload))) keys.push(key);
  return keys;
}
