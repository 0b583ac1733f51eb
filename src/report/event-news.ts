import type { ObjectKey } from "../apis/index.ts";
import type { ProgressEvent } from "./reporter.ts";

/** What is told of an object when something happened to it. */
export interface EventNews {
  readonly type: "Normal" | "Warning";
  /** In CamelCase. */
  readonly reason: string;
  readonly message: string;
  readonly object: { readonly kind: string } & ObjectKey;
}

/** What an event says about an object; a notice is about none. Pure. */
export function newsOf(event: ProgressEvent): EventNews | undefined {
  switch (event.step) {
    case "fetched":
      return normal("Fetched", repository(event.repository), `Fetched ${event.revision}`);
    case "planned":
      return normal("Planned", repository(event.repository), `${count(event.changes.length)} at ${event.revision}`);
    case "applied":
      return normal("Applied", repository(event.repository), `Wrote ${event.objects} objects of ${event.revision}`);
    case "stored":
      return event.instead
        ? { ...normal("SourceRestored", event.object, restoredText(event)), type: "Warning" }
        : normal("SourceStored", event.object, `Stored source ${event.sourceDigest.slice(0, 12)}`);
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

/** What had become of a source in the object store, and that it is there again. */
export function restoredText({ sourceDigest, instead }: Extract<ProgressEvent, { step: "stored" }>): string {
  return `Source ${sourceDigest.slice(0, 12)} was ${instead} in the object store: stored it anew from the repository`;
}

function normal(reason: string, object: EventNews["object"], message: string): EventNews {
  return { type: "Normal", reason, message, object };
}

function repository({ namespace, name }: ObjectKey): EventNews["object"] {
  return { kind: "Repository", namespace, name };
}

function count(changes: number): string {
  return changes === 1 ? "1 change" : `${changes} changes`;
}
