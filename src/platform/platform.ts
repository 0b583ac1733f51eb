import type { WorkloadRef } from "../apis/index.ts";

/** What the replicas of a Function or Service, or the run of a job, are made of. Equal specs are the same revision. */
export interface WorkloadSpec {
  readonly workload: WorkloadRef;
  /** By digest; made by the Builder of the same composition. */
  readonly imageRef: string;
  /** Of the source that the image was built of. */
  readonly sourceDigest: string;
  readonly entrypoint: string;
  readonly memoryMB: number;
  /** Seconds a call may take; 0 = no limit. */
  readonly timeoutSec: number;
  readonly env: Readonly<Record<string, string>>;
  /** Resolved by the platform, from secrets of the workload's namespace only. */
  readonly secretEnv: Readonly<Record<string, { readonly secret: string; readonly key: string }>>;
}

export interface WorkloadState {
  /** Replicas that answer, of any revision. */
  readonly serving: number;
  /** Image of the replicas that serve now. */
  readonly servingImageRef?: string;
  /** Of the source of that image. */
  readonly servingSourceDigest?: string;
  /** All wanted replicas of the applied spec serve and none of an older one is left in the table. */
  readonly current: boolean;
  /** The applied spec cannot start or crashes: CamelCase reason and a message with the last lines of its log. */
  readonly failure?: { readonly reason: string; readonly message: string };
}

/** A replica for the time of one call: it is not stopped before `release` (a draining one may be forced after its timeout). */
export interface Lease {
  /** `http://127.0.0.1:41234` */
  readonly origin: string;
  /** Names the replica, for logs and for telling calls of one replica from another's. */
  readonly replica: string;
  release(): void;
}

export interface JobRun {
  readonly spec: WorkloadSpec;
  readonly runID: number;
  /** JSON text, the handler's event. */
  readonly eventJSON: string | undefined;
  /** Whoever asks knows that this very run was begun earlier: when nothing is left of it, it is told as failed, not run again. */
  readonly begun?: boolean;
}

export type JobState =
  | { readonly phase: "running"; readonly jobName: string; readonly startTime: string }
  /**
   * `message`: the result on success, at most 64 KiB of it and, where it was to be read from a log that could not be
   * read, some 4 KiB and why; reason and last lines on failure, at most 4,096 bytes. Truncation is marked.
   */
  | {
      readonly phase: "succeeded" | "failed";
      readonly jobName: string;
      readonly startTime: string;
      readonly completionTime: string;
      readonly message: string;
    };

/**
 * Runs workloads. Level-based: `apply` states what is wanted and returns what is now; changes are told to the listeners.
 * An older revision serves until the new one is healthy, and its calls in flight end well. What serves goes on serving
 * when sless is started anew, before the first `apply` and whatever that will want; a revision whose image is gone by
 * then is forgotten.
 */
export interface Platform {
  /** `replicas` 0 stops it. Applying an equal spec changes nothing. */
  apply(spec: WorkloadSpec, replicas: number): Promise<WorkloadState>;
  /** Stops and forgets it; calls in flight may end within their timeout. Removing what is not there is no error. */
  remove(workload: WorkloadRef): Promise<void>;
  /** What runs or is kept of it, also before the first `apply` of this process. */
  state(workload: WorkloadRef): Promise<WorkloadState | undefined>;
  /** Workloads that have something running or kept, for clean-up of what no object wants. */
  list(): Promise<WorkloadRef[]>;
  /** The least busy serving replica; undefined when none serves. Synchronous: the gateway's hot path. */
  acquire(workload: WorkloadRef): Lease | undefined;
  /**
   * Runs a job once per (workload, runID), also over restarts; asking again tells its state. A run whose result is still
   * being read is running.
   */
  runJob(run: JobRun): Promise<JobState>;
  onChange(listener: (workload: WorkloadRef) => void): () => void;
  /** Output of the replicas, oldest first; with `follow` until `signal` aborts. */
  logs(
    workload: WorkloadRef,
    options: { follow: boolean; tailLines?: number; signal: AbortSignal },
  ): AsyncIterable<Uint8Array>;
}
