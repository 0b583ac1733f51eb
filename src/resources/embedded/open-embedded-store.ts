import { randomUUID } from "node:crypto";
import type { Kind, ObjectOf } from "../../apis/index.ts";
import { SlessError } from "../../errors/index.ts";
import type { ResourceStore } from "../resource-store.ts";
import { type Database, openDatabase } from "./database.ts";
import { type Draft, openDraft } from "./draft.ts";
import { eventLog } from "./event-log.ts";
import { copyJson, freezeDeep } from "./fields.ts";
import type { Stamp } from "./mutations.ts";
import { objectTable } from "./object-table.ts";
import { pageOf } from "./page-of.ts";
import { createWriteQueue } from "./write-queue.ts";
import { applyIn, createIn, deleteIn, patchIn, updateStatusIn } from "./writes.ts";

export type EmbeddedStore = ResourceStore & {
  /** Waits for the writes that were asked for, ends all watches and closes the file; later calls fail. */
  close(): Promise<void>;
};

/**
 * A watch may be this many changes of its kind behind before it has to list again. Each keeps what the object was in
 * memory, and up to twice as many linger.
 */
const REPLAYED_CHANGES = 1_000;

/**
 * A ResourceStore over one SQLite file (`:memory:` keeps nothing) for one process, which it locks against others.
 * The file is the truth; a parsed copy in memory answers all reads. Namespaces need not exist.
 *
 * @param options.clock time of creation and deletion stamps, default the system's
 * @param options.notice hears of a file that is made though there were objects before
 * @throws SlessError `storage_unavailable` (also while another process has the file), `data_corrupt`, `data_too_new`;
 *   `data_lost` when the file is older than what was acknowledged
 */
export async function openEmbeddedStore(
  file: string,
  options: { clock?: { now(): Date }; notice?: (message: string) => void } = {},
): Promise<EmbeddedStore> {
  const { clock = { now: () => new Date() }, notice } = options;
  const database = openDatabase(file, notice);
  try {
    return storeOver(database, file, clock);
  } catch (error) {
    database.close();
    throw error;
  }
}

/** The store over an opened database. */
export function storeOver(database: Database, file: string, clock: { now(): Date }): EmbeddedStore {
  const table = objectTable();
  for (const object of database.objects()) table.set(freezeDeep(object) as ObjectOf<Kind>);
  let version = database.version();
  let closing: Promise<void> | undefined;
  const log = eventLog({ capacity: REPLAYED_CHANGES, latest: () => version });

  const commit = (draft: Draft) => {
    const rows = draft.rows();
    if (rows.length > 0) database.write(rows, draft.version());
    for (const { kind, before, after } of draft.changes) {
      if (after) table.set(after);
      else if (before) table.delete(kind, before.metadata);
    }
    version = draft.version();
    log.append(draft.changes);
  };
  const writes = createWriteQueue(() => openDraft(table, database, version), commit);

  const checkOpen = () => {
    if (closing) throw new SlessError("storage_unavailable", { what: file, cause: "it was closed" });
  };
  const write = async <I, T>(input: I, calculate: (draft: Draft, input: I) => T): Promise<T> => {
    checkOpen();
    // A copy at once: the caller may go on changing what it passed while the write waits for its group.
    const copy = copyJson(input);
    return writes.enqueue((draft) => calculate(draft, copy));
  };
  const stamp = (): Stamp => ({ uid: randomUUID(), now: timeText(clock.now()) });
  const close = async () => {
    await writes.drained();
    log.close();
    database.close();
  };

  return {
    async get(kind, key) {
      checkOpen();
      return table.get(kind, key);
    },
    async list(kind, listed = {}) {
      checkOpen();
      return { items: table.list(kind, listed), resourceVersion: String(version) };
    },
    async page(kind, { namespace, ...paged }) {
      checkOpen();
      return pageOf(table.list(kind, { namespace }), paged);
    },
    async *watch(kind, watched) {
      checkOpen();
      yield* log.watch(kind, { ...watched, from: toVersion(watched.from) });
    },
    create: (intent, { owner }) => write(intent, (draft, wanted) => createIn(draft, wanted, owner, stamp())),
    apply: (intent, applied) => write(intent, (draft, wanted) => applyIn(draft, wanted, applied, stamp())),
    patch: (kind, key, patch, patched) =>
      write(patch, (draft, changes) => patchIn(draft, { ...key, kind }, changes, patched)),
    async appliedFields(kind, { namespace, name }, owner) {
      checkOpen();
      return specFields(database.ownersOf({ kind, namespace, name })?.[owner] ?? []);
    },
    updateStatus: ({ kind, metadata }, status) =>
      write(status, (draft, next) => updateStatusIn(draft, { kind, metadata }, next)),
    delete: (kind, key, preconditions = {}) =>
      write(preconditions, (draft, expected) => deleteIn(draft, { ...key, kind }, expected, stamp().now)),
    close: () => (closing ??= close()),
  };
}

/** `spec/env/A` → `env`. */
function specFields(paths: readonly string[]): string[] {
  const fields = paths.filter((path) => path.startsWith("spec/")).map((path) => path.split("/")[1]!);
  return [...new Set(fields)].sort();
}

function toVersion(from: string): number {
  if (/^\d{1,15}$/.test(from)) return Number(from);
  throw new SlessError("invalid_request", { cause: `${JSON.stringify(from)} is no version of a list or an event` });
}

/** RFC 3339 with whole seconds, as Kubernetes writes times. */
function timeText(time: Date): string {
  return `${time.toISOString().slice(0, 19)}Z`;
}
