import type { AnyObject, Kind, ObjectOf } from "../apis/index.ts";
import type { ResourceStore } from "../resources/index.ts";

/**
 * Tells what the sync of a repository wrote itself from what others changed: a run that looked at its own work would
 * find nothing to do, and read all of the namespace for it.
 */
export interface OwnWrites {
  /**
   * Runs a sync of a repository with a store that notes what is written through it. What is seen meanwhile is judged
   * at the end: a watch may tell a write before the writer has its answer.
   */
  during<T>(key: string, store: ResourceStore, run: (store: ResourceStore) => Promise<T>): Promise<T>;
  /** An object of the repository changed; wakes for it, now or when the run ends, unless the sync wrote that. */
  saw(key: string, object: AnyObject, wake: () => void): void;
  /** The repository is gone. */
  forget(key: string): void;
}

interface Notes {
  isRunning: boolean;
  /** Of the last run, and of the one before: a watch may lag. */
  written: Set<string>;
  older: Set<string>;
  seen: { readonly object: AnyObject; readonly wake: () => void }[];
}

export function createOwnWrites(): OwnWrites {
  const all = new Map<string, Notes>();

  function notesOf(key: string): Notes {
    const notes = all.get(key) ?? { isRunning: false, written: new Set(), older: new Set(), seen: [] };
    all.set(key, notes);
    return notes;
  }

  function judge({ written, older }: Notes, { object, wake }: Notes["seen"][number]): void {
    const marks = [markOf(object), ...(object.metadata.deletionTimestamp ? [endMarkOf(object.metadata.uid)] : [])];
    if (!marks.some((mark) => written.has(mark) || older.has(mark))) wake();
  }

  return {
    async during(key, store, run) {
      const notes = notesOf(key);
      notes.older = notes.written;
      notes.written = new Set();
      notes.isRunning = true;
      try {
        return await run(noting(store, notes.written));
      } finally {
        notes.isRunning = false;
        for (const one of notes.seen.splice(0)) judge(notes, one);
      }
    },
    saw(key, object, wake) {
      const notes = notesOf(key);
      if (notes.isRunning) notes.seen.push({ object, wake });
      else judge(notes, { object, wake });
    },
    forget: (key) => void all.delete(key),
  };
}

function markOf({ metadata }: Pick<ObjectOf<Kind>, "metadata">): string {
  return `${metadata.uid} ${metadata.resourceVersion}`;
}

/** Stands for the version that a deletion gives an object which is cleaned up after; nobody tells it. */
function endMarkOf(uid: string): string {
  return `${uid} ends`;
}

function noting(store: ResourceStore, written: Set<string>): ResourceStore {
  async function noted<T extends Pick<ObjectOf<Kind>, "metadata">>(writing: Promise<T>): Promise<T> {
    const object = await writing;
    written.add(markOf(object));
    return object;
  }
  return {
    ...store,
    apply: (intent, options) => noted(store.apply(intent, options)),
    patch: (kind, key, patch, options) => noted(store.patch(kind, key, patch, options)),
    async delete(kind, key, options) {
      const outcome = await store.delete(kind, key, options);
      if (outcome === "terminating" && options?.uid !== undefined) written.add(endMarkOf(options.uid));
      return outcome;
    },
  };
}
