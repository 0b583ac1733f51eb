import { buffer } from "node:stream/consumers";
import { refText, sourceKeyPrefix, type WorkloadRef } from "../../apis/index.ts";
import type { LogFile } from "../../processes/index.ts";
import type { ObjectStore } from "../../storage/index.ts";

/** Logs of ended builds in the object store: other processes of sless, and later ones, have them too. */
export interface KeptLogs {
  /** Begins to store it; a store that refuses costs the log, not the build. */
  keep(workload: WorkloadRef, endedAt: Date, log: LogFile): void;
  /** The last one, unless it is of a build of this process, which has all of it itself. */
  fromElsewhere(workload: WorkloadRef): Promise<Uint8Array | undefined>;
  /** Resolves when all is stored. */
  settled(): Promise<void>;
}

const MAX_BYTES = 1 << 20;
const KEPT_PER_WORKLOAD = 3;

/** Below `builds/`, then like the workload's sources. */
export function keptLogs(objects: ObjectStore): KeptLogs {
  // One after the other: nobody waits for them, and builds want the store too.
  let queue: Promise<void> = Promise.resolve();
  const own = new Map<string, string>();

  return {
    keep(workload, endedAt, log) {
      own.set(refText(workload), keyOf(workload, endedAt));
      queue = queue.then(() => store(workload, endedAt, log, objects)).catch(() => undefined);
    },
    async fromElsewhere(workload) {
      const key = (await keysOf(workload, objects)).at(-1);
      return key === undefined || key <= (own.get(refText(workload)) ?? "") ? undefined : objects.get(key);
    },
    settled: () => queue,
  };
}

async function store(workload: WorkloadRef, endedAt: Date, log: LogFile, objects: ObjectStore): Promise<void> {
  const text = await buffer(log.read({ follow: false }));
  await objects.put(keyOf(workload, endedAt), text.subarray(-MAX_BYTES));
  for (const key of (await keysOf(workload, objects)).slice(0, -KEPT_PER_WORKLOAD)) await objects.delete(key);
}

/** Names sort by time. */
function keyOf(workload: WorkloadRef, endedAt: Date): string {
  return `${prefixOf(workload)}${endedAt.toISOString().replaceAll(":", "-")}.log`;
}

function prefixOf(workload: WorkloadRef): string {
  return `builds/${sourceKeyPrefix(workload)}`;
}

async function keysOf(workload: WorkloadRef, objects: ObjectStore): Promise<string[]> {
  const keys: string[] = [];
  for await (const key of objects.list(prefixOf(workload))) keys.push(key);
  return keys;
}
