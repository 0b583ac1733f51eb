import type { WorkloadRef } from "../../apis/index.ts";
import type { TimerClock } from "../../controller/clock.ts";
import type { LogFile } from "../../processes/index.ts";
import { type RegistryClient, RegistryError } from "../../registry/index.ts";
import { BuildFault } from "../build-fault.ts";
import { SHUTTING_DOWN } from "../builds-in-flight.ts";
import type { ImageJobRequest, ImageJobState, ImageJobs } from "../image-jobs.ts";
import { toImageFault } from "../registry-faults.ts";
import { retryDelayMs } from "../retry-delay.ts";
import { openSharedRuns, type RunContext, type RunUser } from "../shared-runs.ts";

/** An image that commands make, and how to speak of it. */
export interface JobImageWanted extends Omit<ImageJobRequest, "retryBefore"> {
  /** Why commands are needed, in words. */
  readonly reason: string;
  readonly workload: WorkloadRef;
  /** What of a failed command is told. */
  readonly fault: (cause: string, tail: string) => BuildFault;
}

/** Images that commands make, by key: each is made once for all who want it. */
export interface JobImages {
  /**
   * @returns digest in the repository of the target
   * @throws BuildFault; the signal's reason
   */
  provide(wanted: JobImageWanted, user: RunUser): Promise<string>;
  /** This digest, or something, is gone from the registry: looks again. */
  forget(digest?: string): void;
  close(): void;
}

interface JobImagesOptions {
  readonly jobs: ImageJobs | undefined;
  readonly registry: RegistryClient;
  readonly clock: TimerClock;
  readonly folder: string;
}

/** A job whose news got lost is asked for again. */
const ASK_AGAIN_MS = 30_000;

export function openJobImages(options: JobImagesOptions): JobImages {
  const { jobs, registry, folder, clock } = options;
  const digests = new Map<string, string>();
  const changes = openKeyChanges();
  const stop = jobs?.onChange(changes.tell);
  const runs = openSharedRuns<JobImageWanted, string>({
    folder,
    clock,
    run: (key, wanted, context) => runJob(key, wanted, context, { ...options, changes }),
  });

  async function find({ key, target }: JobImageWanted): Promise<string | undefined> {
    return digests.get(key) ?? registry.manifestDigest(target.repository, target.tag);
  }

  return {
    async provide(wanted, user) {
      const { key } = wanted;
      const there = runs.isRunning(key) ? undefined : await find(wanted);
      const digest = there ?? (await runs.provide(key, wanted, user));
      digests.set(key, digest);
      return digest;
    },
    forget(gone) {
      for (const [key, digest] of digests) if (gone === undefined || digest === gone) digests.delete(key);
    },
    close: () => stop?.(),
  };
}

interface JobDeps extends JobImagesOptions {
  readonly changes: KeyChanges;
}

/** Follows a job to its end. A shutdown leaves it to whoever comes next. */
async function runJob(key: string, wanted: JobImageWanted, context: RunContext, deps: JobDeps): Promise<string> {
  const { jobs } = deps;
  if (!jobs) throw new BuildFault("builder_missing", { reason: wanted.reason });
  try {
    return await lastingDigest(wanted, { ...context, jobs }, deps);
  } catch (error) {
    if (!context.signal.aborted) throw toImageFault(error, deps.registry.host);
    const isEnd = (context.signal.reason as Error).message === SHUTTING_DOWN;
    if (!isEnd) await jobs.cancel(key);
    throw context.signal.reason;
  }
}

interface Following extends RunContext {
  readonly jobs: ImageJobs;
}

/** What a job made before may have been removed from the registry, and what failed long ago may be tried again. */
async function lastingDigest(wanted: JobImageWanted, context: Following, deps: JobDeps): Promise<string> {
  const { registry } = deps;
  const first = await untilEnd(wanted, undefined, context, deps);
  if (first.phase === "failed" && !isOver(first, deps)) throw faultOf(first, wanted);
  if (first.phase === "built" && (await isThere(first.digest, wanted, registry))) return first.digest;
  // By the clock that told when it ended.
  const endedAt = first.phase === "built" ? first.builtAt : first.failedAt;
  const second = await untilEnd(wanted, new Date(endedAt.getTime() + 1), context, deps);
  if (second.phase === "failed") throw faultOf(second, wanted);
  if (await isThere(second.digest, wanted, registry)) return second.digest;
  const { repository } = wanted.target;
  throw new RegistryError(404, "MANIFEST_UNKNOWN", `${repository}@${second.digest} was built and is not there`);
}

function isOver({ failedAt }: Failed, { clock }: JobDeps): boolean {
  return failedAt.getTime() + retryDelayMs(1, "build_failed") <= clock.now().getTime();
}

async function isThere(digest: string, { target }: JobImageWanted, registry: RegistryClient): Promise<boolean> {
  return (await registry.manifestDigest(target.repository, digest)) !== undefined;
}

type Ended = Exclude<ImageJobState, { phase: "building" }>;
type Failed = Extract<ImageJobState, { phase: "failed" }>;

async function untilEnd(
  wanted: JobImageWanted,
  retryBefore: Date | undefined,
  { jobs, log, signal, step }: Following,
  { changes, clock }: JobDeps,
): Promise<Ended> {
  const { key, workload, target, dockerfile, files, recipe } = wanted;
  const request = { key, workload, target, dockerfile, files, ...(recipe ? { recipe } : {}) };
  let again = retryBefore && { retryBefore };
  const output = new AbortController();
  let copied: Promise<void> | undefined;
  try {
    for (;;) {
      signal.throwIfAborted();
      const changed = changes.next(key, clock, signal);
      try {
        const state = await jobs.ensure({ ...request, ...again });
        // What it began must not be begun anew, however coarse the clock is that tells when it ends.
        again = undefined;
        copied ??= copyLogs(key, jobs, log, output.signal);
        if (state.phase !== "building") {
          await Promise.race([copied, changed.promise]);
          return state;
        }
        step(state.step);
        await changed.promise;
      } finally {
        changed.stop();
      }
    }
  } finally {
    output.abort();
  }
}

function faultOf(state: Failed, { fault }: JobImageWanted): BuildFault {
  const { by, message, tail, reason } = state;
  return by === "command"
    ? fault(message, tail)
    : new BuildFault("builder_failed", { cause: message }, { tail, reason });
}

async function copyLogs(key: string, jobs: ImageJobs, log: LogFile, signal: AbortSignal): Promise<void> {
  try {
    for await (const chunk of jobs.logs(key, { follow: true, signal })) await log.append(chunk);
  } catch {
    // Output that cannot be had costs lines, not the build.
  }
}

interface KeyChanges {
  readonly tell: (key: string) => void;
  /** Resolves at the next news of the key, after a while, or when the signal aborts. */
  next(key: string, clock: TimerClock, signal: AbortSignal): { readonly promise: Promise<void>; stop(): void };
}

function openKeyChanges(): KeyChanges {
  const waiting = new Map<string, Set<() => void>>();
  return {
    tell(key) {
      for (const go of [...(waiting.get(key) ?? [])]) go();
    },
    next(key, clock, signal) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const go = () => resolve();
      const mine = waiting.get(key) ?? new Set();
      waiting.set(key, mine.add(go));
      const stopTimer = clock.setTimer(ASK_AGAIN_MS, go);
      signal.addEventListener("abort", go, { once: true });
      return {
        promise,
        stop() {
          stopTimer();
          signal.removeEventListener("abort", go);
          mine.delete(go);
          if (mine.size === 0) waiting.delete(key);
        },
      };
    },
  };
}
