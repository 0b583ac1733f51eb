import { expect, it } from "vitest";
import type { FunctionJobStatus, ObjectOf } from "../../src/apis/index.ts";
import { functionJobStatus, type JobObservation } from "../../src/reconcilers/function-job-status.ts";

const NOW = "2026-01-01T00:00:00.000Z";
const at = new Date(NOW);
const job = (status?: FunctionJobStatus): ObjectOf<"FunctionJob"> => ({
  apiVersion: "sless.kube5s.ru/v1alpha1",
  kind: "FunctionJob",
  metadata: {
    name: "report",
    namespace: "default",
    uid: "u",
    resourceVersion: "1",
    generation: 1,
    creationTimestamp: NOW,
  },
  spec: { runtime: "python3.11", runID: 2 },
  ...(status ? { status } : {}),
});
const started = { jobName: "report-2", startTime: NOW };
const ended = { ...started, completionTime: NOW };

interface Case {
  seen: JobObservation;
  before?: FunctionJobStatus;
  expected: FunctionJobStatus;
  ready: string;
}
const cases: Record<string, Case> = {
  "runID 0 is skipped": { seen: { kind: "skipped" }, expected: { phase: "Skipped" }, ready: "True Skipped" },
  "a run under way remembers its id": {
    seen: { kind: "run", imageRef: "i", runID: 2, run: { phase: "running", ...started } },
    expected: { phase: "Running", lastRunID: 2, jobName: "report-2" },
    ready: "False Running",
  },
  "the result is the message": {
    seen: { kind: "run", imageRef: "i", runID: 2, run: { phase: "succeeded", ...ended, message: "42" } },
    expected: { phase: "Succeeded", lastRunID: 2, message: "42", completionTime: NOW },
    ready: "True Succeeded",
  },
  "a failed run keeps its reason": {
    seen: { kind: "run", imageRef: "i", runID: 2, run: { phase: "failed", ...ended, message: "boom" } },
    expected: { phase: "Failed", lastRunID: 2, message: "boom" },
    ready: "False RunFailed",
  },
  "a failed build is no run": {
    seen: {
      kind: "build",
      build: { phase: "failed", reason: "BuildFailed", message: "no", failedAt: at, retryAt: at },
    },
    before: { lastRunID: 1 },
    expected: { phase: "Failed", lastRunID: 1, message: "no" },
    ready: "False BuildFailed",
  },
  "the result of the last run stays out of the next one's build": {
    seen: { kind: "build", build: { phase: "building", startedAt: at, step: "pip" } },
    before: { phase: "Succeeded", lastRunID: 1, message: "41", completionTime: NOW },
    expected: { phase: "Building", lastRunID: 1 },
    ready: "False Building",
  },
};

it.each(Object.entries(cases))("%s", (_name, { seen, before, expected, ready }) => {
  const status = functionJobStatus(job(before), seen, NOW);
  expect(status).toMatchObject(expected);
  if (expected.completionTime === undefined && seen.kind !== "run") expect(status.completionTime).toBeUndefined();
  const condition = status.conditions?.[0];
  expect(`${condition?.status} ${condition?.reason}`).toBe(ready);
});
