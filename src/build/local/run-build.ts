import type { WorkloadRef } from "../../apis/index.ts";
import type { Interpreter } from "../../runtimes/index.ts";
import type { BuildFailures } from "../build-failures.ts";
import { toBuildFault } from "../build-fault.ts";
import type { BuildLogs } from "../build-logs.ts";
import type { BuildRequest } from "../builder.ts";
import type { Build } from "../builds-in-flight.ts";
import { failureId } from "../handler-file.ts";
import { buildImage, type ImageDeps } from "./build-image.ts";

/** What a build in flight starts from. */
export interface BuildWanted {
  readonly request: BuildRequest;
  readonly interpreter: Interpreter;
}

interface RunOptions {
  readonly deps: ImageDeps;
  readonly logs: BuildLogs;
  readonly failures: BuildFailures;
  /** The build of the key succeeded; these waited for it. */
  readonly made: (key: string, workloads: Iterable<WorkloadRef>) => void;
}

/** Builds, and notes how it ended. An aborted build ended in no way. */
export async function runBuild(
  key: string,
  { request, interpreter }: BuildWanted,
  build: Build,
  step: (name: string) => void,
  { deps, logs, failures, made }: RunOptions,
): Promise<void> {
  const { signal } = build.stop;
  const log = await logs.begin(key);
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
