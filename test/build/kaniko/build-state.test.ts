import { expect, it } from "vitest";
import {
  type EndedBuild,
  endedState,
  isOver,
  type RunningBuild,
  runningState,
} from "../../../src/build/kaniko/build-state.ts";
import type { LiveContainer, LiveJob, LivePod } from "../../../src/build/kaniko/live-builds.ts";

const START = "2026-01-01T00:00:00.500Z";
const NOW = new Date("2026-01-01T00:01:00Z");

const JOB: LiveJob = {
  metadata: { name: "build-1", uid: "u" },
  deadlineSec: 1200,
  startedAt: START,
  endedAt: undefined,
  outcome: undefined,
  reason: "",
};
const SCHEDULED = { type: "PodScheduled", status: "True" };

function podOf(containers: LivePod["containers"], rest: Partial<LivePod> = {}): LivePod {
  return {
    metadata: { name: "p" },
    phase: "Pending",
    reason: "",
    message: "",
    conditions: [SCHEDULED],
    containers,
    ...rest,
  };
}

const at = (state: Omit<LiveContainer, "image"> = {}): LiveContainer => ({ image: "image:1", ...state });
const waiting = (reason: string, message = "") => at({ waiting: { reason, message } });
const RUNNING = at({ running: {} });
const DONE = at({ terminated: { exitCode: 0 } });

const unscheduled = (since: string) =>
  podOf(
    { build: at(), push: at() },
    {
      conditions: [
        {
          type: "PodScheduled",
          status: "False",
          reason: "Unschedulable",
          message: "0/3 nodes are available.",
          lastTransitionTime: since,
        },
      ],
    },
  );

it.each<[string, Partial<RunningBuild>, string]>([
  ["no pod yet", {}, "waiting for its pod"],
  [
    "a quota that refuses its pod",
    { refusal: 'Error creating: pods "x" is forbidden: exceeded quota: q' },
    'waiting: the quota of the build namespace leaves no room: pods "x" is forbidden: exceeded quota: q',
  ],
  [
    "a policy that refuses its pod",
    { refusal: "Error creating: admission webhook denied" },
    "waiting: the cluster refuses the build: admission webhook denied",
  ],
  [
    "a pod that the scheduler has not seen",
    { pod: podOf({ build: at(), push: at() }, { conditions: [] }) },
    "waiting for a node",
  ],
  ["no node for a moment", { pod: unscheduled("2026-01-01T00:00:55Z") }, "waiting for a node"],
  [
    "no node for long",
    { pod: unscheduled("2026-01-01T00:00:40Z") },
    "waiting: no node takes the build's pod: 0/3 nodes are available",
  ],
  ["a pod that begins", { pod: podOf({ fetch: at(), build: at(), push: at() }) }, "starting its pod"],
  [
    "files on their way",
    { pod: podOf({ fetch: RUNNING, build: waiting("PodInitializing"), push: waiting("PodInitializing") }) },
    "fetching its files",
  ],
  [
    "the builder's image on its way",
    { pod: podOf({ fetch: DONE, build: waiting("PodInitializing"), push: at() }) },
    "pulling the builder's image",
  ],
  [
    "an image that is not there",
    { pod: podOf({ build: waiting("ErrImagePull", "manifest unknown"), push: at() }) },
    "waiting: an image of the build's pod cannot be pulled: image:1: manifest unknown",
  ],
  [
    "the wait for another try",
    {
      pod: podOf({
        build: waiting("ImagePullBackOff", 'Back-off pulling image "image:1": ErrImagePull: manifest unknown'),
        push: at(),
      }),
    },
    "waiting: an image of the build's pod cannot be pulled: image:1: manifest unknown",
  ],
  [
    "a Secret that is not there",
    { pod: podOf({ build: waiting("CreateContainerConfigError", 'secret "x" not found'), push: at() }) },
    'waiting: the node cannot start the build: secret "x" not found',
  ],
  [
    "a build of which nothing was heard",
    { pod: podOf({ build: RUNNING, push: waiting("PodInitializing") }) },
    "building the image",
  ],
  ["a command", { pod: podOf({ build: RUNNING, push: at() }), progress: "running npm ci" }, "running npm ci"],
  ["the push", { pod: podOf({ build: DONE, push: RUNNING }), progress: "running npm ci" }, "pushing the image"],
])("a running build tells %s", (_name, build, step) => {
  const state = runningState({
    job: JOB,
    pod: undefined,
    refusal: undefined,
    progress: undefined,
    now: NOW,
    unschedulableSec: 10,
    ...build,
  });
  expect(state).toEqual({ phase: "building", startedAt: new Date(START), step });
});

const FAILED: Partial<LiveJob> = { outcome: "failed", reason: "BackoffLimitExceeded", endedAt: "2026-01-01T00:02:00Z" };
const DIGEST = `sha256:${"a".repeat(64)}`;
const pushed = (message: string) =>
  podOf({ push: at({ terminated: { exitCode: 0, message } }) }, { phase: "Succeeded" });

function end(job: Partial<LiveJob>, build: Partial<EndedBuild> = {}) {
  return endedState({
    job: { ...JOB, ...job },
    pod: undefined,
    trouble: undefined,
    output: "",
    command: undefined,
    memoryMB: 2048,
    diskMB: 10_240,
    ...build,
  });
}

it("a build is done with the digest that was told after the push", () => {
  const state = end({ outcome: "complete", endedAt: "2026-01-01T00:02:00Z" }, { pod: pushed(`${DIGEST}\n`) });
  expect(state).toEqual({ phase: "built", digest: DIGEST, builtAt: new Date("2026-01-01T00:02:00Z") });
});

const TROUBLE = { reason: "ImagePullFailed", happened: "An image cannot be pulled.", remedy: "Check it." } as const;
const failedIn = (name: "fetch" | "build" | "push", exitCode: number, rest: object = {}) =>
  podOf({ [name]: at({ terminated: { exitCode, ...rest } }) }, { phase: "Failed" });

it.each<[string, Partial<LiveJob>, Partial<EndedBuild>, { reason: string; message?: RegExp }]>([
  ["whose result is lost with its pod", { outcome: "complete" }, {}, { reason: "ResultLost" }],
  ["whose result is no digest", { outcome: "complete" }, { pod: pushed("sha256:short") }, { reason: "ResultLost" }],
  [
    "that took too long",
    { ...FAILED, reason: "DeadlineExceeded" },
    {},
    { reason: "BuildTimedOut", message: /longer than 1200 s/ },
  ],
  [
    "that waited too long",
    { ...FAILED, reason: "DeadlineExceeded" },
    { trouble: TROUBLE },
    { reason: "ImagePullFailed", message: /^An image cannot be pulled. Check it.$/ },
  ],
  ["whose pod was deleted", FAILED, {}, { reason: "PodLost", message: /deleted before it ended/ }],
  [
    "whose node is lost",
    FAILED,
    { pod: podOf({ build: RUNNING }, { phase: "Failed" }) },
    { reason: "PodLost", message: /node was lost/ },
  ],
  [
    "that a drained node ended",
    FAILED,
    {
      pod: podOf({}, { conditions: [{ type: "DisruptionTarget", status: "True", message: "Eviction API: evicting" }] }),
    },
    { reason: "Evicted", message: /evicting/ },
  ],
  [
    "whose container used too much disk",
    FAILED,
    { pod: podOf({}, { reason: "Evicted", message: "Container build exceeded its local ephemeral storage limit" }) },
    { reason: "DiskFull", message: /10240 MiB/ },
  ],
  [
    "whose push ran out of memory",
    FAILED,
    { pod: failedIn("push", 137, { reason: "OOMKilled" }) },
    { reason: "OutOfMemory" },
  ],
  [
    "whose push failed without a word",
    FAILED,
    { pod: failedIn("push", 2) },
    { reason: "PushFailed", message: /without a word/ },
  ],
  [
    "whose builder was not understood",
    FAILED,
    { pod: failedIn("build", 1, { message: "Error: unknown flag: --x\n" }) },
    { reason: "BuilderFailed", message: /unknown flag/ },
  ],
])("a build fails %s", (_name, job, build, { reason, message = /./ }) => {
  expect(end(job, build)).toMatchObject({
    phase: "failed",
    by: "builder",
    reason,
    message: expect.stringMatching(message),
  });
});

it("what a failed command said last is told when its log is gone", () => {
  const message =
    "npm error 404\nerror building image: error building stage: failed to execute command: waiting for process to exit: exit status 1\n";
  expect(end(FAILED, { pod: failedIn("build", 1, { message }) })).toMatchObject({
    by: "command",
    message: "a command ended with exit code 1",
    tail: "npm error 404",
  });
});

it("no presigned address stands in what is told", () => {
  const message = 'error resolving source context: Get "https://s3/k?X-Amz-Signature=abc": 403';
  expect(JSON.stringify(end(FAILED, { pod: failedIn("build", 1, { message }) }))).not.toContain("abc");
});

it.each([
  ["has not ended", {}, "2026-01-02T00:00:00Z", false],
  ["ended before", FAILED, "2026-01-01T00:02:01Z", true],
  ["ended after", FAILED, "2026-01-01T00:01:00Z", false],
  [
    "began after, and ended in the same second",
    { ...FAILED, endedAt: "2026-01-01T00:00:00Z" },
    "2026-01-01T00:00:00.400Z",
    false,
  ],
  ["ended when nobody asks to try again", FAILED, undefined, false],
])("a build that %s is begun anew: %s", (_name, job, before, expected) => {
  expect(isOver({ ...JOB, ...job }, before === undefined ? undefined : new Date(before))).toBe(expected);
});
