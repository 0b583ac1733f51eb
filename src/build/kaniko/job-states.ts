import type { TimerClock } from "../../controller/clock.ts";
import type { KubernetesClient } from "../../kubernetes/index.ts";
import type { ImageJobState } from "../image-jobs.ts";
import { type BuildOutputs, readHeard } from "./build-output.ts";
import { endedState, runningState } from "./build-state.ts";
import { type Trouble, troubleOf, unscheduledSince } from "./build-troubles.ts";
import type { BuildView } from "./build-view.ts";
import type { KanikoSettings } from "./kaniko-settings.ts";
import type { LiveJob, LivePod } from "./live-builds.ts";

/** Where Jobs stand, in the words of ImageJobs. */
export interface JobStates {
  /** @throws ApiError, SlessError `cluster_unavailable` when what an ended Job left cannot be read */
  of(job: LiveJob): Promise<ImageJobState>;
  /** Takes note of what is known of a Job now; true when that is news to whoever waits for it. */
  see(job: LiveJob): boolean;
  forget(job: LiveJob): void;
}

export interface StatesOptions {
  readonly client: KubernetesClient;
  readonly clock: TimerClock;
  readonly view: BuildView;
  readonly outputs: BuildOutputs;
  readonly settings: KanikoSettings;
  /** Time alone may have made something of the Job news. */
  readonly due: (job: LiveJob) => void;
}

/** What this process saw of a Job. */
interface Seen {
  told?: string;
  refusal?: string | undefined;
  trouble?: Trouble | undefined;
  ended?: ImageJobState;
  isLooking?: boolean;
  stopTimer?: () => void;
}

const LOOK_MS = 1_000;
const LOOK_AGAIN_MS = 5_000;

export function jobStates(options: StatesOptions): JobStates {
  const { clock, view, outputs, settings } = options;
  const all = new Map<string, Seen>();
  const seenOf = ({ metadata: { uid = "" } }: LiveJob): Seen => {
    const seen = all.get(uid) ?? {};
    all.set(uid, seen);
    return seen;
  };
  const running = (job: LiveJob) => ({
    job,
    pod: view.pod(job),
    refusal: seenOf(job).refusal,
    progress: outputs.heard(job)?.step,
    now: clock.now(),
    unschedulableSec: settings.unschedulableSec,
  });

  function noteTrouble(job: LiveJob, seen: Seen): void {
    const build = running(job);
    const trouble = troubleOf(build);
    // Whoever ends a Job deletes its pod first: what was wrong with that stays true.
    if (trouble || (build.pod && !build.pod.metadata.deletionTimestamp)) seen.trouble = trouble;
    const since = build.pod && unscheduledSince(build.pod);
    if (!build.pod) {
      lookForRefusal(job, seen);
      return;
    }
    seen.refusal = undefined;
    seen.isLooking = false;
    seen.stopTimer?.();
    if (!since || trouble) return;
    const ms = since.at.getTime() + settings.unschedulableSec * 1_000 - build.now.getTime();
    seen.stopTimer = clock.setTimer(ms, () => options.due(job));
  }

  /** A pod comes within moments, or somebody says why it does not. */
  function lookForRefusal(job: LiveJob, seen: Seen): void {
    if (seen.isLooking) return;
    seen.isLooking = true;
    seen.stopTimer = clock.setTimer(seen.refusal === undefined ? LOOK_MS : LOOK_AGAIN_MS, async () => {
      // An API server that does not answer says nothing; the watches tell of it.
      seen.refusal = await view.readRefusal(job).catch(() => seen.refusal);
      seen.isLooking = false;
      if (all.get(job.metadata.uid ?? "") === seen) options.due(job);
    });
  }

  return {
    async of(job) {
      if (!job.outcome) return runningState(running(job));
      const seen = seenOf(job);
      seen.ended ??= await readEnd(job, seen.trouble, options);
      return seen.ended;
    },
    see(job) {
      const seen = seenOf(job);
      if (job.outcome) seen.stopTimer?.();
      else noteTrouble(job, seen);
      const pod = view.pod(job);
      if (pod) outputs.listen(job, pod);
      const told = job.outcome ?? runningState(running(job)).step;
      const isNews = told !== seen.told;
      seen.told = told;
      return isNews;
    },
    forget(job) {
      all.get(job.metadata.uid ?? "")?.stopTimer?.();
      all.delete(job.metadata.uid ?? "");
    },
  };
}

async function readEnd(
  job: LiveJob,
  trouble: Trouble | undefined,
  { client, view, outputs, settings }: StatesOptions,
): Promise<ImageJobState> {
  const known = view.pod(job);
  const pod = known && hasEnded(known) ? known : ((await view.readPod(job)) ?? known);
  const heard = job.outcome === "failed" && pod ? await readHeard(client, pod) : undefined;
  const { output = "", command } = heard ?? outputs.heard(job) ?? {};
  const { memoryMB, diskMB } = settings;
  return endedState({ job, pod, trouble, output, command, memoryMB, diskMB });
}

function hasEnded({ phase }: LivePod): boolean {
  return phase === "Succeeded" || phase === "Failed";
}
