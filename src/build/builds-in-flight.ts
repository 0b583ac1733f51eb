import { refText, type WorkloadRef } from "../apis/index.ts";
import type { Clock } from "../controller/clock.ts";

/** A build that runs, and who waits for it. */
export interface Build {
  readonly workloads: Map<string, WorkloadRef>;
  readonly stop: AbortController;
  readonly startedAt: Date;
  /** Never rejects. */
  readonly done: Promise<void>;
  step: string;
}

/** The builds that run, one per key. */
export interface BuildsInFlight<Wanted> {
  get(key: string): Build | undefined;
  start(key: string, wanted: Wanted): Build;
  /** The workload waits no more. A build for which nobody waits is ended: the result resolves when it is. */
  leave(key: string, workload: WorkloadRef): Promise<void>;
  keys(): string[];
  /** Ends them all. */
  close(): Promise<void>;
}

export interface FlightOptions<Wanted> {
  readonly clock: Clock;
  readonly firstStep: string;
  /** Builds, and notes how it ended; `step` tells what is done now. Never rejects; an aborted build ended in no way. */
  readonly run: (key: string, wanted: Wanted, build: Build, step: (name: string) => void) => Promise<void>;
  /** Something is new for those who wait. */
  readonly changed: (workloads: Iterable<WorkloadRef>) => void;
}

/** Why builds are ended at the end of the process: others may go on with them. */
export const SHUTTING_DOWN = "it is shutting down";

export function openBuildsInFlight<Wanted>(options: FlightOptions<Wanted>): BuildsInFlight<Wanted> {
  const builds = new Map<string, Build>();

  async function end(builds: readonly Build[], reason: string): Promise<void> {
    for (const build of builds) build.stop.abort(new Error(reason));
    await Promise.all(builds.map((build) => build.done));
  }

  return {
    get: (key) => builds.get(key),
    keys: () => [...builds.keys()],
    start(key, wanted) {
      const { promise: done, resolve } = Promise.withResolvers<void>();
      const startedAt = options.clock.now();
      const build: Build = {
        workloads: new Map(),
        stop: new AbortController(),
        startedAt,
        step: options.firstStep,
        done,
      };
      const step = (name: string) => {
        if (build.step === name) return;
        build.step = name;
        options.changed(build.workloads.values());
      };
      builds.set(key, build);
      void options.run(key, wanted, build, step).finally(() => {
        builds.delete(key);
        resolve();
        options.changed(build.workloads.values());
      });
      return build;
    },
    async leave(key, workload) {
      const build = builds.get(key);
      build?.workloads.delete(refText(workload));
      if (build?.workloads.size === 0) await end([build], "nobody wants it any more");
    },
    close: () => end([...builds.values()], SHUTTING_DOWN),
  };
}
