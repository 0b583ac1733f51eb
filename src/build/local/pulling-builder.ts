import { hashFields, refText, type WorkloadRef } from "../../apis/index.ts";
import type { Clock } from "../../controller/clock.ts";
import type { Interpreter, Runtime } from "../../runtimes/index.ts";
import { buildFailures, failNow } from "../build-failures.ts";
import type { Builder, BuildRequest, BuildState } from "../builder.ts";
import { openBuildsInFlight } from "../builds-in-flight.ts";
import { toImageFault } from "../registry-faults.ts";
import { damagedImage } from "./ensure-image.ts";
import { type Interpreters, toolchainMissing } from "./interpreters.ts";
import type { PullDeps } from "./pull-image.ts";
import type { PulledImages } from "./pulled-images.ts";

export interface PullingBuilderOptions {
  /** Makes the images, in the registry. */
  readonly images: Builder;
  readonly pulled: PulledImages;
  readonly from: PullDeps;
  readonly interpreters: Interpreters;
  readonly clock: Clock;
  /** Hears of images of this machine that are not whole any more. */
  readonly notice?: (message: string) => void;
}

export interface PullingBuilder extends Builder {
  /** A workload wants this image of the machine, by the hex digits of its digest. */
  isWanted(key: string): boolean;
  /** Ends what is in flight here, not the builder of images. */
  close(): Promise<void>;
}

interface PullWanted {
  readonly imageRef: string;
  readonly runtime: Runtime;
}

type Built = Extract<BuildState, { phase: "built" }>;

/**
 * A Builder of images in a registry for a Platform on this machine: an image is built when it is in the registry and was
 * unpacked here, so that what runs is what was pushed.
 */
export function pullingBuilder(options: PullingBuilderOptions): PullingBuilder {
  const { images, pulled, from, interpreters, clock, notice } = options;
  const listeners = new Set<(workload: WorkloadRef) => void>();
  const failures = buildFailures(clock);
  /** By workload: the image that it is given, or waits for. */
  const wanted = new Map<string, string>();
  const changed = (workloads: Iterable<WorkloadRef>) => {
    for (const workload of workloads) for (const listener of listeners) listener(workload);
  };
  const stopListening = images.onChange((workload) => changed([workload]));
  const pulls = openBuildsInFlight<PullWanted>({
    clock,
    firstStep: "unpacking the image",
    async run(key, { imageRef, runtime }, { stop: { signal } }) {
      try {
        await pulled.pull(imageRef, runtime, from, signal);
        failures.forget(key);
      } catch (error) {
        if (!signal.aborted) failures.add(key, toImageFault(error, from.registry.host));
      }
    },
    changed,
  });

  async function pulledState({ workload, runtime }: BuildRequest, built: Built): Promise<BuildState> {
    const { imageRef } = built;
    const key = imageRef.slice(-64);
    want(workload, key);
    if (!pulls.get(key)) {
      if (await pulled.has(imageRef)) {
        await pulled.touch(imageRef);
        return built;
      }
      const failed = failures.current(key, workload.name);
      if (failed) return failed;
      const damage = await pulled.damage(imageRef);
      if (damage !== undefined && !pulls.get(key)) notice?.(damagedImage(workload, damage));
    }
    const pull = pulls.get(key) ?? pulls.start(key, { imageRef, runtime });
    pull.workloads.set(refText(workload), workload);
    return { phase: "building", startedAt: pull.startedAt, step: pull.step };
  }

  function want(workload: WorkloadRef, key: string): void {
    const before = wanted.get(refText(workload));
    wanted.set(refText(workload), key);
    if (before !== undefined && before !== key) void pulls.leave(before, workload);
  }

  return {
    async ensure(request) {
      const { runtime, workload } = request;
      const toolchain = `toolchain ${runtime.name} ${runtime.digest}`;
      const missing = failures.current(toolchain, workload.name);
      if (missing) return missing;
      const interpreter = await interpreters.find(runtime);
      if (!interpreter) return failNow(toolchain, toolchainMissing(runtime), workload, { failures });
      const state = await images.ensure({ ...request, runtime: runtimeOfMachine(runtime, interpreter) });
      return state.phase === "built" ? pulledState(request, state) : state;
    },
    has: (imageRef) => images.has(imageRef),
    async cancel(workload) {
      const key = wanted.get(refText(workload));
      wanted.delete(refText(workload));
      await Promise.all([images.cancel(workload), key === undefined ? undefined : pulls.leave(key, workload)]);
    },
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    logs: (workload, options) => images.logs(workload, options),
    isWanted: (key) => pulls.get(key) !== undefined || [...wanted.values()].includes(key),
    async close() {
      stopListening();
      await pulls.close();
    },
  };
}

/** What was installed or compiled with another interpreter, or for another machine, is another image. */
function runtimeOfMachine(runtime: Runtime, { version }: Interpreter): Runtime {
  const machine = `${version} on ${process.platform}/${process.arch}`;
  return {
    ...runtime,
    digest: hashFields(["machine/v1", runtime.digest, machine]),
    // Part of the Dockerfile, and so of the keys of dependencies.
    buildEnv: { ...runtime.buildEnv, SLESS_INTERPRETER: machine },
  };
}
