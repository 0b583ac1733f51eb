import { expect, it } from "vitest";
import { type ObjectOf, sourceKey } from "../../src/apis/index.ts";
import type { Builder } from "../../src/build/index.ts";
import { systemClock } from "../../src/controller/index.ts";
import { SlessError } from "../../src/errors/index.ts";
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
function reconciled(run: Pick<Extract<JobState, { message: string }>, "phase" | "message">, spec: Spec = {}) {
  return reconciledUntil(async () => ({ ...run, ...TIMES }), 1, spec);
}

/** A job, reconciled so often or until that fails. */
async function reconciledUntil(runJob: () => Promise<JobState>, times = 1, spec: Spec = {}) {
  const store = await memoryStore();
  const told: ProgressEvent[] = [];
  const builder = {
    ensure: async () => ({ phase: "built", imageRef: "i@sha256:1", builtAt: new Date(0), durationMs: 1, reused: true }),
  } as unknown as Builder;
  const reconcile = createFunctionJobReconciler({
    store,
    builder,
    platform: { ...fakePlatform(), runJob },
    runtimes,
    clock: systemClock,
    report: (event) => void told.push(event),
  });
  const s3Key = sourceKey({ kind: "FunctionJob", ...KEY }, DIGEST);
  const intent = { kind: "FunctionJob", metadata: KEY, spec: { runtime: "python3.11", runID: 1, s3Key, ...spec } };
  await store.create<"FunctionJob">(intent as never, { owner: "api" });
  let thrown: unknown;
  for (let left = times; left > 0 && thrown === undefined; left -= 1)
    await reconcile(KEY).catch((error: unknown) => {
      thrown = error;
    });
  return { status: (await store.get("FunctionJob", KEY))?.status, told, thrown };
}

it("the status has a result whole, and the event the beginning of it", async () => {
  const { status, told } = await reconciled({ phase: "succeeded", message: RESULT });
  expect(status).toMatchObject({ phase: "Succeeded", message: RESULT });
  expect(told).toEqual([expect.objectContaining({ step: "finished", message: `${RESULT.slice(0, 1_000)}…` })]);
});

it.each([
  ["a namespace that is being deleted", "namespace_terminating", "NamespaceTerminating"],
  ["a namespace that sless did not make", "namespace_not_ours", "NamespaceNotOurs"],
  ["a cluster that refuses", "cluster_refused", "Refused"],
  ["runs before it that have not ended", "runs_busy", "EarlierRuns"],
] as const)("a run that waits for %s says so, and has not been run", async (_, code, reason) => {
  const error = new SlessError(code, {
    namespace: "sless-fn-demo",
    tenant: "demo",
    left: "pods",
    cause: "no",
    count: 10,
  });
  const { status, thrown } = await reconciledUntil(() => Promise.reject(error));
  expect(status).toMatchObject({ phase: "Pending", message: error.message });
  expect(status?.lastRunID).toBeUndefined();
  expect(status?.conditions).toContainEqual(expect.objectContaining({ type: "Ready", status: "False", reason }));
  expect(thrown).toBe(error);
});

it("an error while a run is under way does not undo what is known of it", async () => {
  const error = new SlessError("cluster_refused", { cause: "no" });
  const { jobName, startTime } = TIMES;
  let asked = 0;
  const run = async (): Promise<JobState> => {
    asked += 1;
    if (asked === 2) throw error;
    return { phase: "running", jobName, startTime };
  };
  const { status, thrown } = await reconciledUntil(run, 2);
  expect(thrown).toBe(error);
  expect(status).toMatchObject({ phase: "Running", lastRunID: 1, jobName });
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
