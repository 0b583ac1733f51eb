import type { CoreEvent } from "./core-event.ts";

const EVENTS_MAX = 200;

/** An event as the REST API gives it. */
export interface ListedEvent {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
  readonly object: { readonly kind: string; readonly name: string };
  /** RFC 3339; when it was told last. */
  readonly time: string;
}

/** The latest, oldest first: by their seconds, and within one by their versions. Pure. */
export function listedEvents(events: readonly CoreEvent[]): ListedEvent[] {
  return [...events]
    .sort((a, b) => compare(timeOf(a), timeOf(b)) || versionOf(a) - versionOf(b))
    .slice(-EVENTS_MAX)
    .map((event) => ({
      type: event.type === "Warning" ? "Warning" : "Normal",
      reason: event.reason ?? "",
      message: event.message ?? "",
      object: { kind: event.involvedObject.kind ?? "", name: event.involvedObject.name ?? "" },
      time: timeOf(event),
    }));
}

function timeOf({ lastTimestamp, metadata }: CoreEvent): string {
  return lastTimestamp ?? metadata.creationTimestamp ?? "";
}

/** Comparable decimal counters (KEP 5504), below 2^53 for any cluster that people run. */
function versionOf({ metadata }: CoreEvent): number {
  return Number(metadata.resourceVersion ?? 0);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
