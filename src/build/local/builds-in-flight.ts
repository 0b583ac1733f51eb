import { refText, type WorkloadRef } from "../../apis/index.ts";
import type { Clock } from "../../controller/clock.ts";
import type { Interpreter } from "../../runtimes/index.ts";
import type { BuildRequest } from "../builder.ts";
import type { BuildFailures } from "./build-failures.ts";
import { toBuildFault } from "./build-fault.ts";
import { buildImage, type ImageDeps } from "./build-image.ts";
import type { BuildLogs } from "./build-logs.ts";

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
export interface BuildsInFlight {
  get(key: string): Build | undefined;
  start(key: string, request: BuildRequest, interpreter: Interpreter): Build;
  /** The workload waits no more. A build for which nobody waits is ended: the result resolves when it is. */
  leave(key: string, workload: WorkloadRef): Promise<void>;
  keys(): string[];
  /** Ends them all. */
  close(): Promise<void>;
}

interface FlightOptions {
  readonly deps: ImageDeps;
  readonly logs: BuildLogs;
  readonly failures: BuildFailures;
  readonly clock: Clock;
  /** The build of the key succeeded; these waited for it. */
  readonly made: (key: string, workloads: Iterable<WorkloadRef>) => void;
  /** Something is new for those who wait. */
  readonly changed: (workloads: Iterable<WorkloadRef>) => void;
}

export function openBuildsInFlight(options: FlightOptions): BuildsInFlight {
  const builds = new Map<string, Build>();

  async function end(builds: readonly Build[], reason: string): Promise<void> {
    for (const build of builds) build.stop.abort(new Error(reason));
    await Promise.all(builds.map((build) => build.done));
  }

  return {
    get: (key) => builds.get(key),
    keys: () => [...builds.keys()],
    start(key, request, interpreter) {
      const { promise: done, resolve } = Promise.withResolvers<void>();
      const startedAt = options.clock.now();
      const build = { workloads: new Map(), stop: new AbortController(), startedAt, step: "unpacking", done };
      builds.set(key, build);
      void runBuild(key, build, { request, interpreter }, options).finally(() => {
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
    close: () => end([...builds.values()], "it is shutting down"),
  };
}

/** Builds, and notes how it ended. An aborted build ended in no way. */
async function runBuild(
  key: string,
  build: Build,
  { request, interpreter }: { readonly request: BuildRequest; readonly interpreter: Interpreter },
  { deps, logs, failures, made, changed }: FlightOptions,
): Promise<void> {
  const { signal } = build.stop;
  const log = await logs.begin(key);
  const step = (name: string) => {
    build.step = name;
    changed(build.workloads.values());
  };
  try {
    await buildImage({ key, request, interpreter, log, signal, step }, deps);
    failures.forget(key);
    made(key, build.workloads.values());
  } catch (error) {
    if (!signal.aborted) {
      const fault = toBuildFault(error);
      failures.add(failureId(key, fault.code === "source_missing" ? request.entrypoint : undefined), fault);
      await log.append(Buffer.from(`sless: ${fault.happened}\n`));
    }
  }
  await logs.end(key);
}

/** A missing handler is the fault of one entry point, not of the source that others may share. */
export function failureId(key: string, entrypoint: string | undefined): string {
  return entrypoint === undefined ? key : `${key} ${entrypoint}`;
}
