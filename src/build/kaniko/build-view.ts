import type { TimerClock } from "../../controller/clock.ts";
import {
  API_RESOURCES,
  type ApiObject,
  type KubernetesClient,
  listObjects,
  type ObjectWatch,
  watchResource,
} from "../../kubernetes/index.ts";
import { BUILD_ANNOTATIONS, BUILDS, buildJobName, builtFor } from "./build-names.ts";
import { type LiveJob, type LivePod, reduceJob, reducePod } from "./live-builds.ts";

/** The builds of a cluster, as the API server tells them. */
export interface BuildView {
  readonly jobs: ObjectWatch<LiveJob>;
  /** The Job of the key, unless it is being deleted. */
  job(key: string): LiveJob | undefined;
  pod(job: LiveJob): LivePod | undefined;
  /** The same asked of the API server: the watch of pods may be behind that of Jobs. */
  readPod(job: LiveJob): Promise<LivePod | undefined>;
  /**
   * Why the Job has no pod, as an Event tells it. Events are asked for, not watched: the API server tells whoever
   * watches them nothing in between, and ends that again and again.
   */
  readRefusal(job: LiveJob): Promise<string | undefined>;
  /** How many builds run of each tenant. */
  running(): Map<string, number>;
  /** Resolves when all is in memory. */
  start(signal: AbortSignal): Promise<void>;
  /** Hears of every Job of which something changed, also of one that is gone. */
  onChange(listener: (job: LiveJob, isGone: boolean) => void): void;
}

/** Of the core group's Event. */
interface RefusalEvent extends ApiObject {
  readonly message?: string;
  readonly lastTimestamp?: string | null;
}

export interface ViewOptions {
  readonly client: KubernetesClient;
  readonly clock: TimerClock;
  readonly log: { warn(fields: object, message: string): void };
  readonly namespace: string;
}

export function openBuildView({ client, clock, log, namespace }: ViewOptions): BuildView {
  const base = { clock, log, namespace };
  const selection = { ...base, labelSelector: BUILDS };
  const jobs = watchResource<LiveJob>(client, API_RESOURCES.Job, { ...selection, reduce: reduceJob });
  const pods = watchResource<LivePod>(client, API_RESOURCES.Pod, { ...selection, reduce: reducePod });
  const ownerOf = ({ metadata }: LivePod) => metadata.ownerReferences?.find(({ kind }) => kind === "Job")?.name ?? "";

  return {
    jobs,
    job(key) {
      const job = jobs.get(namespace, buildJobName(key));
      const isOfKey = job?.metadata.annotations?.[BUILD_ANNOTATIONS.key] === key;
      return isOfKey && job.metadata.deletionTimestamp === undefined ? job : undefined;
    },
    pod: (job) => newestOf(pods.all(), job),
    async readPod(job) {
      const labelSelector = `batch.kubernetes.io/job-name=${job.metadata.name}`;
      const { items } = await listObjects<LivePod>(client, API_RESOURCES.Pod, { namespace, labelSelector });
      return newestOf(items.map(reducePod), job);
    },
    async readRefusal({ metadata }) {
      const fieldSelector = `involvedObject.uid=${metadata.uid},reason=FailedCreate`;
      const { items } = await listObjects<RefusalEvent>(client, API_RESOURCES.CoreEvent, { namespace, fieldSelector });
      const lastSeen = ({ lastTimestamp, metadata: { creationTimestamp } }: RefusalEvent) =>
        lastTimestamp ?? creationTimestamp ?? "";
      return items.sort((a, b) => (lastSeen(a) < lastSeen(b) ? 1 : -1))[0]?.message;
    },
    running() {
      const counts = new Map<string, number>();
      for (const job of jobs.all()) {
        const tenant = builtFor(job.metadata.labels)?.namespace;
        if (tenant === undefined || job.outcome || job.metadata.deletionTimestamp) continue;
        counts.set(tenant, (counts.get(tenant) ?? 0) + 1);
      }
      return counts;
    },
    async start(signal) {
      await Promise.all([jobs, pods].map((watch) => watch.start(signal)));
    },
    onChange(listener) {
      jobs.onChange((job, _before, isGone) => listener(job, isGone));
      const tell = (name: string) => {
        const job = jobs.get(namespace, name);
        if (job) listener(job, false);
      };
      pods.onChange((pod) => tell(ownerOf(pod)));
    },
  };
}

function newestOf(pods: Iterable<LivePod>, { metadata: { uid } }: ApiObject): LivePod | undefined {
  const own = [...pods].filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid));
  const created = ({ metadata }: LivePod) => metadata.creationTimestamp ?? "";
  return own.sort((a, b) => (created(a) < created(b) ? 1 : -1))[0];
}
