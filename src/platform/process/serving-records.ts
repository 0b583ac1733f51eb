import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { refText, type WorkloadRef } from "../../apis/index.ts";
import { createSlots } from "../../controller/slots.ts";
import type { WorkloadSpec } from "../platform.ts";
import { workloadOfPath, workloadPath } from "./workload-path.ts";

const READS_AT_ONCE = 32;
const SUFFIX = ".json";

/** The revision of a workload that serves. */
export interface Serving {
  readonly spec: WorkloadSpec;
  readonly replicas: number;
}

/**
 * What serves, on disk, so that the next life goes on with it: `<folder>/<namespace>/<Kind>-<name>.json`, each whole or
 * not there. The values of environment variables stand in it, those of secrets do not.
 */
export interface ServingRecords {
  /** What an earlier life left, where `isUsable`; the rest is removed. */
  read(isUsable: (spec: WorkloadSpec) => Promise<boolean>): Promise<Serving[]>;
  /**
   * Remembers what serves now; undefined when nothing does. Resolves once it is written. Never rejects: what a full disk
   * refuses makes the next life begin with an older revision, and roll over from that.
   */
  keep(workload: WorkloadRef, serving: Serving | undefined): Promise<void>;
  /** Resolves when nothing is left to write. */
  flush(): Promise<void>;
}

export function servingRecords(folder: string): ServingRecords {
  const newest = new Map<string, Serving | undefined>();
  const writes = new Map<string, Promise<void>>();

  return {
    read: (isUsable) => readRecords(folder, isUsable),
    keep(workload, serving) {
      const key = refText(workload);
      newest.set(key, serving);
      const path = join(folder, workloadPath(workload) + SUFFIX);
      const work = (writes.get(key) ?? Promise.resolve())
        .then(() => write(path, newest.get(key)))
        .catch(() => undefined)
        .finally(() => {
          if (writes.get(key) === work) writes.delete(key) && newest.delete(key);
        });
      writes.set(key, work);
      return work;
    },
    async flush() {
      while (writes.size > 0) await Promise.all(writes.values());
    },
  };
}

async function write(path: string, serving: Serving | undefined): Promise<void> {
  if (!serving) return rm(path, { force: true });
  await mkdir(dirname(path), { recursive: true });
  await writeFile(`${path}.draft`, JSON.stringify(serving), { mode: 0o600 });
  await rename(`${path}.draft`, path);
}

async function readRecords(folder: string, isUsable: (spec: WorkloadSpec) => Promise<boolean>): Promise<Serving[]> {
  const slots = createSlots(READS_AT_ONCE);
  const namespaces = await readdir(folder).catch(() => []);
  const found = namespaces.map(async (namespace) => {
    const names = await readdir(join(folder, namespace)).catch(() => []);
    const reads = names.map(async (name) => {
      const release = await slots.take();
      try {
        const path = join(folder, namespace, name);
        const serving = await readRecord(path, namespace, name);
        if (serving && (await isUsable(serving.spec))) return serving;
        await rm(path, { force: true });
      } catch {
        // It stays where it is, and serves nothing.
      } finally {
        release();
      }
      return undefined;
    });
    return Promise.all(reads);
  });
  return (await Promise.all(found)).flat().filter((serving) => serving !== undefined);
}

/** Undefined for a draft, for what a crash of the machine left unreadable, and for what another version wrote. */
async function readRecord(path: string, namespace: string, name: string): Promise<Serving | undefined> {
  if (!name.endsWith(SUFFIX)) return undefined;
  const workload = workloadOfPath(namespace, name.slice(0, -SUFFIX.length));
  const value: unknown = parseJson(await readFile(path, "utf8"));
  return workload && isServing(value) && refText(value.spec.workload) === refText(workload) ? value : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isServing(value: unknown): value is Serving {
  const { spec, replicas } = (value ?? {}) as Partial<Serving>;
  return (
    Number.isInteger(replicas) &&
    replicas! > 0 &&
    typeof spec?.workload?.name === "string" &&
    typeof spec.imageRef === "string" &&
    typeof spec.sourceDigest === "string" &&
    typeof spec.entrypoint === "string" &&
    typeof spec.memoryMB === "number" &&
    typeof spec.timeoutSec === "number" &&
    typeof spec.env === "object" &&
    typeof spec.secretEnv === "object"
  );
}
