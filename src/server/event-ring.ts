import type { ObjectKey } from "../apis/index.ts";
import type { Clock } from "../controller/index.ts";
import type { ProgressEvent } from "../report/index.ts";
import type { EventItem } from "./items.ts";

const PER_NAMESPACE = 200;
const NAMESPACES_MAX = 1_000;
const MESSAGE_MAX = 1_000;

/** The latest events of every namespace; they go with the process. */
export interface EventRing {
  report(event: ProgressEvent): void;
  /** Oldest first. */
  list(namespace: string): readonly EventItem[];
}

/** Keeps the last 200 events of the 1,000 namespaces in which something happened last. */
export function createEventRing(clock: Pick<Clock, "now">): EventRing {
  const rings = new Map<string, EventItem[]>();
  return {
    report(event) {
      const told = toldBy(event);
      if (!told) return;
      const { namespace, ...item } = told;
      const ring = rings.get(namespace) ?? [];
      // Entered anew, so that the first of the map is the one that was silent for longest.
      rings.delete(namespace);
      rings.set(namespace, ring);
      ring.push({ ...item, message: item.message.slice(0, MESSAGE_MAX), time: clock.now().toISOString() });
      if (ring.length > PER_NAMESPACE) ring.shift();
      if (rings.size > NAMESPACES_MAX) rings.delete(rings.keys().next().value!);
    },
    list: (namespace) => [...(rings.get(namespace) ?? [])],
  };
}

type Told = Omit<EventItem, "time"> & { readonly namespace: string };

/** What an event says about an object; a notice is about none. */
function toldBy(event: ProgressEvent): Told | undefined {
  switch (event.step) {
    case "fetched":
      return normal("Fetched", repository(event.repository), `Fetched ${event.revision}`);
    case "planned":
      return normal("Planned", repository(event.repository), `${count(event.changes.length)} at ${event.revision}`);
    case "applied":
      return normal("Applied", repository(event.repository), `Wrote ${event.objects} objects of ${event.revision}`);
    case "stored":
      return normal("SourceStored", event.object, `Stored source ${event.sourceDigest.slice(0, 12)}`);
    case "built":
      return normal("Built", event.object, event.reused ? "The image was built before" : `Built ${event.imageRef}`);
    case "serving":
      return normal("Serving", event.object, event.url ? `Serves at ${event.url}` : "Serves");
    case "finished": {
      const type = event.phase === "Failed" ? "Warning" : "Normal";
      return { ...normal(event.phase, event.object, event.message), type };
    }
    case "deleted":
      return normal("Deleted", event.object, "Deleted");
    case "failed":
      return { ...normal(event.reason, event.object, event.message), type: "Warning" };
    case "notice":
      return undefined;
    default:
      throw new Error(`unknown event ${JSON.stringify(event satisfies never)}`);
  }
}

type Subject = { readonly kind: string } & ObjectKey;

function normal(reason: string, { kind, namespace, name }: Subject, message: string): Told {
  return { namespace, type: "Normal", reason, message, object: { kind, name } };
}

function repository({ namespace, name }: ObjectKey): Subject {
  return { kind: "Repository", namespace, name };
}

function count(changes: number): string {
  return changes === 1 ? "1 change" : `${changes} changes`;
}
