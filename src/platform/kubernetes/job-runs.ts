import { deployNamespaceOf, refText, type WorkloadRef } from "../../apis/index.ts";
import type { Clock } from "../../controller/clock.ts";
import { messageOf } from "../../errors/index.ts";
import { API_RESOURCES, apiPath, isApiError, type KubernetesClient, listObjects } from "../../kubernetes/index.ts";
import type { JobRun, JobState } from "../platform.ts";
import { truncateMessage } from "../truncate-message.ts";
import { withoutSecrets } from "../without-secrets.ts";
import type { ClusterView } from "./cluster-view.ts";
import { makeRoomForRun } from "./earlier-runs.ts";
import { FIELD_MANAGER } from "./foreign-fields.ts";
import { jobOf } from "./job.ts";
import type { JobResults } from "./job-results.ts";
import { endedState, jobOutcome, runningState } from "./job-state.ts";
import { type LiveChild, type LiveJob, type LivePod, reducePod } from "./live-objects.ts";
import { inputNameOf, jobNameOf, workloadOf } from "./names.ts";
import { namespaceEnd, namespaceEndOf, onNamespaceEnd } from "./namespace-end.ts";
import { type Failure, unschedulable, unscheduledSince, waitingFailure } from "./pod-failure.ts";
import { refusalOf } from "./refusal.ts";
import type { RunDeps } from "./run-deps.ts";
import { runSecretOf } from "./secrets.ts";

/** Runs of jobs: each (workload, runID) is at most one Job, ever. */
export interface JobRuns {
  run(run: JobRun): Promise<JobState>;
  /** Equal as long as nothing of its Jobs is news. */
  digest(workload: WorkloadRef): unknown;
  forget(workload: WorkloadRef): void;
}

export interface JobDeps extends RunDeps {
  readonly client: KubernetesClient;
  readonly clock: Clock;
  readonly results: JobResults;
  /** Has the workload told, news or not. */
  readonly tell: (workload: WorkloadRef) => void;
}

/** What this process saw of a workload's last run. */
interface Begun {
  readonly jobName: string;
  readonly startTime: string;
  waited?: Failure | undefined;
}

const LOST =
  "Its Job was deleted while it ran, so it may have done a part of its work. Raise spec.runID to run it again.";

export function jobRuns(deps: JobDeps): JobRuns {
  const { client, clock, view, secrets, results } = deps;
  const begun = new Map<string, Begun>();
  const now = () => clock.now().toISOString();
  /** Whoever only stands by changes nothing. */
  let runs = false;
  // Nobody asks for a run any more that another one came after.
  view.jobs.onChange((job, _before, isGone) => {
    const workload = workloadOf(job);
    if (runs && workload && (isGone || jobOutcome(job))) void dropInput(workload, job.metadata.name, deps);
  });

  async function settle(run: JobRun, job: LiveJob): Promise<JobState> {
    const key = refText(run.spec.workload);
    const running = runningState(job);
    const known = begun.get(key);
    const seen: Begun = known?.jobName === running.jobName ? known : { ...running };
    begun.set(key, seen);
    const pods = podsOf(view, run.spec.workload, job);
    if (!jobOutcome(job)) {
      seen.waited = pods.map(waitOf).find((wait) => wait !== undefined) ?? seen.waited;
      return running;
    }
    const pod = pods.find(hasEnded) ?? (await readPods(client, job)).find(hasEnded);
    const state = endedState({ job, pod, waited: seen.waited, timeoutSec: run.spec.timeoutSec });
    await dropInput(run.spec.workload, job.metadata.name, deps);
    if (state.phase === "succeeded") {
      const message = pod ? results.of(run.spec.workload, pod, state.message) : state.message;
      return message === undefined ? running : { ...state, message };
    }
    await secrets.read(run.spec).catch(() => undefined);
    return { ...state, message: withoutSecrets(state.message, secrets.known(run.spec)) };
  }

  function failed(jobName: string, startTime: string, failure: Failure): JobState {
    const message = truncateMessage(`${failure.reason}: ${failure.message}`);
    return { phase: "failed", jobName, startTime, completionTime: now(), message };
  }

  /** That wait for a deploy namespace. */
  const waiting = new Map<string, WorkloadRef>();
  onNamespaceEnd(view, (namespace) => {
    for (const workload of waiting.values()) if (workload.namespace === namespace) deps.tell(workload);
  });

  async function begin(run: JobRun, jobName: string): Promise<JobState> {
    const { workload } = run.spec;
    waiting.delete(refText(workload));
    try {
      const end = namespaceEnd(view, workload.namespace);
      if (end) throw end;
      return await settle(run, await createJob(run, jobName, deps));
    } catch (error) {
      const end = namespaceEndOf(error, view, workload.namespace);
      if (end) {
        waiting.set(refText(workload), workload);
        throw end;
      }
      const failure = refusalOf(error, "Job");
      if (!failure) throw error;
      return failed(jobName, now(), failure);
    }
  }

  return {
    async run(run) {
      const { workload } = run.spec;
      const jobName = jobNameOf(workload, run.runID);
      runs = true;
      const live = view.jobs.get(deployNamespaceOf(workload.namespace), jobName);
      if (live && workloadOf(live)?.name === workload.name) return settle(run, live);
      const known = begun.get(refText(workload));
      if (known?.jobName !== jobName && !run.begun) return begin(run, jobName);
      return failed(jobName, known?.startTime ?? now(), { reason: "Interrupted", message: LOST });
    },
    digest(workload) {
      const jobs = view.children(workload).filter(({ kind }) => kind === "Job");
      return jobs.map(({ object }) => {
        const job = object as LiveJob;
        return [job.metadata.name, jobOutcome(job), podsOf(view, workload, job).map(waitOf)];
      });
    },
    forget(workload) {
      begun.delete(refText(workload));
      waiting.delete(refText(workload));
    },
  };
}

/** @throws SlessError `secret_missing`, `cluster_unavailable`; ApiError */
async function createJob(run: JobRun, jobName: string, deps: JobDeps): Promise<LiveJob> {
  const { spec, eventJSON } = run;
  const { client, settings, view, writer } = deps;
  const { namespace } = spec.workload;
  const values = await deps.secrets.read(spec);
  await makeRoomForRun(spec.workload, jobName, deps);
  await deps.namespaces.ensure(namespace);
  await deps.registry.ensure(namespace);
  const needsInput = eventJSON !== undefined || Object.keys(values).length > 0;
  const input = needsInput ? runSecretOf(spec.workload, jobName, values, eventJSON) : undefined;
  if (input) view.secrets.observe((await writer.apply(input, undefined)) as LiveChild);
  const context = { settings, envSecret: input?.metadata.name, pullSecret: deps.registry.name };
  const manifest = jobOf(run, context);
  const path = apiPath(API_RESOURCES.Job, { namespace: manifest.metadata.namespace });
  const job = await client
    .request<LiveJob>({ method: "POST", path, query: { fieldManager: FIELD_MANAGER }, body: manifest })
    .catch((error: unknown) => {
      if (!isApiError(error, 409)) throw error;
      // An earlier life of this process made it, a moment ago.
      return client.request<LiveJob>({ method: "GET", path: apiPath(API_RESOURCES.Job, manifest.metadata) });
    });
  view.jobs.observe(job);
  return view.jobs.get(manifest.metadata.namespace, jobName) ?? job;
}

function podsOf(view: ClusterView, workload: WorkloadRef, { metadata }: LiveJob): LivePod[] {
  return view.pods(workload).filter((pod) => pod.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid));
}

/** The watch of pods may be behind that of Jobs. */
async function readPods(client: KubernetesClient, { metadata }: LiveJob): Promise<LivePod[]> {
  const labelSelector = `batch.kubernetes.io/job-name=${metadata.name}`;
  const { items } = await listObjects<LivePod>(client, API_RESOURCES.Pod, {
    namespace: metadata.namespace,
    labelSelector,
  });
  return items.map(reducePod);
}

function hasEnded({ phase }: LivePod): boolean {
  return phase === "Succeeded" || phase === "Failed";
}

function waitOf(pod: LivePod): Failure | undefined {
  if (hasEnded(pod)) return undefined;
  return unscheduledSince(pod) === undefined ? waitingFailure(pod) : unschedulable(pod);
}

/** Values of secrets stand nowhere longer than they are needed. */
async function dropInput({ namespace }: WorkloadRef, jobName: string, { view, writer, log }: JobDeps): Promise<void> {
  const name = inputNameOf(jobName);
  const input = view.secrets.get(deployNamespaceOf(namespace), name);
  if (!input || input.metadata.deletionTimestamp) return;
  await writer
    .remove("Secret", input)
    .catch((error: unknown) => log.warn({ name, err: messageOf(error) }, "input of a run not deleted"));
}
