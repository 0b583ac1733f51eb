import { describe, expect, it } from "vitest";
import { findCondition, type ObjectOf, type WorkloadStatus } from "../../src/apis/index.ts";
import { type WorkloadObservation, workloadStatus } from "../../src/reconcilers/workload-status.ts";

const NOW = "2026-01-01T00:00:00.000Z";
const DIGEST = "a".repeat(64);
const IMAGE = "local/sless-default_hello@sha256:new";
const OLD_IMAGE = "local/sless-default_hello@sha256:old";
const at = new Date(NOW);

const built = { phase: "built", imageRef: IMAGE, builtAt: at, durationMs: 1234, reused: false } as const;
const failed = { phase: "failed", reason: "BuildFailed", message: "line 3", failedAt: at, retryAt: at } as const;
const OLD_DIGEST = "b".repeat(64);
const serving = { serving: 1, servingImageRef: IMAGE, servingSourceDigest: DIGEST, current: true };
const oldServing = { serving: 1, servingImageRef: OLD_IMAGE, servingSourceDigest: OLD_DIGEST, current: false };

function hello(status?: WorkloadStatus): ObjectOf<"Function"> {
  return {
    apiVersion: "sless.kube5s.ru/v1alpha1",
    kind: "Function",
    metadata: {
      name: "hello",
      namespace: "default",
      uid: "u",
      resourceVersion: "1",
      generation: 2,
      creationTimestamp: NOW,
    },
    spec: { runtime: "python3.11" },
    ...(status ? { status } : {}),
  };
}

function observation(changes: Partial<WorkloadObservation> = {}): WorkloadObservation {
  const url = "http://127.0.0.1:9090/fn/default/hello";
  return { sourceDigest: DIGEST, replicas: 1, fault: undefined, build: built, platform: serving, url, ...changes };
}

interface Case {
  seen: Partial<WorkloadObservation>;
  phase: string;
  /** Condition → `status reason`. */
  expected: Record<string, string>;
}

const cases: Record<string, Case> = {
  "a version that serves is ready": {
    seen: {},
    phase: "Ready",
    expected: { SourceReady: "True Stored", BuildReady: "True Built", Serving: "True Serving", Ready: "True Ready" },
  },
  "without a stored source it waits for one": {
    seen: { sourceDigest: undefined, build: undefined, platform: undefined },
    phase: "Pending",
    expected: {
      SourceReady: "False WaitingForSource",
      Ready: "False WaitingForSource",
      Reconciling: "True Progressing",
    },
  },
  "while it is built nothing else is claimed": {
    seen: { build: { phase: "building", startedAt: at, step: "pip install" }, platform: undefined },
    phase: "Building",
    expected: {
      BuildReady: "False Building",
      Serving: "False Starting",
      Ready: "False Progressing",
      Reconciling: "True Progressing",
    },
  },
  "while the next version is built, the crash of the last one is no verdict on it": {
    seen: {
      build: { phase: "building", startedAt: at, step: "pip install" },
      platform: { serving: 0, current: false, failure: { reason: "StartFailed", message: "boom" } },
    },
    phase: "Building",
    expected: { BuildReady: "False Building", Ready: "False Progressing", Reconciling: "True Progressing" },
  },
  "a failed build with an older version running keeps serving": {
    seen: { build: failed, platform: oldServing },
    phase: "Failed",
    expected: {
      BuildReady: "False BuildFailed",
      Serving: "True Serving",
      Ready: "False BuildFailed",
      Stalled: "True BuildFailed",
    },
  },
  "a new version that crashes leaves the old one serving": {
    seen: {
      platform: {
        serving: 1,
        servingImageRef: OLD_IMAGE,
        current: false,
        failure: { reason: "StartFailed", message: "boom" },
      },
    },
    phase: "Failed",
    expected: { BuildReady: "True Built", Serving: "True Serving", Ready: "False StartFailed" },
  },
  "a built version that does not answer yet is pending": {
    seen: { platform: { serving: 0, current: false } },
    phase: "Pending",
    expected: { BuildReady: "True Built", Serving: "False Starting", Ready: "False Progressing" },
  },
  "scaled to zero on purpose is ready and serves nothing": {
    seen: { replicas: 0, build: undefined, platform: undefined },
    phase: "Ready",
    expected: { BuildReady: "Unknown ScaledToZero", Serving: "False ScaledToZero", Ready: "True ScaledToZero" },
  },
  "an unknown runtime fails at once": {
    seen: { fault: { reason: "RuntimeUnknown", message: "no" }, build: undefined, platform: undefined },
    phase: "Failed",
    expected: { BuildReady: "False RuntimeUnknown", Ready: "False RuntimeUnknown", Stalled: "True RuntimeUnknown" },
  },
};

describe("the status of a workload", () => {
  it.each(Object.entries(cases))("%s", (_name, { seen, phase, expected }) => {
    const status = workloadStatus(hello(), observation(seen), NOW);
    expect(status.phase).toBe(phase);
    const told = Object.fromEntries(
      Object.keys(expected).map((type) => {
        const condition = findCondition(status.conditions, type);
        return [type, `${condition?.status} ${condition?.reason}`];
      }),
    );
    expect(told).toEqual(expected);
  });

  it("imageRef and sourceDigest describe what serves while a newer version fails", () => {
    const before: WorkloadStatus = { imageRef: "local/older@sha256:older", sourceDigest: "c".repeat(64) };
    const status = workloadStatus(hello(before), observation({ build: failed, platform: oldServing }), NOW);
    expect(status).toMatchObject({ imageRef: OLD_IMAGE, sourceDigest: OLD_DIGEST });
  });

  it("the same observation twice gives an equal status, whatever the time", () => {
    const first = workloadStatus(hello(), observation(), NOW);
    expect(workloadStatus(hello(first), observation(), "2027-01-01T00:00:00.000Z")).toEqual(first);
  });

  it("Reconciling and Stalled are there only while they are true", () => {
    const status = workloadStatus(hello(), observation(), NOW);
    expect(status.conditions?.map((condition) => condition.type)).toEqual([
      "SourceReady",
      "BuildReady",
      "Serving",
      "Ready",
    ]);
  });
});
