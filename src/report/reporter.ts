import type { ObjectKey, WorkloadRef } from "../apis/index.ts";

/**
 * What happened on the way from a push to a running function, for terminals, logs and events. Durations are
 * milliseconds of that step alone. Told once per change; a run that changes nothing tells nothing.
 */
export type ProgressEvent =
  | { readonly step: "fetched"; readonly repository: ObjectKey; readonly revision: string; readonly durationMs: number }
  | {
      readonly step: "planned";
      readonly repository: ObjectKey;
      readonly revision: string;
      readonly changes: readonly string[];
      readonly durationMs: number;
    }
  | {
      readonly step: "stored";
      readonly object: WorkloadRef;
      readonly sourceDigest: string;
      /** It was stored before, and this is what had become of it. */
      readonly instead?: "missing" | "damaged";
      readonly durationMs: number;
    }
  | {
      readonly step: "applied";
      readonly repository: ObjectKey;
      readonly revision: string;
      readonly objects: number;
      readonly durationMs: number;
    }
  | {
      readonly step: "built";
      readonly object: WorkloadRef;
      readonly imageRef: string;
      readonly reused: boolean;
      readonly durationMs: number;
    }
  | {
      readonly step: "serving";
      readonly object: WorkloadRef;
      readonly url: string | undefined;
      readonly durationMs: number;
    }
  | {
      readonly step: "finished";
      readonly object: WorkloadRef;
      readonly phase: string;
      readonly message: string;
      readonly durationMs: number;
    }
  | { readonly step: "deleted"; readonly object: { readonly kind: string } & ObjectKey }
  | {
      readonly step: "failed";
      readonly object: { readonly kind: string } & ObjectKey;
      readonly reason: string;
      readonly message: string;
    }
  | { readonly step: "notice"; readonly message: string };

export type Reporter = (event: ProgressEvent) => void;
