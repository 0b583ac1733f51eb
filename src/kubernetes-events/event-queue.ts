import type { CoreEvent } from "./core-event.ts";

/** An event that is to be written, and how often it was told meanwhile. */
export interface QueuedEvent {
  readonly event: CoreEvent;
  readonly times: number;
}

/** Events that wait to be written: equal ones once, with a count; of too many the Normal ones are left out first. */
export interface EventQueue {
  /** @returns whether one was left out for it, or it itself */
  add(event: CoreEvent): boolean;
  /** Warnings first. */
  take(): QueuedEvent | undefined;
  readonly size: number;
}

export function createEventQueue(max: number): EventQueue {
  const queues = { Warning: new Map<string, QueuedEvent>(), Normal: new Map<string, QueuedEvent>() };
  const size = () => queues.Warning.size + queues.Normal.size;
  const first = (queue: Map<string, QueuedEvent>) => queue.entries().next().value;
  return {
    add(event) {
      const queue = event.type === "Warning" ? queues.Warning : queues.Normal;
      const key = `${event.metadata.namespace}/${event.metadata.name}`;
      const waiting = queue.get(key);
      const isFull = !waiting && size() >= max;
      const evicted = isFull && queue === queues.Warning ? first(queues.Normal)?.[0] : undefined;
      if (isFull && evicted === undefined) return true;
      if (evicted !== undefined) queues.Normal.delete(evicted);
      const firstTimestamp = (waiting?.event ?? event).firstTimestamp ?? null;
      queue.set(key, { event: { ...event, firstTimestamp }, times: (waiting?.times ?? 0) + 1 });
      return isFull;
    },
    take() {
      const queue = queues.Warning.size > 0 ? queues.Warning : queues.Normal;
      const entry = first(queue);
      if (!entry) return undefined;
      queue.delete(entry[0]);
      return entry[1];
    },
    get size() {
      return size();
    },
  };
}
