import { keyOf, type ObjectKey } from "../apis/index.ts";
import type { TimerClock } from "../controller/index.ts";

export interface AnnouncedCommits {
  /** A forge said that a repository's ref names this commit now; it takes the place of one that was announced before. */
  expect(key: ObjectKey, commit: string): void;
  close(): void;
}

export interface AnnouncedCommitsDeps {
  readonly clock: TimerClock;
  /** `main@sha1:…`, as it was fetched last. */
  readonly fetchedRevision: (key: ObjectKey) => Promise<string | undefined>;
  /** Called when it has not come yet. */
  readonly askAgain: (key: ObjectKey) => Promise<void>;
  readonly onError: (error: unknown, key: ObjectKey) => void;
}

/** A forge's Git servers may be behind its webhooks by seconds; after the last of these the interval is enough. */
const LOOKS_AFTER_MS = [5_000, 15_000, 45_000];
/** Each waits for a minute at most. */
const EXPECTED_MAX = 10_000;

/** Looks after commits that were announced and, when a look came too early to see them, has others follow. */
export function announcedCommits(deps: AnnouncedCommitsDeps): AnnouncedCommits {
  const { clock, fetchedRevision, askAgain, onError } = deps;
  const waiting = new Map<string, () => void>();

  function wait(key: ObjectKey, commit: string, [afterMs, ...rest]: readonly number[]): void {
    const id = keyOf(key);
    waiting.get(id)?.();
    waiting.delete(id);
    if (afterMs === undefined || waiting.size >= EXPECTED_MAX) return;
    const cancel = clock.setTimer(afterMs, () => {
      void lookFor(key, commit)
        .catch((error: unknown) => {
          onError(error, key);
          return false;
        })
        .then((isThere) => {
          if (waiting.get(id) === cancel) wait(key, commit, isThere ? [] : rest);
        });
    });
    waiting.set(id, cancel);
  }
  async function lookFor(key: ObjectKey, commit: string): Promise<boolean> {
    if ((await fetchedRevision(key))?.endsWith(`:${commit}`)) return true;
    await askAgain(key);
    return false;
  }
  return {
    expect: (key, commit) => wait(key, commit, LOOKS_AFTER_MS),
    close() {
      for (const cancel of waiting.values()) cancel();
      waiting.clear();
    },
  };
}
