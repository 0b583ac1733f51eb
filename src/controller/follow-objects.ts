import type { Kind, ObjectOf } from "../apis/index.ts";
import { isSlessError, messageOf } from "../errors/index.ts";
import type { ListOptions, ResourceStore, WatchEvent } from "../resources/index.ts";
import { type BackOffOptions, createBackOff } from "./back-off.ts";
import { pause, type TimerClock } from "./clock.ts";
import type { ControllerLog } from "./log.ts";

export interface Follower<K extends Kind> {
  /** Everything there is at this version: the first thing, and again whenever changes were missed. */
  onList(items: readonly ObjectOf<K>[], resourceVersion: string): void;
  onEvent(event: WatchEvent<K>): void;
}

export interface FollowOptions {
  clock: TimerClock;
  backOff?: BackOffOptions;
  log?: ControllerLog;
}

/** A store that was away for long is back within so long for those who follow it. */
const BACK_OFF_MAX_MS = 10_000;

/**
 * Lists and watches until the signal aborts; resolves then, and never rejects. A watch that the store ended, or whose
 * connection broke, goes on where it was; after another error, or when that version is too old, everything is listed
 * again. Each new try waits for the back-off, which any event resets.
 */
export async function followObjects<K extends Kind>(
  store: Pick<ResourceStore, "list" | "watch">,
  kind: K,
  selection: ListOptions,
  follower: Follower<K>,
  options: FollowOptions & { signal: AbortSignal },
): Promise<void> {
  const { signal, clock, log } = options;
  const backOff = createBackOff<Kind>({ maxMs: BACK_OFF_MAX_MS, ...options.backOff });
  let position: string | undefined;
  const followOnce = async () => {
    if (position === undefined) {
      const { items, resourceVersion } = await store.list(kind, selection);
      if (signal.aborted) return;
      follower.onList(items, resourceVersion);
      position = resourceVersion;
    }
    for await (const event of store.watch(kind, { ...selection, from: position, signal })) {
      follower.onEvent(event);
      position = event.type === "BOOKMARK" ? event.resourceVersion : event.object.metadata.resourceVersion;
      backOff.forget(kind);
    }
  };
  while (!signal.aborted) {
    try {
      await followOnce();
    } catch (error) {
      if (!isSlessError(error, "cluster_unavailable")) position = undefined;
      if (!signal.aborted && !isSlessError(error, "conflict"))
        log?.warn({ kind, err: messageOf(error) }, "watch interrupted");
    }
    await pause(backOff.next(kind), clock, signal);
  }
}
