import { refText, type WorkloadRef } from "../../apis/index.ts";
import type { TimerClock } from "../../controller/clock.ts";
import type { ApiObject, KubernetesClient } from "../../kubernetes/index.ts";
import type { Platform } from "../platform.ts";
import { type ChildWriter, childWriter } from "./child-writer.ts";
import { type ClusterView, openClusterView } from "./cluster-view.ts";
import { deployNamespaces } from "./deploy-namespaces.ts";
import { inOrder } from "./in-order.ts";
import { jobResults } from "./job-results.ts";
import { jobRuns } from "./job-runs.ts";
import { replicaLeases } from "./lease-replicas.ts";
import type { Manifest } from "./manifest.ts";
import { kubernetesLogs } from "./pod-logs.ts";
import { registryCopies } from "./registry-copies.ts";
import { secretReader } from "./secret-reader.ts";
import { DEFAULT_SETTINGS, type PlatformSettings } from "./settings.ts";
import { workloadRuns } from "./workload-runs.ts";

export interface KubernetesPlatformOptions {
  readonly client: KubernetesClient;
  readonly clock: TimerClock;
  readonly log: { warn(fields: object, message: string): void };
  readonly settings?: Partial<PlatformSettings>;
  /** Makes the deploy namespace of a namespace (`sless-fn-{namespace}`), with all that guards it, unless it is there. */
  ensureNamespace(namespace: string): Promise<void>;
}

export interface KubernetesPlatform extends Platform {
  /** Follows the cluster from now on; resolves when all that runs is known. Everything but `acquire` waits for that. */
  start(signal: AbortSignal): Promise<void>;
  /** When the oldest was made of what is there of a workload; undefined when nothing is. */
  madeAt(workload: WorkloadRef): Date | undefined;
}

/** How long a removal waits for what it deleted to be gone. */
const GONE_WITHIN_MS = 5_000;

/**
 * A Platform of Deployments, Services, Jobs and Secrets in the namespaces `sless-fn-{namespace}`. It keeps what runs in
 * memory by watches and writes what differs alone, so that nothing is asked and nothing sent when nothing changed. A
 * child that somebody edits or deletes is told to the listeners, and the next `apply` puts it right.
 */
export function openKubernetesPlatform(options: KubernetesPlatformOptions): KubernetesPlatform {
  const { client, clock, log } = options;
  const settings: PlatformSettings = { ...DEFAULT_SETTINGS, ...options.settings };
  const view = openClusterView({ client, clock, log });
  const writer = childWriter(client);
  const secrets = secretReader(client, view);
  const namespaces = deployNamespaces(options.ensureNamespace);
  const registry = registryCopies({ client, clock, log, settings, view, writer });
  const news = openNews(digestOf, isUnfinished);
  const shared = { clock, log, settings, view, writer, secrets, namespaces, registry };
  const workloads = workloadRuns({ ...shared, check: news.check, tell: news.tell });
  const stopped = new AbortController();
  const results = jobResults({ client, clock, signal: stopped.signal, tell: news.tell });
  const jobs = jobRuns({ ...shared, client, results, tell: news.tell });
  const work = inOrder();
  const ready = Promise.withResolvers<void>();
  ready.promise.catch(() => undefined);
  view.onChange(news.check);

  function digestOf(workload: WorkloadRef): string {
    if (workload.kind === "FunctionJob") return JSON.stringify(jobs.digest(workload));
    return JSON.stringify([workloads.state(workload) ?? null, workloads.hasDrifted(workload)]);
  }
  /** Somebody touched a child while it was written. */
  function isUnfinished(workload: WorkloadRef): boolean {
    return workloads.hasDrifted(workload) && !workloads.isRefused(workload);
  }
  /** Children are named as the workload, so Functions and Services of a name wait for one another. */
  const exclusively = async <T>(workload: WorkloadRef, task: () => Promise<T>): Promise<T> => {
    await ready.promise;
    return work(`${workload.namespace}/${workload.name}`, () => news.quietly(workload, task));
  };

  return {
    async start(signal) {
      const stop = () => {
        stopped.abort();
        ready.reject(signal.reason);
      };
      signal.addEventListener("abort", stop, { once: true });
      await Promise.all([view.start(signal), registry.start(signal)]);
      news.open(view.workloads());
      ready.resolve();
    },
    madeAt: (workload) => oldestOf(view.children(workload).map(({ object }) => object)),
    apply: (spec, replicas) => exclusively(spec.workload, () => workloads.apply(spec, replicas)),
    runJob: (run) => exclusively(run.spec.workload, () => jobs.run(run)),
    remove: (workload) =>
      exclusively(workload, async () => {
        workloads.forget(workload);
        jobs.forget(workload);
        const named = workloads.isAnothers(workload) ? NAMED : [];
        await removeChildren(workload, (kind) => !named.includes(kind), { view, writer, clock });
      }),
    async state(workload) {
      await ready.promise;
      if (workload.kind !== "FunctionJob") return workloads.state(workload);
      return view.children(workload).length > 0 ? { serving: 0, current: false } : undefined;
    },
    async list() {
      await ready.promise;
      return view.workloads();
    },
    // Kubernetes forgets the replicas of a Service some time after it is gone.
    acquire: replicaLeases((workload) => (view.hasService(workload) ? view.endpoints(workload) : [])),
    onChange: news.listen,
    logs: kubernetesLogs({ client, clock, log }).logs,
  };
}

function oldestOf(objects: readonly ApiObject[]): Date | undefined {
  const times = objects.flatMap(({ metadata }) => Date.parse(metadata.creationTimestamp ?? "") || []);
  return times.length === 0 ? undefined : new Date(Math.min(...times));
}

interface News {
  /** Tells the workload when it is other than it was. */
  check(workload: WorkloadRef): void;
  tell(workload: WorkloadRef): void;
  /** What the task does is no news to whoever asked for it; what it leaves to be done is. */
  quietly<T>(workload: WorkloadRef, task: () => Promise<T>): Promise<T>;
  listen(listener: (workload: WorkloadRef) => void): () => void;
  /** From now on changes are told; what is there is no change. */
  open(workloads: readonly WorkloadRef[]): void;
}

function openNews(digestOf: (workload: WorkloadRef) => string, isUnfinished: (workload: WorkloadRef) => boolean): News {
  const listeners = new Set<(workload: WorkloadRef) => void>();
  const told = new Map<string, string>();
  const busy = new Set<string>();
  let isOpen = false;

  function tell(workload: WorkloadRef): void {
    for (const listener of listeners) listener(workload);
  }
  return {
    check(workload) {
      const key = refText(workload);
      if (!isOpen || busy.has(key)) return;
      const digest = digestOf(workload);
      if (told.get(key) === digest) return;
      told.set(key, digest);
      tell(workload);
    },
    tell,
    async quietly(workload, task) {
      const key = refText(workload);
      busy.add(key);
      try {
        const result = await task();
        if (isUnfinished(workload)) tell(workload);
        return result;
      } finally {
        busy.delete(key);
        told.set(key, digestOf(workload));
      }
    },
    listen(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    open(workloads) {
      for (const workload of workloads) told.set(refText(workload), digestOf(workload));
      isOpen = true;
    },
  };
}

type ChildKind = Manifest["kind"];

/** Named as the workload. That they say to be this one's may be somebody's edit of their labels. */
const NAMED: readonly ChildKind[] = ["Deployment", "Service"];

async function removeChildren(
  workload: WorkloadRef,
  isIts: (kind: ChildKind) => boolean,
  { view, writer, clock }: { view: ClusterView; writer: ChildWriter; clock: TimerClock },
): Promise<void> {
  const children = () => view.children(workload).filter(({ kind }) => isIts(kind));
  const gone = untilGone(workload, () => children().length === 0, { view, clock });
  await Promise.all(children().map(({ kind, object }) => writer.remove(kind, object)));
  await gone;
}

function untilGone(
  workload: WorkloadRef,
  isGone: () => boolean,
  { view, clock }: { view: ClusterView; clock: TimerClock },
): Promise<void> {
  return new Promise((resolve) => {
    if (isGone()) return resolve();
    const end = () => {
      stop();
      cancel();
      resolve();
    };
    const cancel = clock.setTimer(GONE_WITHIN_MS, end);
    const stop = view.onChange((changed) => {
      if (refText(changed) === refText(workload) && isGone()) end();
    });
  });
}
