import { KIND_NAMES, type Kind, type ObjectOf } from "../../apis/index.ts";
import { SlessError } from "../../errors/index.ts";
import type { ListOptions, WatchEvent } from "../resource-store.ts";
import { withVersion } from "./mutations.ts";
import { matches } from "./object-table.ts";

/** A committed change of one object; without `before` it is new, without `after` it is gone. */
export interface Change {
  readonly version: number;
  readonly kind: Kind;
  readonly before?: ObjectOf<Kind>;
  readonly after?: ObjectOf<Kind>;
}

/** The latest changes of each kind, in memory: what watches replay and wait for. */
export interface EventLog {
  /** Takes committed changes, in order of their versions, and wakes the watches of their kinds. */
  append(changes: readonly Change[]): void;
  watch<K extends Kind>(
    kind: K,
    options: ListOptions & { from: number; signal: AbortSignal },
  ): AsyncGenerator<WatchEvent<K>>;
  /** Ends all watches. */
  close(): void;
}

interface KindLog {
  changes: Change[];
  /** A watch from an earlier version would miss changes. */
  oldest: number;
  readonly waiting: Set<() => void>;
}

/**
 * Each kind keeps its own last `capacity` changes (older ones may linger), so that one kind's bustle makes no watch of
 * another too old.
 *
 * @param latest the version of the last committed change in the store
 */
export function eventLog({ capacity, latest }: { capacity: number; latest: () => number }): EventLog {
  const opened = latest();
  const logs = new Map<Kind, KindLog>(
    KIND_NAMES.map((kind) => [kind, { changes: [], oldest: opened, waiting: new Set() }]),
  );
  let closed = false;

  const append = (changes: readonly Change[]) => {
    const touched = new Set<KindLog>();
    for (const change of changes) {
      const log = logs.get(change.kind)!;
      log.changes.push(change);
      touched.add(log);
    }
    for (const log of touched) {
      trim(log, capacity);
      wakeAll(log);
    }
  };

  async function* watch<K extends Kind>(
    kind: K,
    options: ListOptions & { from: number; signal: AbortSignal },
  ): AsyncGenerator<WatchEvent<K>> {
    const log = logs.get(kind)!;
    let seen = options.from;
    let told = -1;
    while (!options.signal.aborted && !closed) {
      const changes = changesAfter(log, seen, latest(), kind);
      for (const change of changes) {
        seen = change.version;
        const event = eventOf<K>(change, options);
        if (event) yield event;
        if (options.signal.aborted) return;
      }
      if (changes.length > 0) continue;
      // Other kinds' changes are no news here, but they move the version from which this watch may go on.
      seen = latest();
      if (seen === told) await nextChange(log, options.signal);
      else yield { type: "BOOKMARK", resourceVersion: String(seen) };
      told = seen;
    }
  }

  const close = () => {
    closed = true;
    for (const log of logs.values()) wakeAll(log);
  };
  return { append, watch, close };
}

function trim(log: KindLog, capacity: number): void {
  if (log.changes.length <= 2 * capacity) return;
  const dropped = log.changes.splice(0, log.changes.length - capacity);
  log.oldest = dropped.at(-1)!.version;
}

function changesAfter(log: KindLog, seen: number, latest: number, kind: Kind): Change[] {
  // A version that was never given out stems from another life of the file.
  if (seen < log.oldest || seen > latest) throw new SlessError("conflict", { what: `The watched ${kind} list` });
  let start = log.changes.length;
  while (start > 0 && log.changes[start - 1]!.version > seen) start -= 1;
  return log.changes.slice(start);
}

/** What a change means for one watch: an object that begins or ceases to match comes or goes. */
function eventOf<K extends Kind>({ version, before, after }: Change, options: ListOptions): WatchEvent<K> | undefined {
  const was = before !== undefined && matches(before, options);
  const is = after !== undefined && matches(after, options);
  if (is) return { type: was ? "MODIFIED" : "ADDED", object: after as ObjectOf<K> };
  if (was) return { type: "DELETED", object: withVersion(before as ObjectOf<K>, String(version)) };
  return undefined;
}

function wakeAll(log: KindLog): void {
  const waiting = [...log.waiting];
  log.waiting.clear();
  for (const wake of waiting) wake();
}

function nextChange(log: KindLog, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wake = () => {
      log.waiting.delete(wake);
      signal.removeEventListener("abort", wake);
      resolve();
    };
    if (signal.aborted) return resolve();
    signal.addEventListener("abort", wake, { once: true });
    log.waiting.add(wake);
  });
}
