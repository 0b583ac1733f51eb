import { expect, it } from "vitest";
import { type ObjectOf, sourceKey } from "../../src/apis/index.ts";
import type { Builder } from "../../src/build/index.ts";
import { systemClock } from "../../src/controller/index.ts";
import type { JobState } from "../../src/platform/index.ts";
import { createFunctionJobReconciler } from "../../src/reconcilers/function-job.ts";
import type { ProgressEvent } from "../../src/report/index.ts";
import { fakePlatform } from "../support/fake-platform.ts";
import { runtimes } from "../support/function-files.ts";
import { memoryStore } from "../support/memory-store.ts";

const KEY = { namespace: "demo", name: "report" };
const DIGEST = "0".repeat(64);
const RESULT = "0123456789".repeat(6_500);
const TIMES = { jobName: "report-1", startTime: "2026-01-01T00:00:00Z", completionTime: "2026-01-01T00:00:01Z" };
type Spec = ObjectOf<"FunctionJob">["spec"];

/** A job whose run came to this, reconciled once. */
async function reconciled(run: Pick<Extract<JobState, { message: string }>, "phase" | "message">, spec: Spec = {}) {
  const store = await memoryStore();
  const told: ProgressEvent[] = [];
  const builder = {
    ensure: async () => ({ phase: "built", imageRef: "i@sha256:1", builtAt: new Date(0), durationMs: 1, reused: true }),
  } as unknown as Builder;
  const platform = { ...fakePlatform(), runJob: async (): Promise<JobState> => ({ ...run, ...TIMES }) };
  const reconcile = createFunctionJobReconciler({
    store,
    builder,
    platform,
    runtimes,
    clock: systemClock,
    report: (event) => void told.push(event),
  });
  const s3Key = sourceKey({ kind: "FunctionJob", ...KEY }, DIGEST);
  const intent = { kind: "FunctionJob", metadata: KEY, spec: { runtime: "python3.11", runID: 1, s3Key, ...spec } };
  await store.create<"FunctionJob">(intent as never, { owner: "api" });
  await reconcile(KEY);
  return { status: (await store.get("FunctionJob", KEY))?.status, told };
}

it("the status has a result whole, and the event the beginning of it", async () => {
  const { status, told } = await reconciled({ phase: "succeeded", message: RESULT });
  expect(status).toMatchObject({ phase: "Succeeded", message: RESULT });
  expect(told).toEqual([expect.objectContaining({ step: "finished", message: `${RESULT.slice(0, 1_000)}…` })]);
});

it("an event has all of a failure, and of a short result", async () => {
  const lines = "Failed: it hurts\n".repeat(200);
  expect((await reconciled({ phase: "failed", message: lines })).told).toMatchObject([{ message: lines }]);
  expect((await reconciled({ phase: "succeeded", message: "done" })).told).toMatchObject([{ message: "done" }]);
});

it("a job whose spec leaves no room for a long result is told the beginning of it", async () => {
  const env = Object.fromEntries([..."ABCDEFGH"].map((name) => [name, "漢".repeat(31_500)]));
  const spec = { eventJSON: JSON.stringify("漢".repeat(262_000)), env };
  const { status } = await reconciled({ phase: "succeeded", message: RESULT }, spec);
  expect(status).toMatchObject({
    phase: "Succeeded",
    message: expect.stringMatching(/^[0-9]+… \(truncated, 65000 bytes in all\)$/),
    completionTime: TIMES.completionTime,
  });
});
