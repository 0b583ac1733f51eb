import type { Clock } from "../controller/index.ts";
import { newsOf, type ProgressEvent } from "../report/index.ts";
import type { EventItem } from "./items.ts";

const PER_NAMESPACE = 200;
/** Of all namespaces together: an event takes up to a kilobyte. */
const EVENTS_MAX = 20_000;
const MESSAGE_MAX = 1_000;

/** What happened lately in a namespace, oldest first. */
export interface EventList {
  list(namespace: string): readonly EventItem[] | Promise<readonly EventItem[]>;
}

/** The latest events of every namespace; they go with the process. */
export interface EventRing extends EventList {
  report(event: ProgressEvent): void;
  list(namespace: string): readonly EventItem[];
}

/** Keeps the last 200 events of each of the namespaces in which something happened last, 20,000 in all. */
export function createEventRing(clock: Pick<Clock, "now">): EventRing {
  const rings = new Map<string, EventItem[]>();
  let kept = 0;
  const forgetSilent = () => {
    for (const [namespace, { length }] of rings) {
      if (kept <= EVENTS_MAX) return;
      rings.delete(namespace);
      kept -= length;
    }
  };
  return {
    report(event) {
      const news = newsOf(event);
      if (!news) return;
      const { type, reason, message, object } = news;
      const { kind, namespace, name } = object;
      const ring = rings.get(namespace) ?? [];
      // Entered anew, so that the first of the map is the one that was silent for longest.
      rings.delete(namespace);
      rings.set(namespace, ring);
      const time = clock.now().toISOString();
      ring.push({ type, reason, message: message.slice(0, MESSAGE_MAX), object: { kind, name }, time });
      if (ring.length > PER_NAMESPACE) ring.shift();
      else kept += 1;
      forgetSilent();
    },
    list: (namespace) => [...(rings.get(namespace) ?? [])],
  };
}
