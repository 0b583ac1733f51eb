import type { WorkloadRef } from "../apis/index.ts";
import type { Builder } from "../build/index.ts";
import type { Clock } from "../controller/index.ts";
import type { Platform } from "../platform/index.ts";
import type { Reporter } from "../report/index.ts";
import type { ResourceStore } from "../resources/index.ts";
import type { Runtime } from "../runtimes/index.ts";

/** What every reconciler needs whose objects are built and run. */
export interface RunDeps {
  readonly store: ResourceStore;
  readonly builder: Builder;
  readonly platform: Platform;
  readonly runtimes: ReadonlyMap<string, Runtime>;
  readonly clock: Clock;
  readonly report: Reporter;
  /** As of `CleanUpDeps`. */
  isGone?(ref: WorkloadRef): Promise<boolean>;
}
