import { keyOf, type ObjectKey } from "../apis/index.ts";
import type { TimerClock } from "../controller/index.ts";
import type { ResourceStore } from "../resources/index.ts";
import { announcedCommits } from "./announced-commits.ts";
import type { HookedRepository } from "./hook-targets.ts";
import { paced } from "./paced.ts";

export interface SyncHints {
  /**
   * Says that a repository may have something new, at once or after the pause since the last time.
   *
   * @param commit that its ref names now, as far as it was told
   * @throws what the hint throws that was given at once
   */
  give(repository: HookedRepository, commit: string | undefined): Promise<void>;
  /** Gives the hints that wait. */
  close(): Promise<void>;
}

export interface SyncHintsDeps {
  readonly store: Pick<ResourceStore, "get">;
  readonly hint: (repository: HookedRepository) => Promise<void> | void;
  readonly clock: TimerClock;
  readonly onError: (error: unknown, key: ObjectKey) => void;
}

/** However often is pushed, a repository is asked for a sync at most once in this time. */
const HINT_PAUSE_MS = 2_000;

export function syncHints({ store, hint, clock, onError }: SyncHintsDeps): SyncHints {
  const hints = paced<HookedRepository>({
    clock,
    pauseMs: HINT_PAUSE_MS,
    work: hint,
    onError: (error, { metadata }) => onError(error, metadata),
  });
  const announced = announcedCommits({
    clock,
    fetchedRevision: async (key) => (await store.get("Repository", key))?.status?.lastFetchedRevision,
    async askAgain(key) {
      const repository = await store.get("Repository", key);
      if (repository && !repository.spec.suspend) await hints.ask(keyOf(key), repository);
    },
    onError,
  });
  return {
    async give(repository, commit) {
      const { namespace, name } = repository.metadata;
      await hints.ask(keyOf({ namespace, name }), repository);
      if (commit !== undefined) announced.expect({ namespace, name }, commit);
    },
    close() {
      announced.close();
      return hints.close();
    },
  };
}
