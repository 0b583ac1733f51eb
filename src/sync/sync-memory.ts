import { keyOf, type ObjectKey, type ObjectRef } from "../apis/index.ts";
import type { DesiredReader } from "../desired/index.ts";
import { createPlanner, type DesiredState, type Planner } from "../plan/index.ts";
import type { GitReader, RefRequest, Resolved } from "../source/index.ts";
import { type Corrections, createCorrections } from "./corrections.ts";
import type { Inventory } from "./inventory.ts";
import type { Verdict } from "./verdict.ts";

/** What decides the outcome of a run; when all of it is as before, there is nothing to do. */
export interface RunInputs {
  readonly commit: string;
  readonly revision: string;
  readonly generation: number;
  readonly liveVersion: string | undefined;
}

/** An open Git repository and what was read from it. */
export interface OpenRepository {
  /** Of `spec.url` and what else decides which repository it is. */
  readonly source: string;
  readonly git: GitReader;
  desired?: { readonly path: string; readonly reader: DesiredReader };
}

/** Which commit a ref named when a server was asked. */
export interface ServerAnswer {
  readonly opened: OpenRepository;
  readonly ref: RefRequest;
  readonly resolved: Resolved;
  /** Of the clock's monotonic time. */
  readonly atMs: number;
}

export interface RepositoryMemory {
  readonly uid: string;
  opened: OpenRepository | undefined;
  /** What a server said last. */
  answer?: ServerAnswer;
  /** Somebody said that there is something new: what a server said before does not count. */
  isHinted?: boolean;
  /** Somebody changed an object: to put it back, what the server said last is enough, however long ago. */
  isDrifted?: boolean;
  /** The server did not answer the last time. */
  isFetchFailing?: boolean;
  readonly corrections: Corrections;
  readonly planner: Planner;
  /** Of the last revision that was read. */
  desired?: DesiredState;
  inventory?: Inventory;
  /** When a run of this process last looked for archives that got lost, of the clock's monotonic time. */
  storeCheckedAtMs?: number;
  /** Of the last run that ended with nothing left to retry. */
  settled: { readonly inputs: RunInputs; readonly verdict: Verdict } | undefined;
}

/** Closes the repository; the next run opens it anew, with nothing known of it. */
export async function closeOpened(memory: RepositoryMemory): Promise<void> {
  const { opened } = memory;
  memory.opened = undefined;
  await opened?.git.close();
}

/** Where a manifest stands below the root of its repository; lines and columns start at 1. */
export interface ManifestPlace {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** Per repository, what runs of this process learned. All of it can be lost at any time. */
export interface SyncMemory {
  of(key: ObjectKey, uid: string): RepositoryMemory;
  /** The next run of that repository asks its server, however short ago the last one did. */
  hint(key: ObjectKey): void;
  /** The next run may do with what the server said last. */
  drift(key: ObjectKey): void;
  /** Of a repository that a run of this process knows. */
  corrections(key: ObjectKey): Corrections | undefined;
  /** Where an object's manifest stands in the revision of the repository that was read last; undefined when it is not there. */
  placeOf(ref: ObjectRef, repository: ObjectKey): ManifestPlace | undefined;
  /** Closes what is open; the next run begins anew. */
  forget(key: ObjectKey): Promise<void>;
  close(): Promise<void>;
}

export function createSyncMemory(): SyncMemory {
  const memories = new Map<string, RepositoryMemory>();

  async function forget(key: ObjectKey): Promise<void> {
    const memory = memories.get(keyOf(key));
    memories.delete(keyOf(key));
    if (memory) await closeOpened(memory);
  }

  return {
    of(key, uid) {
      const known = memories.get(keyOf(key));
      if (known?.uid === uid) return known;
      const memory: RepositoryMemory = {
        uid,
        planner: createPlanner(),
        corrections: createCorrections(),
        opened: known?.opened,
        settled: undefined,
      };
      memories.set(keyOf(key), memory);
      return memory;
    },
    hint(key) {
      const known = memories.get(keyOf(key));
      if (known) known.isHinted = true;
    },
    drift(key) {
      const known = memories.get(keyOf(key));
      if (known) known.isDrifted = true;
    },
    corrections: (key) => memories.get(keyOf(key))?.corrections,
    placeOf({ kind, namespace, name }, repository) {
      const found = memories
        .get(keyOf(repository))
        ?.desired?.objects.find(
          ({ intent }) =>
            intent.kind === kind && intent.metadata.name === name && intent.metadata.namespace === namespace,
        );
      return found && { file: found.file, line: found.line, column: found.column };
    },
    forget,
    async close() {
      await Promise.all([...memories.values()].map(closeOpened));
      memories.clear();
    },
  };
}
