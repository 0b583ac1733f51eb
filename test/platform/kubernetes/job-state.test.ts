import { expect, it } from "vitest";
import { endedState, jobOutcome, runningState } from "../../../src/platform/kubernetes/job-state.ts";
import type { LiveCondition, LiveJob, LivePod } from "../../../src/platform/kubernetes/live-objects.ts";

const START = "2026-01-01T12:00:00Z";
const END = "2026-01-01T12:01:00Z";
const job = (type: string, more: Partial<LiveCondition> = {}): LiveJob => ({
  metadata: { name: "report-3", creationTimestamp: START },
  status: { startTime: START, conditions: [{ type, status: "True", lastTransitionTime: END, ...more }] },
});
const pod = (exitCode: number, message: string, more: Partial<LivePod> & { reason?: string } = {}): LivePod => ({
  metadata: { name: "report-3-x" },
  image: "i",
  memory: "128Mi",
  phase: "Failed",
  reason: "",
  message: "",
  conditions: [],
  container: { state: { terminated: { exitCode, message } } },
  ...more,
});
const ended = (of: LiveJob, last: LivePod | undefined, waited?: { reason: string; message: string }) =>
  endedState({ job: of, pod: last, waited, timeoutSec: 30 });
const failed = job("Failed", { reason: "BackoffLimitExceeded" });

it("a Job runs until it is complete or failed", () => {
  expect(jobOutcome(job("Suspended"))).toBeUndefined();
  expect(jobOutcome(job("FailureTarget"))).toBeUndefined();
  expect(jobOutcome(job("Complete"))).toBe("succeeded");
  expect(jobOutcome(failed)).toBe("failed");
  expect(runningState({ ...job("x"), status: {} })).toEqual({
    phase: "running",
    jobName: "report-3",
    startTime: START,
  });
});

it("the message of a run that succeeded is what its pod left", () => {
  const times = { jobName: "report-3", startTime: START, completionTime: END };
  expect(ended(job("Complete"), pod(0, '{"n":1}'))).toEqual({ phase: "succeeded", ...times, message: '{"n":1}' });
  expect(ended(job("Complete"), pod(0, ""))).toMatchObject({ message: "" });
  expect(ended(job("Complete"), undefined)).toMatchObject({
    phase: "succeeded",
    message: expect.stringContaining("is gone"),
  });
});

const evicted = pod(137, "", { reason: "Evicted", message: "The node was low on resource: memory." });
const drained = pod(137, "", {
  conditions: [{ type: "DisruptionTarget", status: "True", message: "Eviction API: evicting" }],
});
it.each<[string, LiveJob, LivePod | undefined, RegExp]>([
  ["an exit code and the last lines", failed, pod(4, "it hurts\n"), /^Failed: It ended with exit code 4\.\nit hurts$/],
  [
    "a run that the runtime ended",
    failed,
    pod(75, "sless: timed out after 30 s"),
    /^TimedOut: It did not end within 30 s\.\nsless/,
  ],
  [
    "a run that Kubernetes ended",
    job("Failed", { reason: "DeadlineExceeded" }),
    undefined,
    /^TimedOut: It did not end within 30 s\.$/,
  ],
  [
    "a kill for memory",
    failed,
    pod(137, "", { container: { state: { terminated: { exitCode: 137, reason: "OOMKilled" } } } }),
    /^OutOfMemory: .*memoryMB is 128/,
  ],
  ["an evicted pod", failed, evicted, /^Evicted: The node was low on resource/],
  ["a drained node", failed, drained, /^Evicted: Eviction API/],
  ["a pod that somebody deleted", failed, undefined, /^Failed: Its pod was deleted before it ended/],
  ["a node that was lost", failed, pod(0, "", { container: {} }), /^Failed: Its node was lost/],
])("a failure tells %s", (_, of, last, message) => {
  expect(ended(of, last)).toMatchObject({ phase: "failed", message: expect.stringMatching(message) });
});

it("a run that never began tells what its pod waited for", () => {
  const waited = { reason: "ImagePullBackOff", message: "Its image i cannot be pulled." };
  const late = ended(job("Failed", { reason: "DeadlineExceeded" }), undefined, waited);
  expect(late.message).toBe("TimedOut: It did not end within 30 s.\nIts image i cannot be pulled.");
});

it("a message is never longer than 4,096 bytes, nor a result", () => {
  const result = ended(job("Complete"), pod(0, "x".repeat(9_000))).message;
  expect(Buffer.byteLength(result)).toBeLessThanOrEqual(4_096);
  expect(result).toMatch(/truncated, 9000 bytes in all\)$/);
  const { message } = ended(failed, pod(1, "line\n".repeat(9_000)));
  expect(message.split("\n")).toHaveLength(21);
});
