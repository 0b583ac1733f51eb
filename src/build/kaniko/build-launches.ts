import type { Clock } from "../../controller/clock.ts";
import { isApiError } from "../../kubernetes/index.ts";
import { toSlessError } from "../../tenancy/index.ts";
import type { ImageJobRequest, ImageJobState } from "../image-jobs.ts";
import { refusalTrouble } from "./build-troubles.ts";
import { fairQueue, type QueueLimits } from "./fair-queue.ts";

type Building = Extract<ImageJobState, { phase: "building" }>;
type Failed = Extract<ImageJobState, { phase: "failed" }>;

/** Builds that wait for their turn, whose Jobs are being made, or could not be made. */
export interface BuildLaunches {
  /** Where a build stands before it has a Job. */
  state(key: string): Building | undefined;
  add(request: ImageJobRequest): Building;
  /** Why the cluster refused its Job, unless that was before the time given. */
  refusal(key: string, before: Date | undefined): Failed | undefined;
  /** Why its Job could not be made, told once: then it may be added again. @throws it */
  throwFault(key: string): void;
  /** Nobody wants it: a Job that is being made is ended. */
  drop(key: string): void;
  /** Begins what there is room for. */
  pump(): void;
}

export interface LaunchesOptions extends QueueLimits {
  readonly clock: Clock;
  /** How many run of each tenant; undefined while that is not known. */
  readonly running: () => Map<string, number> | undefined;
  /** Makes the Job and takes note of it. Rejects when the signal aborted meanwhile, and has left nothing then. */
  readonly launch: (request: ImageJobRequest, signal: AbortSignal) => Promise<void>;
  /** A Job was made, or could not be made. */
  readonly changed: (key: string) => void;
}

interface Pending {
  readonly request: ImageJobRequest;
  readonly since: Date;
  readonly stop: AbortController;
}

interface Launch extends Pending {
  /** Never rejects. */
  readonly done: Promise<void>;
}

const KEPT_FAULTS = 1_000;

export function openBuildLaunches(options: LaunchesOptions): BuildLaunches {
  const { clock, running, changed } = options;
  const queue = fairQueue<Pending>(options);
  const launches = new Map<string, Launch>();
  const faults = new Map<string, unknown>();
  const refusals = new Map<string, Failed>();

  function pump(): void {
    for (;;) {
      const counts = running();
      if (!counts) return;
      for (const { request } of launches.values()) {
        const { namespace } = request.workload;
        counts.set(namespace, (counts.get(namespace) ?? 0) + 1);
      }
      const next = queue.next(counts);
      if (!next) return;
      const { key } = next.request;
      // One that was dropped in the middle of it leaves nothing, but it takes its time.
      launches.set(key, { ...next, done: launch(next, launches.get(key)?.done) });
    }
  }

  async function launch({ request, stop }: Pending, before: Promise<void> | undefined): Promise<void> {
    const { key } = request;
    await before;
    try {
      await options.launch(request, stop.signal);
    } catch (error) {
      if (!stop.signal.aborted) noteFault(key, error);
    }
    if (launches.get(key)?.stop === stop) launches.delete(key);
    changed(key);
    pump();
  }

  function noteFault(key: string, error: unknown): void {
    if (!isApiError(error, 403) && !isApiError(error, 422)) {
      remember(faults, key, toSlessError(error));
      return;
    }
    const { reason, happened, remedy } = refusalTrouble(error.message);
    const message = `${happened} ${remedy}`;
    remember(refusals, key, { phase: "failed", by: "builder", reason, message, tail: "", failedAt: clock.now() });
  }

  function state(key: string): Building | undefined {
    const launching = launches.get(key);
    if (launching && !launching.stop.signal.aborted)
      return { phase: "building", startedAt: launching.since, step: "preparing its files" };
    const waiting = queue.get(key);
    return waiting && { phase: "building", startedAt: waiting.since, step: "waiting for a slot" };
  }

  return {
    state,
    add(request) {
      const since = clock.now();
      refusals.delete(request.key);
      queue.put(request.workload.namespace, request.key, { request, since, stop: new AbortController() });
      pump();
      return state(request.key) ?? { phase: "building", startedAt: since, step: "waiting for a slot" };
    },
    refusal(key, before) {
      const refused = refusals.get(key);
      return refused && !(before && refused.failedAt < before) ? refused : undefined;
    },
    throwFault(key) {
      if (!faults.has(key)) return;
      const fault = faults.get(key);
      faults.delete(key);
      throw fault;
    },
    drop(key) {
      queue.remove(key);
      faults.delete(key);
      refusals.delete(key);
      launches.get(key)?.stop.abort(new Error("nobody wants it any more"));
    },
    pump,
  };
}

/** Keys of old pushes are never asked for again. */
function remember<T>(faults: Map<string, T>, key: string, fault: T): void {
  faults.delete(key);
  faults.set(key, fault);
  const [oldest] = faults.keys();
  if (faults.size > KEPT_FAULTS && oldest !== undefined) faults.delete(oldest);
}
