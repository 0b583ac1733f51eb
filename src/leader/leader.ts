import type { ObjectKey, ObjectRef, WorkloadRef } from "../apis/index.ts";
import type { GarbageReport } from "../garbage/index.ts";
import type { ManifestPlace } from "../writes/index.ts";

/** What one process of the controllers alone knows or does: the one that leads. Others ask it through its port. */
export interface Leader {
  /** Where the manifest of an object stands in the revision of a repository that was read last; undefined: not there. */
  placeOf(object: ObjectRef, repository: ObjectKey): Promise<ManifestPlace | undefined>;
  /** As of `Builder.logs`. */
  buildLogs(workload: WorkloadRef, options: LogOptions): AsyncIterable<Uint8Array>;
  /** Looks for garbage and, but in a dry run, removes it. @throws SlessError as `Garbage.collect` */
  collectGarbage(options: { readonly dryRun: boolean }): Promise<GarbageReport>;
}

export interface LogOptions {
  /** Until the build ends. */
  readonly follow: boolean;
  readonly signal: AbortSignal;
}
