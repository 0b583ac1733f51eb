import { relative, sep } from "node:path";
import { type FSWatcher, watch } from "chokidar";
import { messageOf } from "../../errors/index.ts";
import type { WorktreeSeen } from "./look-at-worktree.ts";
import { toRaw } from "./raw-path.ts";
import type { Worktree } from "./worktree.ts";

export interface WatchWorktreeOptions {
  readonly worktree: Worktree;
  /** Called at the start, and when the work tree came to rest with another content or cannot be read any more: look. */
  readonly onHint: () => void;
  /** How often to look for what the file system did not tell. Default 2,000 ms, and more where looking takes long. */
  readonly pollMs?: number;
}

/** A save is several events; they are one change. */
const GATHER_MS = 10;
const POLL_MS = 2_000;
/** Looking for what nobody told takes no more than this share of the time. */
const POLL_SHARE = 1 / 40;

/**
 * Watches the files of a work tree. File events make it quick; a look now and then makes it sure. What Git ignores, and
 * what editors leave beside, is neither watched nor hinted. Resolves once changes are noticed; after `close` resolved
 * there are no more hints.
 */
export async function watchWorktree(options: WatchWorktreeOptions): Promise<{ close(): Promise<void> }> {
  const { worktree, onHint, pollMs = POLL_MS } = options;
  let isClosed = false;
  let watcher: FSWatcher | undefined;
  let watchedAs: string | undefined;
  let told: string | number | undefined;
  /** Something happened since the last look began. */
  let isWanted = false;
  let looking: Promise<void> | undefined;
  let next: { readonly timer: NodeJS.Timeout; readonly at: number } | undefined;

  async function follow(seen: WorktreeSeen): Promise<void> {
    const as = `${seen.identity} ${seen.leftOut.version()}`;
    if (as === watchedAs || isClosed) return;
    watchedAs = as;
    await watcher?.close();
    watcher = await watchFiles(worktree.folder, seen, () => lookIn(GATHER_MS));
    // What changed before the watches were set.
    isWanted = true;
  }

  async function look(): Promise<void> {
    isWanted = false;
    // What cannot be read is a state too.
    const seen = await worktree.atRest().catch(messageOf);
    const state = typeof seen === "string" ? seen : seen.version;
    if (isClosed) return;
    if (state !== told) onHint();
    told = state;
    if (typeof seen === "string") watchedAs = undefined;
    else await follow(seen);
  }

  function lookIn(ms: number): void {
    isWanted = true;
    const at = performance.now() + ms;
    if (isClosed || looking || (next && next.at <= at)) return;
    clearTimeout(next?.timer);
    next = { at, timer: setTimeout(lookNow, ms) };
  }

  function lookNow(): void {
    next = undefined;
    looking = lookWhileWanted();
  }

  async function lookWhileWanted(): Promise<void> {
    let tookMs = 0;
    do {
      const began = performance.now();
      await look();
      tookMs = performance.now() - began;
    } while (isWanted && !isClosed);
    looking = undefined;
    lookIn(Math.max(pollMs, tookMs / POLL_SHARE));
  }

  lookNow();
  await looking;
  return {
    async close() {
      isClosed = true;
      clearTimeout(next?.timer);
      await looking;
      await watcher?.close();
    },
  };
}

/** Resolves when the watches are set, or cannot be. */
async function watchFiles(folder: string, { leftOut }: WorktreeSeen, onEvent: () => void): Promise<FSWatcher> {
  const watcher = watch(folder, {
    ignoreInitial: true,
    atomic: false,
    followSymlinks: false,
    ignored: (path, stats) => {
      const below = toRaw(relative(folder, path).split(sep).join("/"));
      if (below === "") return false;
      return below === ".git" || below.endsWith("/.git") || leftOut.has(below, stats?.isDirectory() ?? false);
    },
  });
  watcher.on("all", onEvent);
  await new Promise<void>((resolve) => {
    watcher.once("ready", resolve);
    // Too many watches, a file system without them: the looks go on.
    watcher.on("error", () => resolve());
  });
  return watcher;
}
