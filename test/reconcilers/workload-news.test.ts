import { expect, it } from "vitest";
import type { WorkloadRef, WorkloadStatus } from "../../src/apis/index.ts";
import { workloadNews } from "../../src/reconcilers/workload-news.ts";

const NOW = "2026-01-01T00:00:00.000Z";
const ref: WorkloadRef = { kind: "Function", namespace: "default", name: "hello" };

function status(phase: WorkloadStatus["phase"], reason: string, more: Partial<WorkloadStatus> = {}): WorkloadStatus {
  const isTrue = phase === "Ready" ? "True" : "False";
  const ready = { type: "Ready", status: isTrue, reason, message: `${reason} it is`, lastTransitionTime: NOW } as const;
  return { phase, observedGeneration: 1, imageRef: "image", conditions: [ready], ...more };
}
const serving = status("Ready", "Ready");
const stopped = status("Ready", "ScaledToZero");
const failed = status("Failed", "BuildFailed");

interface Case {
  before?: WorkloadStatus;
  after: WorkloadStatus;
  rolloutMs?: number;
  told: string[];
}
const cases: Record<string, Case> = {
  "a version that serves for the first time is told": { after: serving, rolloutMs: 5, told: ["serving"] },
  "a version that goes on serving is not": { before: serving, after: serving, rolloutMs: 5, told: [] },
  "another configuration of the same image is told": {
    before: serving,
    after: { ...serving, observedGeneration: 2 },
    rolloutMs: 5,
    told: ["serving"],
  },
  "what was not rolled out by this process is not told": { after: serving, told: [] },
  "scaled to zero is told once": { before: serving, after: stopped, told: ["finished"] },
  "and not again": { before: stopped, after: stopped, told: [] },
  "a failure is told": { before: serving, after: failed, told: ["failed"] },
  "the same failure is not told twice": { before: failed, after: failed, told: [] },
  "another reason is": { before: failed, after: status("Failed", "CrashLoopBackOff"), told: ["failed"] },
};

it.each(Object.entries(cases))("%s", (_name, { before, after, rolloutMs, told }) => {
  expect(workloadNews({ ref, before, after, rolloutMs }).map(({ step }) => step)).toEqual(told);
});
