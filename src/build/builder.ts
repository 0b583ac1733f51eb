import type { WorkloadRef } from "../apis/index.ts";
import type { Runtime } from "../runtimes/index.ts";

export interface BuildRequest {
  readonly workload: WorkloadRef;
  readonly runtime: Runtime;
  readonly entrypoint: string;
  readonly sourceDigest: string;
  /** Key of the source archive in the object store. */
  readonly sourceKey: string;
}

/** Where the build of a request stands. A failed one is tried again by `ensure` from `retryAt` on. */
export type BuildState =
  | { readonly phase: "building"; readonly startedAt: Date; readonly step: string }
  /** `imageRef` is by digest; `reused`: nothing had to be done. */
  | {
      readonly phase: "built";
      readonly imageRef: string;
      readonly builtAt: Date;
      readonly durationMs: number;
      readonly reused: boolean;
    }
  /** `reason` is CamelCase for a condition; `message` says what happened and what to do, with the last lines of output. */
  | {
      readonly phase: "failed";
      readonly reason: string;
      readonly message: string;
      readonly failedAt: Date;
      readonly retryAt: Date;
    };

/**
 * Makes images from sources. Level-based: `ensure` says what is known now and starts what is missing; when the
 * state changes the listeners hear of the workload. One build in flight per build key, shared by all who want it.
 */
export interface Builder {
  /** @throws SlessError only when the request itself is impossible (`runtime_unknown`) */
  ensure(request: BuildRequest): Promise<BuildState>;
  /** Is the image still there (it may have been collected)? */
  has(imageRef: string): Promise<boolean>;
  /** An image of this digest was removed: it is not taken to be there any more. Without it a builder remembers none. */
  forget?(digest: string): void;
  /** Ends what is in flight for this workload alone; a build that others wait for goes on. */
  cancel(workload: WorkloadRef): Promise<void>;
  /** @returns stops listening */
  onChange(listener: (workload: WorkloadRef) => void): () => void;
  /** Output of the workload's last build, all of it; with `follow` until the build ends. */
  logs(workload: WorkloadRef, options: { follow: boolean; signal: AbortSignal }): AsyncIterable<Uint8Array>;
}
