import type { Clock, TimerClock } from "../../controller/clock.ts";
import { messageOf, SlessError } from "../../errors/index.ts";
import type { KubernetesClient } from "../../kubernetes/index.ts";
import type { ObjectStore } from "../../storage/index.ts";
import { toSlessError } from "../../tenancy/index.ts";
import type { ImageJobs } from "../image-jobs.ts";
import { buildContexts } from "./build-contexts.ts";
import { openBuildLaunches } from "./build-launches.ts";
import { buildLog } from "./build-log.ts";
import { BUILD_ANNOTATIONS, contextKeyOf } from "./build-names.ts";
import { ensureBuildNamespace } from "./build-namespace.ts";
import { openBuildOutputs } from "./build-output.ts";
import { isOver, keyOf } from "./build-state.ts";
import { openBuildView } from "./build-view.ts";
import { jobStates } from "./job-states.ts";
import { KANIKO_DEFAULTS, type KanikoOptions, type KanikoSettings } from "./kaniko-settings.ts";
import { keyNews } from "./key-news.ts";
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

/** So long what stands in the build namespace is taken to be as it was left. */
const NAMESPACE_MS = 60_000;

/** Builds images by kaniko, each in a Job of its own. Nothing is kept but in the cluster: any other process goes on with it. */
export function kanikoJobs(options: KanikoJobsOptions): KanikoJobs {
  const { client, objects, clock, log } = options;
  const settings: KanikoSettings = { ...KANIKO_DEFAULTS, ...options.settings };
  const { namespace, concurrency: limit, concurrencyPerTenant: limitPerTenant } = settings;
  const stop = new AbortController();
  const news = keyNews();
  const view = openBuildView({ client, clock, log, namespace });
  const outputs = openBuildOutputs({ client, log, signal: stop.signal, stepped: (job) => notice(job) });
  const states = jobStates({ client, clock, view, outputs, settings, due: (job) => notice(job) });
  const contexts = buildContexts(objects, log);
  const ensureNamespace = freshFor(NAMESPACE_MS, clock, () => ensureBuildNamespace({ client, settings, log }));
  const launchDeps = { ...options, settings, ensureNamespace };
  let isStarted = false;
  const launches = openBuildLaunches({
    clock,
    limit,
    limitPerTenant,
    running: () => (isStarted && !stop.signal.aborted ? view.running() : undefined),
    changed: news.tell,
    async launch(request, signal) {
      const contextKey = contextKeyOf(request.workload, request.key);
      await contexts.settled(contextKey);
      try {
        const job = reduceJob(await launchBuild(request, signal, launchDeps));
        if (signal.aborted) await deleteJob(launchDeps, job);
        else view.jobs.observe(job);
      } finally {
        if (signal.aborted) contexts.remove(contextKey);
      }
    },
  });

  /** Whatever changed of a Job. */
  function notice(job: LiveJob): boolean {
    const key = keyOf(job);
    const isNews = key !== undefined && states.see(job);
    if (isNews) news.tell(key);
    return isNews;
  }

  view.onChange((job, isGone) => {
    const key = keyOf(job);
    if (key === undefined) return;
    const hasEnded = notice(job) && job.outcome !== undefined;
    if (isGone) {
      states.forget(job);
      outputs.forget(job);
      news.tell(key);
    }
    const isOfNoUse = hasEnded || (isGone && job.outcome === undefined);
    if (isStarted && isOfNoUse && !launches.state(key)) contexts.remove(contextOf(job));
    launches.pump();
  });

  async function end(job: LiveJob): Promise<void> {
    await deleteJob(launchDeps, job).catch(rethrown);
    contexts.remove(contextOf(job));
  }

  return {
    onChange: news.onChange,
    async start(signal) {
      signal.addEventListener("abort", () => stop.abort(), { once: true });
      await view.start(signal);
      isStarted = true;
      ensureNamespace().catch((error: unknown) =>
        log.warn({ namespace, err: messageOf(error) }, "the build namespace is not ready"),
      );
      const ended = [...view.jobs.all()].filter(({ outcome }) => outcome !== undefined);
      void contexts.sweep(new Set(ended.map(contextOf)));
      launches.pump();
    },
    async ensure(request) {
      const { key, retryBefore } = request;
      if (!/^[0-9a-f]{64}$/.test(key)) throw new SlessError("invalid_request", { cause: "a build's key is no sha256" });
      launches.throwFault(key);
      const launching = launches.state(key);
      if (launching) return launching;
      const job = view.job(key);
      if (job && !isOver(job, retryBefore)) return states.of(job).catch(rethrown);
      const refused = job ? undefined : launches.refusal(key, retryBefore);
      if (refused) return refused;
      if (job) await end(job);
      return launches.state(key) ?? launches.add(request);
    },
    async cancel(key) {
      launches.drop(key);
      const job = view.job(key);
      if (job) await end(job);
      news.tell(key);
    },
    logs(key, read) {
      const ofJob = <T>(get: (job: LiveJob) => T | undefined) => {
        const job = view.job(key);
        return job && get(job);
      };
      const isRunning = ({ outcome }: LiveJob) => outcome === undefined;
      return buildLog(read, {
        client,
        pod: () => ofJob(view.pod),
        heard: () => ofJob(outputs.heard),
        isAwaited: () => launches.state(key) !== undefined || ofJob(isRunning) === true,
        change: news.next,
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

/** Does the work again when it was done so long ago, or failed. */
function freshFor<T>(ms: number, clock: Clock, work: () => Promise<T>): () => Promise<T> {
  let last: { readonly result: Promise<T>; readonly untilMs: number } | undefined;
  return () => {
    if (last && last.untilMs > clock.monotonicMs()) return last.result;
    const done = { result: work(), untilMs: clock.monotonicMs() + ms };
    last = done;
    done.result.catch(() => {
      if (last === done) last = undefined;
    });
    return done.result;
  };
}
