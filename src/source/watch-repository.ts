import { join } from "node:path";
import { type FSWatcher, watch } from "chokidar";
import type { GitDirectory } from "./git-directory.ts";
import { lookAtRefs } from "./refs-fingerprint.ts";

export interface WatchOptions {
  /** Folder of the repository; it need not be there yet. */
  readonly repository: string;
  /** Called when a ref may have changed: a hint to look, no more. Several changes at once make one hint. */
  readonly onHint: () => void;
  /** How often to look for what the file system did not tell. Default 2,000 ms. */
  readonly pollMs?: number;
}

/** A push renames several files; they are one change. */
const GATHER_MS = 5;
const POLL_MS = 2_000;

/**
 * Watches the refs of a local repository, bare or not, a linked worktree too. File events make it quick; a look every
 * `pollMs` makes it sure: where events are not to be had (network file systems, too many watches), and when the
 * repository goes and comes back. Resolves once changes are noticed. After `close` resolved there are no more hints.
 */
export async function watchRepository(options: WatchOptions): Promise<{ close(): Promise<void> }> {
  const { repository, onHint, pollMs = POLL_MS } = options;
  let isClosed = false;
  let seen = await lookAtRefs(repository);
  let watcher: FSWatcher | undefined;
  let watchedIdentity = "";
  let hint: NodeJS.Timeout | undefined;
  let nextLook: NodeJS.Timeout | undefined;

  function hintSoon(): void {
    if (isClosed || hint !== undefined) return;
    let meanwhile: typeof seen | undefined;
    void lookAtRefs(repository).then((found) => {
      meanwhile = found;
    });
    hint = setTimeout(() => {
      hint = undefined;
      // What was seen before the hint needs no other one. What is seen later may be newer than what the hinted sees.
      if (meanwhile?.identity === seen.identity) seen = meanwhile;
      onHint();
    }, GATHER_MS);
  }

  async function followPlace(): Promise<void> {
    if (seen.identity === watchedIdentity || isClosed) return;
    await watcher?.close();
    watchedIdentity = seen.identity;
    watcher = seen.place && (await watchRefs(seen.place, hintSoon));
  }

  async function look(): Promise<void> {
    const before = seen.fingerprint;
    const found = await lookAtRefs(repository);
    seen = found;
    await followPlace();
    if (found.fingerprint !== before) hintSoon();
  }

  let working = followPlace();
  function lookLater(): void {
    nextLook = setTimeout(() => {
      working = look().then(() => {
        if (!isClosed) lookLater();
      });
    }, pollMs);
  }

  await working;
  lookLater();
  return {
    async close() {
      isClosed = true;
      clearTimeout(hint);
      clearTimeout(nextLook);
      await working;
      await watcher?.close();
    },
  };
}

/** Resolves when the watches are set, or cannot be. */
async function watchRefs({ gitDir, commonDir }: GitDirectory, onEvent: () => void): Promise<FSWatcher> {
  const paths = [join(gitDir, "HEAD"), join(commonDir, "packed-refs"), join(commonDir, "refs")];
  const watcher = watch(paths, {
    ignoreInitial: true,
    // Git renames a complete file into place, so there is nothing to wait for.
    atomic: false,
    followSymlinks: false,
    ignored: (path) => path.endsWith(".lock"),
  });
  watcher.on("all", onEvent);
  await new Promise<void>((resolve) => {
    watcher.once("ready", resolve);
    // Too many watches, a file system without them: the looks go on.
    watcher.on("error", () => resolve());
  });
  return watcher;
}
