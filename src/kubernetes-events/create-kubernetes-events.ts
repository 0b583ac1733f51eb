import type { ObjectKey } from "../apis/index.ts";
import type { ControllerLog, TimerClock } from "../controller/index.ts";
import { messageOf } from "../errors/index.ts";
import { API_RESOURCES, isApiError, type KubernetesClient, listObjects, rateLimit } from "../kubernetes/index.ts";
import { newsOf, type Reporter } from "../report/index.ts";
import { COMPONENT, type CoreEvent, coreEvent } from "./core-event.ts";
import { createEventQueue } from "./event-queue.ts";
import { type ListedEvent, listedEvents } from "./listed-events.ts";
import { createTokens } from "./tokens.ts";
import { writeEvent } from "./write-event.ts";

export interface KubernetesEventsOptions {
  readonly client: KubernetesClient;
  readonly clock: TimerClock;
  readonly log: Pick<ControllerLog, "warn">;
  /** Name of this pod. */
  readonly instance: string;
  /** UID of an object, from watches; undefined when it is not there. */
  readonly uidOf: (object: { readonly kind: string } & ObjectKey) => string | undefined;
  /** Writes per second on the average and at once; default 20 and 100. */
  readonly perSecond?: number;
  readonly burst?: number;
}

export interface KubernetesEvents {
  /** Takes the event and returns; whatever becomes of it hurts nobody. */
  readonly report: Reporter;
  /** What sless told of a namespace, in whatever process, oldest first; at most 200. @throws ApiError, SlessError */
  list(namespace: string): Promise<ListedEvent[]>;
  /** Resolves when nothing waits to be written. */
  idle(): Promise<void>;
  /** Writes what waits, for at most `timeoutMs` (default 2,000). */
  stop(timeoutMs?: number): Promise<void>;
}

const QUEUE_MAX = 2_000;
const WRITERS = 4;
/** Counts that are remembered; an event beyond is looked up once more. */
const COUNTS_MAX = 5_000;
const LEFT_OUT_LOG_MS = 60_000;

/**
 * Tells progress as Kubernetes Events of the objects that it is about. Equal ones are counted up; an object that has
 * something new to tell all the time is slowed down (25 at once, then one in ten seconds); writes are few per second,
 * and what cannot be written is left out.
 */
export function createKubernetesEvents(options: KubernetesEventsOptions): KubernetesEvents {
  const { client, clock, log, instance, uidOf, perSecond = 20, burst = 100 } = options;
  const limit = rateLimit({ perSecond, burst, clock });
  const queue = createEventQueue(QUEUE_MAX);
  const tokens = createTokens(clock, { burst: 25, refillMs: 10_000 });
  const counts = new Map<string, number>();
  const idlers: (() => void)[] = [];
  const stopping = new AbortController();
  let writing = 0;
  let leftOut = 0;
  let loggedAtMs = Number.NEGATIVE_INFINITY;

  const leaveOut = () => {
    leftOut += 1;
    if (clock.monotonicMs() - loggedAtMs < LEFT_OUT_LOG_MS) return;
    loggedAtMs = clock.monotonicMs();
    log.warn({ events: leftOut }, "events were left out");
    leftOut = 0;
  };
  const remember = (name: string, count: number) => {
    counts.delete(name);
    counts.set(name, count);
    if (counts.size > COUNTS_MAX) counts.delete(counts.keys().next().value!);
  };
  async function work(): Promise<void> {
    for (let next = queue.take(); next; next = queue.take()) {
      const { name, namespace } = next.event.metadata;
      const key = `${namespace}/${name}`;
      try {
        await limit(stopping.signal);
        remember(key, await writeEvent(client, next, counts.get(key)));
      } catch (error) {
        if (stopping.signal.aborted) return;
        if (isForNobody(error)) continue;
        log.warn({ namespace, event: name, err: messageOf(error) }, "an event was not written");
      }
    }
  }
  const startWriters = () => {
    while (writing < Math.min(WRITERS, writing + queue.size)) {
      writing += 1;
      void work().finally(() => {
        writing -= 1;
        if (writing === 0) for (const resolve of idlers.splice(0)) resolve();
      });
    }
  };
  const idle = () =>
    new Promise<void>((resolve) => {
      if (writing === 0) resolve();
      else idlers.push(resolve);
    });

  return {
    report(progress) {
      const news = newsOf(progress);
      if (!news || stopping.signal.aborted) return;
      const { kind, namespace, name } = news.object;
      if (!tokens.take(`${kind}/${namespace}/${name}`)) return leaveOut();
      if (queue.add(coreEvent(news, uidOf(news.object), { instance, now: clock.now() }))) leaveOut();
      startWriters();
    },
    async list(namespace) {
      const fieldSelector = `source=${COMPONENT}`;
      const { items } = await listObjects<CoreEvent>(client, API_RESOURCES.CoreEvent, { namespace, fieldSelector });
      return listedEvents(items);
    },
    idle,
    async stop(timeoutMs = 2_000) {
      const late = Promise.withResolvers<void>();
      const cancel = clock.setTimer(timeoutMs, late.resolve);
      await Promise.race([idle(), late.promise]);
      cancel();
      stopping.abort();
    },
  };
}

/** Its namespace goes, as events of what is deleted with it do. */
function isForNobody(error: unknown): boolean {
  return isApiError(error, 403) && error.causes.some(({ reason }) => reason === "NamespaceTerminating");
}
