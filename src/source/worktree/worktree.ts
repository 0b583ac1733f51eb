import { relative, resolve, sep } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { SlessError } from "../../errors/index.ts";
import { closedReader } from "../read-all.ts";
import { createLook, type WorktreeSeen } from "./look-at-worktree.ts";
import { toRaw } from "./raw-path.ts";

export interface WorktreeOptions {
  /** Absolute path of the top folder of a work tree, a linked one too. */
  readonly folder: string;
  /** Absolute path of git, as `findGit` answers it. */
  readonly git: string;
  /** Absolute paths of folders that are no part of it, wherever they are. */
  readonly excluded?: readonly string[];
  /** Told every file whose content is read, by its path below the folder; for tests. */
  readonly onRead?: (path: string) => void;
}

export interface WorktreeAtRest extends WorktreeSeen {
  /** Counts the states that were accepted one after the other: another number, another state in between. */
  readonly version: number;
}

/** A work tree with its uncommitted edits. */
export interface Worktree {
  readonly folder: string;
  /**
   * Its present state, once it is at rest: two looks a moment apart saw the same, and Git is not writing it. A state
   * that was accepted before is at rest. One that never comes to rest is taken as it is after two seconds, unless Git
   * is at work.
   *
   * @throws SlessError `repository_unreachable`, `repository_too_large`
   */
  atRest(): Promise<WorktreeAtRest>;
  /** What is waited for fails. */
  close(): Promise<void>;
}

/** Longer than an editor takes from its first write of a save to the last. */
const STILL_MS = 50;
/** A lock under which nothing happens for so long is of a Git that waits for a commit message, or has died. */
const STILL_LOCKED_MS = 2_000;
const RESTLESS_MAX_MS = 2_000;
const LOCKED_MAX_MS = 30_000;

export function openWorktree(options: WorktreeOptions): Worktree {
  const { folder, git, excluded = [], onRead } = options;
  const look = createLook({
    folder,
    git,
    excluded: new Set(excluded.flatMap((path) => pathBelow(folder, path))),
    ...(onRead && { onRead }),
  });
  const closing = new AbortController();
  let accepted: string | undefined;
  let version = 0;
  let last: Promise<unknown> = Promise.resolve();

  async function settle(): Promise<WorktreeAtRest> {
    const began = performance.now();
    let seen = await look();
    let stillSince = performance.now();
    while (seen.tree !== accepted && !isAtRest(seen, began, stillSince)) {
      await wait(STILL_MS, undefined, { signal: closing.signal });
      const next = await look();
      if (next.tree !== seen.tree) stillSince = performance.now();
      seen = next;
    }
    if (seen.tree !== accepted) version += 1;
    accepted = seen.tree;
    return { ...seen, version };
  }

  function isAtRest(seen: WorktreeSeen, began: number, stillSince: number): boolean {
    const now = performance.now();
    if (now - stillSince >= (seen.isLocked ? STILL_LOCKED_MS : STILL_MS)) return true;
    if (!seen.isLocked) return now - began >= RESTLESS_MAX_MS;
    if (now - began < LOCKED_MAX_MS) return false;
    throw new SlessError("repository_unreachable", { url: folder, cause: "git is still writing its work tree" });
  }

  return {
    folder,
    atRest() {
      if (closing.signal.aborted) return Promise.reject(closedReader(folder));
      // One after the other: a look that began before somebody asked may have missed what they know of.
      const result = last.then(settle).catch((error: unknown) => {
        throw closing.signal.aborted ? closedReader(folder) : error;
      });
      last = result.catch(() => {});
      return result;
    },
    async close() {
      closing.abort();
      await last;
    },
  };
}

/** None for what is not below the folder. */
function pathBelow(folder: string, path: string): string[] {
  const below = relative(folder, resolve(path));
  const isBelow = below !== "" && below !== ".." && !below.startsWith(`..${sep}`);
  return isBelow ? [toRaw(below.split(sep).join("/"))] : [];
}
