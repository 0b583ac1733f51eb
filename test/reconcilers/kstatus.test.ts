import { describe, expect, it } from "vitest";
import { type AnyObject, isTrue, type Kind, type ObjectOf, type StatusOf } from "../../src/apis/index.ts";
import type { BuildState } from "../../src/build/index.ts";
import { SlessError } from "../../src/errors/index.ts";
import { createPlanner } from "../../src/plan/index.ts";
import type { JobState } from "../../src/platform/index.ts";
import { functionJobStatus, type JobObservation } from "../../src/reconcilers/function-job-status.ts";
import { triggerStatus } from "../../src/reconcilers/trigger.ts";
import { type WorkloadObservation, workloadStatus } from "../../src/reconcilers/workload-status.ts";
import { createCorrections } from "../../src/sync/corrections.ts";
import { type Outcome, startRun } from "../../src/sync/run.ts";
import { statusAfter, suspendedStatus } from "../../src/sync/status-after.ts";
import { type KStatus, kstatus } from "../support/kstatus.ts";

const NOW = "2026-01-01T00:00:00Z";
const at = new Date(NOW);

function object<K extends Kind>(kind: K, spec: object, status?: StatusOf<K>): ObjectOf<K> {
  const metadata = { name: "a", namespace: "n", uid: "u", resourceVersion: "1", generation: 3, creationTimestamp: NOW };
  return { apiVersion: "sless.kube5s.ru/v1alpha1", kind, metadata, spec, ...(status && { status }) } as ObjectOf<K>;
}

/** Every version of kstatus comes to the same, and to what `Ready` says. */
function verdict(of: AnyObject): KStatus {
  expect(of.status?.observedGeneration).toBe(of.metadata.generation);
  for (const { observedGeneration } of of.status?.conditions ?? [])
    expect(observedGeneration).toBe(of.metadata.generation);
  const seen = kstatus(of);
  expect(kstatus(of, { isOld: true })).toBe(seen);
  expect(seen === "Current").toBe(isTrue(of, "Ready"));
  return seen;
}

const builds: (BuildState | undefined)[] = [
  undefined,
  { phase: "building", startedAt: at, step: "pip" },
  { phase: "built", imageRef: "i", builtAt: at, durationMs: 1, reused: false },
  { phase: "failed", reason: "BuildFailed", message: "no", failedAt: at, retryAt: at },
];
const platforms: WorkloadObservation["platform"][] = [
  undefined,
  { serving: 1, servingImageRef: "i", current: true },
  { serving: 1, servingImageRef: "old", current: false },
  { serving: 0, current: false },
  { serving: 0, current: false, failure: { reason: "CrashLoop", message: "it crashes" } },
];
const faults = [undefined, { reason: "RuntimeUnknown", message: "no" }];

it("kstatus understands every status of a Function or Service", () => {
  const phases = { Ready: "Current", Failed: "Failed", Pending: "InProgress", Building: "InProgress" };
  for (const kind of ["Function", "Service"] as const)
    for (const build of builds)
      for (const platform of platforms)
        for (const fault of faults)
          for (const sourceDigest of [undefined, "d"])
            for (const replicas of [0, 1]) {
              const before = object(kind, { runtime: "python3.11" });
              const seen: WorkloadObservation = { sourceDigest, replicas, fault, build, platform, url: undefined };
              const status = workloadStatus(before, seen, NOW);
              expect(verdict({ ...before, status } as AnyObject)).toBe(phases[status.phase!]);
            }
});

it("kstatus understands every status of a FunctionJob", () => {
  const run = (state: JobState): JobObservation => ({ kind: "run", imageRef: "i", runID: 1, run: state });
  const ended = { jobName: "a-1", startTime: NOW, completionTime: NOW, message: "m" };
  const seen: [JobObservation, KStatus][] = [
    [{ kind: "skipped" }, "Current"],
    [{ kind: "fault", reason: "RuntimeUnknown", message: "no" }, "Failed"],
    [{ kind: "waiting", reason: "WaitingForSource", message: "none" }, "InProgress"],
    [{ kind: "build", build: builds[1]! }, "InProgress"],
    [{ kind: "build", build: builds[3]! }, "Failed"],
    [run({ phase: "running", jobName: "a-1", startTime: NOW }), "InProgress"],
    [run({ phase: "succeeded", ...ended }), "Current"],
    [run({ phase: "failed", ...ended }), "Failed"],
  ];
  for (const [observation, expected] of seen) {
    const job = object("FunctionJob", {});
    expect(verdict({ ...job, status: functionJobStatus(job, observation, NOW) })).toBe(expected);
  }
});

it("kstatus understands every status of an http or event trigger", () => {
  const seen: [object, string | undefined, string | undefined, KStatus][] = [
    [{ type: "http" }, "http://url", undefined, "Current"],
    [{ type: "http", enabled: false }, "http://url", undefined, "Current"],
    [{ type: "http" }, undefined, undefined, "InProgress"],
    [{ type: "http" }, "http://url", "no route", "InProgress"],
    [{ type: "event", queue: "q" }, "http://url", undefined, "Failed"],
  ];
  for (const [spec, url, fault, expected] of seen) {
    const trigger = object("Trigger", { functionRef: "f", ...spec });
    expect(verdict({ ...trigger, status: triggerStatus(trigger, url, NOW, fault) })).toBe(expected);
  }
});

describe("kstatus understands a Repository", () => {
  const failed = (error: SlessError): Outcome => ({ kind: "failed", reason: "GitOperationFailed", error });
  const cases: [string, Outcome, KStatus][] = [
    ["that is synced", { kind: "ok" }, "Current"],
    ["that is tried again", failed(new SlessError("repository_unreachable", { url: "u", cause: "c" })), "InProgress"],
    [
      "that only another spec helps",
      failed(new SlessError("repository_url_invalid", { url: "u", cause: "c" })),
      "Failed",
    ],
    ["that waits for a commit", failed(new SlessError("repository_empty", { url: "u" })), "Failed"],
  ];
  it.each(cases)("%s", (_, outcome, expected) => {
    const repository = object("Repository", { url: "u" });
    const memory = {
      uid: "u",
      planner: createPlanner(),
      corrections: createCorrections(),
      opened: undefined,
      settled: undefined,
    };
    const run = startRun({ repository, startedAt: at, memory, signal: new AbortController().signal });
    const status = statusAfter(undefined, run, outcome, NOW);
    expect(verdict({ ...repository, status })).toBe(expected);
    const suspended = suspendedStatus({ ...repository, status }, NOW);
    expect(verdict({ ...repository, status: suspended })).toBe(expected === "Current" ? "Current" : "Failed");
  });
});
