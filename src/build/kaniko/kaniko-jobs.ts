import type { TimerClock } from "../../controller/clock.ts";
import { messageOf, SlessError } from "../../errors/index.ts";
import { isApiError, type KubernetesClient } from "../../kubernetes/index.ts";
import type { ObjectStore } from "../../storage/index.ts";
import { toSlessError } from "../../tenancy/index.ts";
import type { ImageJobRequest, ImageJobState, ImageJobs } from "../image-jobs.ts";
import { buildContexts } from "./build-contexts.ts";
import { buildLog } from "./build-log.ts";
import { BUILD_ANNOTATIONS, contextKeyOf } from "./build-names.ts";
import { type BuildSecrets, ensureBuildNamespace } from "./build-namespace.ts";
import { openBuildOutputs } from "./build-output.ts";
import { isOver, keyOf } from "./build-state.ts";
import { refusalTrouble } from "./build-troubles.ts";
import { openBuildView } from "./build-view.ts";
import { fairQueue } from "./fair-queue.ts";
import { jobStates } from "./job-states.ts";
import { KANIKO_DEFAULTS, type KanikoOptions, type KanikoSettings } from "./kaniko-settings.ts";
import { deleteJob, launchBuild } from "./launch-build.ts";
import { type LiveJob, reduceJob } from "./live-builds.ts";

export interface KanikoJobsOptions {
  readonly client: KubernetesClient;
  /** Where a build's files lie while it runs. */
  readonly objects: ObjectStore;
  /** An address at which whoever holds it may read one object for so many seconds. */
  readonly presign: (key: string, seconds: number) => Promise<string>;
  readonly clock: TimerClock;
  readonly log: { warn(fields: object, message: string): void };
  readonly settings: KanikoOptions;
}

export interface KanikoJobs extends ImageJobs {
  /** Resolves when it is known what runs. Ends with the signal; what runs goes on. Before it nothing is begun. */
  start(signal: AbortSignal): Promise<void>;
}

type Building = Extract<ImageJobState, { phase: "building" }>;
type Failed = Extract<ImageJobState, { phase: "failed" }>;

/** A build that waits for its turn, or whose Job is being made. */
interface Pending {
  readonly request: ImageJobRequest;
  readonly since: Date;
  readonly stop: AbortController;
}

/** So long what stands in the build namespace is taken to be as it was left. */
const NAMESPACE_MS = 60_000;
const KEPT_FAULTS = 1_000;

/** Builds images by kaniko, each in a Job of its own. Nothing is kept but in the cluster: any other process goes on with it. */
export function kanikoJobs(options: KanikoJobsOptions): KanikoJobs {
  const { client, objects, clock, log } = options;
  const settings: KanikoSettings = { ...KANIKO_DEFAULTS, ...options.settings };
  const { concurrency: limit, concurrencyPerTenant: limitPerTenant } = settings;
  const stop = new AbortController();
  const view = openBuildView({ client, clock, log, namespace: settings.namespace });
  const outputs = openBuildOutputs({ client, log, signal: stop.signal, stepped: (job) => notice(job) });
  const states = jobStates({ client, clock, view, outputs, settings, due: (job) => notice(job) });
  const contexts = buildContexts(objects, log);
  const queue = fairQueue<Pending>({ limit, limitPerTenant });
  const launches = new Map<string, Pending>();
  /** Why a Job could not be made: told once, or until it is tried again. */
  const errors = new Map<string, unknown>();
  const refusals = new Map<string, Failed>();
  const listeners = new Set<(key: string) => void>();
  const wakers = new Set<() => void>();
  let isStarted = false;
  let namespace: { readonly ready: Promise<BuildSecrets>; readonly untilMs: number } | undefined;

  function tell(key: string): void {
    for (const wake of [...wakers]) wake();
    for (const listener of listeners) listener(key);
  }

  /** Whatever changed of a Job. */
  function notice(job: LiveJob): void {
    const key = keyOf(job);
    if (key !== undefined && states.see(job)) tell(key);
  }

  view.onChange((job, isGone) => {
    const key = keyOf(job);
    if (key === undefined) return;
    const isNews = states.see(job);
    if (isGone) {
      states.forget(job);
      outputs.forget(job);
    }
    if (isNews || isGone) tell(key);
    const hasEnded = isNews && job.outcome !== undefined;
    if (!isStarted || !(isGone || hasEnded)) return;
    if (!launches.has(key) && (hasEnded || !job.outcome)) contexts.remove(contextOf(job));
    pump();
  });

  function ensureNamespace(): Promise<BuildSecrets> {
    if (namespace && namespace.untilMs > clock.monotonicMs()) return namespace.ready;
    const ready = ensureBuildNamespace({ client, settings, log });
    namespace = { ready, untilMs: clock.monotonicMs() + NAMESPACE_MS };
    ready.catch(() => {
      namespace = undefined;
    });
    return ready;
  }

  function pump(): void {
    while (isStarted && !stop.signal.aborted) {
      const running = view.running();
      for (const { request } of launches.values()) {
        const tenant = request.workload.namespace;
        running.set(tenant, (running.get(tenant) ?? 0) + 1);
      }
      const next = queue.next(running);
      if (!next) return;
      launches.set(next.request.key, next);
      void launch(next);
    }
  }

  async function launch(pending: Pending): Promise<void> {
    const { request, stop: cancelled } = pending;
    const { key, workload } = request;
    const deps = { ...options, settings, ensureNamespace };
    try {
      await contexts.settled(contextKeyOf(workload, key));
      const job = reduceJob(await launchBuild(request, cancelled.signal, deps));
      if (cancelled.signal.aborted) await end(job, contextKeyOf(workload, key));
      else view.jobs.observe(job);
    } catch (error) {
      if (cancelled.signal.aborted) contexts.remove(contextKeyOf(workload, key));
      else noteFault(key, error);
    }
    if (launches.get(key) === pending) launches.delete(key);
    tell(key);
    pump();
  }

  function noteFault(key: string, error: unknown): void {
    if (isApiError(error)) namespace = undefined;
    if (isApiError(error, 403) || isApiError(error, 422)) {
      const { reason, happened, remedy } = refusalTrouble(error.message);
      const message = `${happened} ${remedy}`;
      remember(refusals, key, { phase: "failed", by: "builder", reason, message, tail: "", failedAt: clock.now() });
    } else remember(errors, key, toSlessError(error));
  }

  async function end(job: LiveJob, contextKey: string | undefined): Promise<void> {
    await deleteJob({ client, settings }, job).catch((error: unknown) => {
      throw toSlessError(error);
    });
    contexts.remove(contextKey);
  }

  function pendingState(key: string): Building | undefined {
    const launching = launches.get(key);
    if (launching) return { phase: "building", startedAt: launching.since, step: "preparing its files" };
    const waiting = queue.get(key);
    return waiting && { phase: "building", startedAt: waiting.since, step: "waiting for a slot" };
  }

  function add(request: ImageJobRequest): Building {
    const { key, workload } = request;
    refusals.delete(key);
    queue.put(workload.namespace, key, { request, since: clock.now(), stop: new AbortController() });
    pump();
    return pendingState(key)!;
  }

  return {
    async start(signal) {
      signal.addEventListener("abort", () => stop.abort(), { once: true });
      await view.start(signal);
      isStarted = true;
      ensureNamespace().catch((error: unknown) =>
        log.warn({ namespace: settings.namespace, err: messageOf(error) }, "the build namespace is not ready"),
      );
      const ended = [...view.jobs.all()].filter(({ outcome }) => outcome !== undefined);
      void contexts.sweep(new Set(ended.map(contextOf)));
      pump();
    },
    async ensure(request) {
      const { key, retryBefore } = request;
      if (!/^[0-9a-f]{64}$/.test(key)) throw new SlessError("invalid_request", { cause: "a build's key is no sha256" });
      if (errors.has(key)) {
        const error = errors.get(key);
        errors.delete(key);
        throw error;
      }
      const pending = pendingState(key);
      if (pending) return pending;
      const job = view.job(key);
      if (job && !isOver(job, retryBefore)) return states.of(job).catch(rethrown);
      const refused = refusals.get(key);
      if (!job && refused && !(retryBefore && refused.failedAt < retryBefore)) return refused;
      if (job) await end(job, undefined);
      return pendingState(key) ?? add(request);
    },
    async cancel(key) {
      const launching = launches.get(key);
      queue.remove(key);
      errors.delete(key);
      refusals.delete(key);
      launching?.stop.abort(new Error("nobody wants it any more"));
      const job = view.job(key);
      if (job) await end(job, contextOf(job));
      tell(key);
    },
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    logs(key, read) {
      const job = () => view.job(key);
      const ofJob = <T>(get: (job: LiveJob) => T | undefined) => {
        const live = job();
        return live && get(live);
      };
      return buildLog(read, {
        client,
        pod: () => ofJob(view.pod),
        heard: () => ofJob(outputs.heard),
        isAwaited: () => pendingState(key) !== undefined || ofJob(({ outcome }) => outcome === undefined) === true,
        change: (signal) => nextOf(wakers, signal),
      });
    },
  };
}

function contextOf({ metadata }: LiveJob): string | undefined {
  return metadata.annotations?.[BUILD_ANNOTATIONS.context];
}

function rethrown(error: unknown): never {
  throw toSlessError(error);
}

function remember<T>(faults: Map<string, T>, key: string, fault: T): void {
  faults.delete(key);
  faults.set(key, fault);
  // Keys of old pushes are never asked for again.
  const [oldest] = faults.keys();
  if (faults.size > KEPT_FAULTS && oldest !== undefined) faults.delete(oldest);
}

/** Resolves when it is woken, or the signal aborts. */
function nextOf(wakers: Set<() => void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wake = () => {
      wakers.delete(wake);
      signal.removeEventListener("abort", wake);
      resolve();
    };
    wakers.add(wake);
    signal.addEventListener("abort", wake, { once: true });
    if (signal.aborted) wake();
  });
}
