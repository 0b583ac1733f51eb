import { describe, expect, it } from "vitest";
import type {
  LiveCondition,
  LiveDeployment,
  LivePod,
  LiveReplicaSet,
} from "../../../src/platform/kubernetes/live-objects.ts";
import { CHILD_ANNOTATIONS } from "../../../src/platform/kubernetes/names.ts";
import { type SeenWorkload, workloadState } from "../../../src/platform/kubernetes/workload-state.ts";

const NOW = new Date("2026-01-01T12:00:00Z");
const options = { now: NOW, unschedulableSec: 30 };

const deployment = (more: Partial<LiveDeployment["status"]> = {}, replicas = 1, generation = 1): LiveDeployment => ({
  metadata: {
    name: "hello",
    uid: "d",
    generation,
    annotations: { [CHILD_ANNOTATIONS.sourceDigest]: "digest-of-spec" },
  },
  spec: { replicas },
  status: { observedGeneration: 1, replicas, updatedReplicas: replicas, readyReplicas: replicas, ...more },
});
const replicaSet = (revision: number): LiveReplicaSet => ({
  metadata: {
    name: `hello-${revision}`,
    uid: `rs${revision}`,
    annotations: { [CHILD_ANNOTATIONS.sourceDigest]: `digest-${revision}` },
  },
  image: `image-${revision}`,
  revision,
  isUsed: true,
});
const pod = (name: string, revision: number, more: Partial<LivePod> = {}): LivePod => ({
  metadata: {
    name,
    ownerReferences: [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: `hello-${revision}`, uid: `rs${revision}` }],
  },
  image: `image-${revision}`,
  memory: "128Mi",
  phase: "Running",
  reason: "",
  message: "",
  conditions: [],
  container: { ready: true, restartCount: 0, state: { running: {} } },
  ...more,
});
const ready = (...names: string[]) => names.map((replica) => ({ address: "10.0.0.1", replica }));
const seen = (more: Partial<SeenWorkload> = {}): SeenWorkload => ({
  deployment: deployment(),
  replicaSets: [replicaSet(1)],
  pods: [pod("a", 1)],
  endpoints: ready("a"),
  ...more,
});
const judged = (more: Partial<SeenWorkload>) => workloadState(seen(more), options).state;

describe("the state of a workload", () => {
  it("is current when all wanted replicas serve", () => {
    expect(judged({})).toEqual({
      serving: 1,
      servingImageRef: "image-1",
      servingSourceDigest: "digest-of-spec",
      current: true,
    });
  });

  it.each<[string, Partial<SeenWorkload>]>([
    ["Kubernetes has not yet acted on the last write", { deployment: deployment({}, 1, 2) }],
    ["its status is that of no replica", { deployment: deployment({ readyReplicas: 0 }) }],
    ["a replica of an older revision is left", { deployment: deployment({ replicas: 2 }) }],
    ["no gateway can reach it yet", { endpoints: [] }],
    ["nothing is known of its status", { deployment: { ...deployment(), status: {} } }],
  ])("is not current while %s", (_, more) => {
    expect(judged(more).current).toBe(false);
  });

  it("tells the older revision as what serves until the new one has taken over", () => {
    const rolling = {
      deployment: deployment({ replicas: 2, updatedReplicas: 1, readyReplicas: 2 }, 2),
      replicaSets: [replicaSet(2), replicaSet(1)],
      pods: [pod("a", 1), pod("b", 2)],
    };
    expect(judged({ ...rolling, endpoints: ready("a", "b") })).toMatchObject({
      serving: 2,
      servingImageRef: "image-1",
      servingSourceDigest: "digest-1",
      current: false,
    });
    expect(judged({ ...rolling, endpoints: ready("b") })).toMatchObject({
      servingImageRef: "image-2",
      servingSourceDigest: "digest-of-spec",
    });
  });

  it("with 0 replicas it is current once none serves", () => {
    const none = deployment({}, 0);
    expect(judged({ deployment: none, endpoints: ready("a") })).toMatchObject({ serving: 1, current: false });
    expect(judged({ deployment: none, endpoints: [], pods: [] })).toEqual({ serving: 0, current: true });
  });
});

const waiting = (reason: string, message = "") => ({
  ready: false,
  restartCount: 0,
  state: { waiting: { reason, message } },
});
const crashed = (exitCode: number, restartCount: number, more: object = {}) => ({
  ready: false,
  restartCount,
  state: { waiting: { reason: "CrashLoopBackOff" } },
  lastState: { terminated: { exitCode, message: "last words\n", ...more } },
});
const PULL = 'Back-off pulling image "image-2": ErrImagePull: not found';

describe("a failure", () => {
  const failing = (container: LivePod["container"], more: Partial<LivePod> = {}) =>
    judged({
      deployment: deployment({ replicas: 2, readyReplicas: 1 }),
      replicaSets: [replicaSet(1), replicaSet(2)],
      pods: [pod("a", 1), pod("b", 2, { container, ...more })],
    });

  it.each<[string, LivePod["container"], string, RegExp]>([
    [
      "an image that is not there",
      waiting("ErrImagePull", "not found"),
      "ImagePullBackOff",
      /^Its image image-2 cannot be pulled: not found\./,
    ],
    [
      "the wait for the next try, in the same words",
      waiting("ImagePullBackOff", PULL),
      "ImagePullBackOff",
      /^Its image image-2 cannot be pulled: not found\./,
    ],
    [
      "a container that cannot be made",
      waiting("CreateContainerConfigError", 'secret "x" not found'),
      "CreateContainerConfigError",
      /secret "x" not found/,
    ],
    ["a first crash", crashed(3, 1), "Crashed", /^It crashed \(exit code 3\)[\s\S]*last words$/],
    [
      "a crash again and again",
      crashed(3, 3),
      "CrashLoopBackOff",
      /^It crashes again and again \(exit code 3\)[\s\S]*last words$/,
    ],
    [
      "a handler that cannot be loaded",
      crashed(65, 4),
      "StartFailed",
      /^It does not start: exit code 65[\s\S]*last words$/,
    ],
    ["a kill for memory", crashed(137, 1, { reason: "OOMKilled" }), "OutOfMemory", /its memoryMB is 128/],
    [
      "a heap that cannot grow",
      crashed(134, 1, { message: "FATAL: heap out of memory" }),
      "OutOfMemory",
      /its whole heap/,
    ],
    ["a kill by signal", crashed(137, 1, { signal: 9 }), "Crashed", /\(signal 9\)/],
  ])("%s, while the older revision goes on", (_, container, reason, message) => {
    expect(failing(container)).toMatchObject({ serving: 1, servingImageRef: "image-1", current: false });
    expect(failing(container).failure).toEqual({ reason, message: expect.stringMatching(message) });
  });

  it.each<[string, LivePod["container"], Partial<LivePod>]>([
    ["a container that is being made", waiting("ContainerCreating"), {}],
    ["a pod of which nothing is known yet", {}, { phase: "Pending" }],
    [
      "a pod that is going",
      crashed(3, 1),
      { metadata: { ...pod("b", 2).metadata, deletionTimestamp: NOW.toISOString() } },
    ],
  ])("is not %s", (_, container, more) => {
    expect(failing(container, more)).not.toHaveProperty("failure");
  });

  it("is not told of a replica of an older revision", () => {
    const state = judged({
      deployment: deployment({ readyReplicas: 0 }),
      replicaSets: [replicaSet(1), replicaSet(2)],
      pods: [pod("a", 1, { container: crashed(1, 5) }), pod("b", 2, { container: {} })],
      endpoints: [],
    });
    expect(state).not.toHaveProperty("failure");
  });

  const condition = {
    type: "PodScheduled",
    status: "False",
    reason: "Unschedulable",
    message: "0/2 nodes are available",
  };
  it("is a pod that no node takes, but not before an autoscaler could have helped", () => {
    const since = (seconds: number) => new Date(NOW.getTime() - seconds * 1000).toISOString();
    const waitingFor = (seconds: number) =>
      workloadState(
        seen({
          deployment: deployment({ readyReplicas: 0 }),
          pods: [pod("a", 1, { container: {}, conditions: [{ ...condition, lastTransitionTime: since(seconds) }] })],
          endpoints: [],
        }),
        options,
      );
    expect(waitingFor(10)).toMatchObject({ state: { current: false }, againInMs: 20_000 });
    expect(waitingFor(10).state).not.toHaveProperty("failure");
    expect(waitingFor(31).state.failure).toEqual({
      reason: "Unschedulable",
      message: expect.stringContaining("0/2 nodes are available"),
    });
  });

  it.each([
    [
      "a quota",
      'pods "hello-1-x7" is forbidden: exceeded quota: tenant, requested: pods=1, used: pods=2, limited: pods=2',
      "QuotaExceeded",
      /quota leaves no room for it: exceeded quota: tenant/,
    ],
    [
      "a rule of the cluster",
      'pods "hello-1-x7" is forbidden: violates PodSecurity',
      "PodRefused",
      /refuses its pod: violates PodSecurity/,
    ],
  ])("is %s that lets no pod be made", (_, text, reason, message) => {
    const conditions = [{ type: "ReplicaFailure", status: "True", reason: "FailedCreate", message: text }];
    const state = judged({ deployment: deployment({ readyReplicas: 0, conditions }), pods: [], endpoints: [] });
    expect(state.failure).toEqual({ reason, message: expect.stringMatching(message) });
  });

  const scheduled = { type: "PodScheduled", status: "True" };
  const conditionsOf = (...conditions: LivePod["conditions"]) => ({ conditions });
  const left: Partial<LivePod> = {
    phase: "Failed",
    reason: "Evicted",
    message: "The node was low on resource: memory.",
    container: { ready: false, state: { terminated: { exitCode: 137 } } },
  };
  const timedOut = {
    type: "Progressing",
    status: "False",
    reason: "ProgressDeadlineExceeded",
    message: "timed out",
  };
  const refused = {
    type: "ReplicaFailure",
    status: "True",
    message: 'pods "hello-1-x7" is forbidden: exceeded quota: tenant',
  };

  it.each<[string, LivePod[], LiveCondition[], string, RegExp]>([
    [
      "a pod that its node did not keep",
      [pod("a", 1, left), pod("b", 1, { container: {}, phase: "Pending" })],
      [],
      "Evicted",
      /did not keep its pod: The node was low on resource: memory\. Add a node/,
    ],
    [
      "a pod that a node was given and had no room for",
      [pod("a", 1, { ...left, reason: "OutOfmemory", message: "" })],
      [],
      "Evicted",
      /did not keep its pod: OutOfmemory/,
    ],
    [
      "a crash of the pod that took the place of one that left",
      [pod("a", 1, left), pod("b", 1, { container: crashed(3, 3) })],
      [],
      "CrashLoopBackOff",
      /exit code 3/,
    ],
    [
      "a pod that somebody keeps from the scheduler",
      [
        pod("a", 1, {
          container: {},
          ...conditionsOf({ ...condition, reason: "SchedulingGated", lastTransitionTime: "2026-01-01T11:00:00Z" }),
        }),
      ],
      [],
      "Unschedulable",
      /0\/2 nodes are available/,
    ],
    [
      "a pod that never gets as far as its container",
      [
        pod("a", 1, {
          container: {},
          ...conditionsOf(scheduled, { type: "PodReadyToStartContainers", status: "False" }),
        }),
      ],
      [timedOut],
      "PodNotStarting",
      /no network or no volumes.*kubectl describe pod/,
    ],
    [
      "a quota, while the first pod still waits for a node",
      [pod("a", 1, { container: {}, ...conditionsOf({ ...condition, lastTransitionTime: NOW.toISOString() }) })],
      [refused],
      "QuotaExceeded",
      /exceeded quota: tenant/,
    ],
  ])("is %s", (_, pods, conditions, reason, message) => {
    const state = judged({ deployment: deployment({ readyReplicas: 0, conditions }), pods, endpoints: [] });
    expect(state.failure).toEqual({ reason, message: expect.stringMatching(message) });
  });

  it("is not told of a pod that left once another one is ready", () => {
    const pods = [pod("a", 1, left), pod("b", 1), pod("c", 1, { container: {}, phase: "Pending" })];
    const state = judged({ deployment: deployment({ readyReplicas: 1 }, 2), pods, endpoints: ready("b") });
    expect(state).toMatchObject({ serving: 1, current: false });
    expect(state).not.toHaveProperty("failure");
  });

  it("is a rollout that does not get on", () => {
    const conditions = [
      { type: "Progressing", status: "False", reason: "ProgressDeadlineExceeded", message: "timed out" },
    ];
    const state = judged({ deployment: deployment({ readyReplicas: 0, conditions }), pods: [], endpoints: [] });
    expect(state.failure).toMatchObject({ reason: "StartFailed" });
  });
});
