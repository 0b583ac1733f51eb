import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import type { WorkloadRef } from "../../src/apis/index.ts";
import type { Lease, Platform, WorkloadSpec, WorkloadState } from "../../src/platform/index.ts";
import { eventually } from "../support/eventually.ts";
import type { ImageBehaviour } from "../support/fake-images.ts";
import { within } from "../support/within.ts";

export interface PlatformUnderTest {
  readonly platform: Platform;
  /** An image whose replicas answer with JSON `{text, pid, env}`. */
  makeImage(behaviour?: ImageBehaviour): Promise<string>;
}

/**
 * What every Platform keeps, with `jobResultCases`; each test opens one with nothing on it.
 *
 * @param unsupported `calls`: replicas are there but run nothing, as on a cluster without nodes
 */
export function platformContract(
  open: () => Promise<PlatformUnderTest>,
  { unsupported = [] }: { unsupported?: readonly "calls"[] } = {},
): void {
  const hasCalls = !unsupported.includes("calls");
  const calling = it.skipIf(!hasCalls);

  it("serves what was applied, and says so", async () => {
    const { platform, makeImage } = await open();
    const spec = specOf(await makeImage({ text: "one" }));
    expect(await platform.state(spec.workload)).toBeUndefined();
    expect(platform.acquire(spec.workload)).toBeUndefined();
    await platform.apply(spec, 1);
    const state = await untilCurrent(platform, spec.workload);
    expect(state).toEqual({ ...servedBy(spec), serving: 1, current: true });
    if (hasCalls) expect(await answerOf(platform, spec.workload)).toMatchObject({ text: "one" });
    expect(await platform.list()).toEqual([spec.workload]);
  });

  it("tells every change of the state, and nothing when an equal spec is applied again", async () => {
    const { platform, makeImage } = await open();
    const spec = specOf(await makeImage(), { env: { A: "1", B: "2" } });
    const told: WorkloadRef[] = [];
    const stop = platform.onChange((workload) => told.push(workload));
    await platform.apply(spec, 1);
    await untilCurrent(platform, spec.workload);
    expect(told).toContainEqual(spec.workload);
    const replica = replicaOf(platform, spec.workload);
    told.length = 0;
    const again = { ...spec, env: { B: "2", A: "1" } };
    expect(await platform.apply(again, 1)).toMatchObject({ current: true });
    expect(replicaOf(platform, spec.workload)).toBe(replica);
    expect(told).toEqual([]);
    stop();
    await platform.apply(spec, 0);
    expect(told).toEqual([]);
  });

  calling("the old revision serves until the new one is healthy, and calls in flight end well", async () => {
    const { platform, makeImage } = await open();
    const old = specOf(await makeImage({ text: "old" }));
    await platform.apply(old, 1);
    await untilCurrent(platform, old.workload);
    const lease = platform.acquire(old.workload)!;
    const slow = call(lease, "/slow?ms=400");
    const seen = new Set<string>();
    const next = { ...old, imageRef: await makeImage({ text: "new", unhealthyProbes: 5 }) };
    expect(await platform.apply(next, 1)).toMatchObject({ serving: 1, servingImageRef: old.imageRef, current: false });
    await eventually(
      "the new revision answers",
      async () => {
        const { text } = await answerOf(platform, old.workload);
        seen.add(text);
        return text;
      },
      (text) => text === "new",
    );
    expect(await untilCurrent(platform, old.workload)).toMatchObject({ servingImageRef: next.imageRef });
    expect((await slow).text).toBe("old");
    lease.release();
    await expectGone(lease);
  });

  calling.each([
    ["exits at once", { exitAtStart: 3, print: "no module named nothing" }, "no module named nothing"],
    ["exits with the code of a blocked replica before it was ready", { exitAtStart: 75, print: "stuck" }, "stuck"],
  ])("a new revision that %s shows why, and the old one goes on", async (_, behaviour, words) => {
    const { platform, makeImage } = await open();
    const old = specOf(await makeImage({ text: "old" }));
    await platform.apply(old, 2);
    await untilCurrent(platform, old.workload);
    await platform.apply({ ...old, imageRef: await makeImage(behaviour) }, 2);
    const state = await untilState(platform, old.workload, (now) => now?.failure !== undefined);
    expect(state).toMatchObject({ serving: 2, servingImageRef: old.imageRef, current: false });
    expect(state?.failure).toMatchObject({ reason: "StartFailed", message: expect.stringContaining(words) });
    expect(await answerOf(platform, old.workload)).toMatchObject({ text: "old" });
    // Back to what serves: nothing is started, and the failure is history.
    expect(await platform.apply(old, 2)).toEqual({ ...servedBy(old), serving: 2, current: true });
  });

  calling("scales up and down in place", async () => {
    const { platform, makeImage } = await open();
    const spec = specOf(await makeImage());
    await platform.apply(spec, 1);
    await untilCurrent(platform, spec.workload);
    const { pid } = await answerOf(platform, spec.workload);
    await platform.apply(spec, 3);
    expect(await untilCurrent(platform, spec.workload)).toMatchObject({ serving: 3 });
    const leases = [1, 2, 3].map(() => platform.acquire(spec.workload)!);
    expect(new Set(leases.map((lease) => lease.replica)).size).toBe(3);
    const pids = await Promise.all(leases.map(async (lease) => (await call(lease)).pid));
    expect(pids).toContain(pid);
    for (const lease of leases) lease.release();
    expect(await platform.apply(spec, 1)).toMatchObject({ serving: 1, current: true });
    expect(pids).toContain((await answerOf(platform, spec.workload)).pid);
  });

  calling("with 0 replicas nothing runs, and one comes back when wanted", async () => {
    const { platform, makeImage } = await open();
    const spec = specOf(await makeImage());
    await platform.apply(spec, 1);
    await untilCurrent(platform, spec.workload);
    const lease = platform.acquire(spec.workload)!;
    expect(await platform.apply(spec, 0)).toEqual({ serving: 0, current: true });
    expect(platform.acquire(spec.workload)).toBeUndefined();
    expect(await call(lease)).toMatchObject({ text: spec.imageRef });
    lease.release();
    await expectGone(lease);
    await platform.apply(spec, 1);
    expect(await untilCurrent(platform, spec.workload)).toMatchObject({ serving: 1 });
  });

  it("a lease goes to the least busy replica, and releasing it twice counts once", async () => {
    const { platform, makeImage } = await open();
    const spec = specOf(await makeImage());
    await platform.apply(spec, 2);
    await untilCurrent(platform, spec.workload);
    const first = platform.acquire(spec.workload)!;
    const second = platform.acquire(spec.workload)!;
    expect(second.replica).not.toBe(first.replica);
    first.release();
    first.release();
    expect([platform.acquire(spec.workload)!.replica, platform.acquire(spec.workload)!.replica].sort()).toEqual(
      [first.replica, second.replica].sort(),
    );
    expect(platform.acquire(spec.workload)!.replica).toBe(first.replica);
  });

  calling("a replica that crashes is replaced, and called to crash again and again when it does", async () => {
    const { platform, makeImage } = await open();
    const spec = specOf(await makeImage());
    await platform.apply(spec, 1);
    await untilCurrent(platform, spec.workload);
    for (const reason of ["Crashed", "Crashed", "CrashLoopBackOff"]) {
      const { pid } = await answerOf(platform, spec.workload);
      await call(platform.acquire(spec.workload)!, "/exit?code=1").catch(() => undefined);
      const state = await untilState(platform, spec.workload, (now) => now?.failure !== undefined);
      expect(state?.failure?.reason).toBe(reason);
      expect(await untilCurrent(platform, spec.workload)).not.toHaveProperty("failure");
      expect((await answerOf(platform, spec.workload)).pid).not.toBe(pid);
    }
  });

  calling("a replica that uses more memory than it may is ended, says so, comes back, and others live on", async () => {
    const { platform, makeImage } = await open();
    const grows = specOf(await makeImage());
    const other = specOf(grows.imageRef, { workload: { ...grows.workload, name: "other" }, memoryMB: 512 });
    for (const spec of [grows, other]) await platform.apply(spec, 1);
    for (const spec of [grows, other]) await untilCurrent(platform, spec.workload);
    const pidOf = async ({ workload }: WorkloadSpec) => (await answerOf(platform, workload)).pid;
    const before = [await pidOf(grows), await pidOf(other)];
    const growing = [grows, other].map((spec) => call(platform.acquire(spec.workload)!, "/grow?mb=300"));
    await expect(growing[0]).rejects.toThrow();
    const told = await untilState(platform, grows.workload, (state) => state?.failure !== undefined);
    expect(told?.failure).toMatchObject({ reason: "OutOfMemory" });
    expect(told?.failure?.message).toMatch(/it used \d+ MiB; its memoryMB is 128\. Set spec\.memoryMB higher/);
    expect(await untilCurrent(platform, grows.workload)).not.toHaveProperty("failure");
    expect(await pidOf(grows)).not.toBe(before[0]);
    expect((await growing[1])?.pid).toBe(before[1]);
    expect(await pidOf(other)).toBe(before[1]);
    expect(await logText(platform, grows.workload)).toMatch(/sless: out of memory: it used \d+ MiB/);
  });

  calling("what uses too much memory before it is ready is told as that", async () => {
    const { platform, makeImage } = await open();
    const spec = specOf(await makeImage({ growMB: 300 }));
    await platform.apply(spec, 1);
    const state = await untilState(platform, spec.workload, (now) => now?.failure !== undefined);
    expect(state?.failure).toMatchObject({ reason: "OutOfMemory" });
  });

  calling("a job that uses too much memory fails for that", async () => {
    const { platform, makeImage } = await open();
    const run = { spec: jobOf(await makeImage({ growMB: 300 })), runID: 1, eventJSON: undefined };
    const message = expect.stringMatching(/^OutOfMemory: .*memoryMB is 128/);
    expect(await untilDone(platform, run)).toMatchObject({ phase: "failed", message });
  });

  it("what is removed is gone, with all that was kept of it", async () => {
    const { platform, makeImage } = await open();
    const spec = specOf(await makeImage());
    await platform.remove(spec.workload);
    await platform.apply(spec, 1);
    await untilCurrent(platform, spec.workload);
    const lease = platform.acquire(spec.workload)!;
    lease.release();
    await platform.remove(spec.workload);
    expect(platform.acquire(spec.workload)).toBeUndefined();
    expect(await platform.state(spec.workload)).toBeUndefined();
    expect(await platform.list()).toEqual([]);
    if (hasCalls) await expectGone(lease);
  });

  calling("gives a replica its own environment and nothing of the server's", async () => {
    const { platform, makeImage } = await open();
    const spec = specOf(await makeImage(), { env: { GREETING: "hi" }, timeoutSec: 7, memoryMB: 64 });
    await platform.apply(spec, 1);
    await untilCurrent(platform, spec.workload);
    const { env } = await answerOf(platform, spec.workload);
    expect(env).toMatchObject({
      GREETING: "hi",
      SLESS_ENTRYPOINT: "handler.handle",
      SLESS_FUNCTION: "hello",
      SLESS_NAMESPACE: "demo",
      SLESS_TIMEOUT_SEC: "7",
      SLESS_MEMORY_MB: "64",
    });
    expect(env).not.toHaveProperty("VITEST");
  });

  calling("logs hold what replicas print, each line with its time and replica", async () => {
    const { platform, makeImage } = await open();
    const spec = specOf(await makeImage({ text: "one", print: "first line\nsecond line" }));
    await platform.apply(spec, 1);
    await untilCurrent(platform, spec.workload);
    const { replica } = platform.acquire(spec.workload)!;
    const text = await eventually(
      "the lines are there",
      () => logText(platform, spec.workload),
      (seen) => seen.includes("second line") && seen.includes("starting one"),
    );
    expect(text.split("\n")[0]).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z \S+ /);
    expect(text).toContain(` ${replica} first line\n`);
    expect((await logText(platform, spec.workload, 1)).split("\n")).toHaveLength(2);
  });

  calling("a job runs once per run ID, and its message is the result", async () => {
    const { platform, makeImage } = await open();
    const spec = jobOf(await makeImage({ text: "job" }));
    const run = { spec, runID: 1, eventJSON: '{"n":1}' };
    const [first, second] = await Promise.all([platform.runJob(run), platform.runJob(run)]);
    expect(first).toMatchObject({ phase: "running", jobName: expect.any(String), startTime: expect.any(String) });
    expect(second).toEqual(first);
    const done = await untilDone(platform, run);
    expect(done).toMatchObject({ phase: "succeeded", message: '{"event":{"n":1},"text":"job"}' });
    expect(await platform.runJob(run)).toEqual(done);
    expect(await logText(platform, spec.workload)).toMatch(/job runs/);
    expect((await logText(platform, spec.workload)).match(/job runs/g)).toHaveLength(1);
    await platform.runJob({ ...run, runID: 2 });
    await untilDone(platform, { ...run, runID: 2 });
    expect((await logText(platform, spec.workload)).match(/job runs/g)).toHaveLength(2);
  });

  calling.each([
    ["exits with an error", { jobExit: 4, print: "it hurts" }, {}, /^Failed: .*4[\s\S]*it hurts/],
    ["takes too long", { jobMs: 60_000 }, { timeoutSec: 1 }, /^TimedOut: /],
    ["its runtime ended for being late", { jobExit: 75 }, { timeoutSec: 60 }, /^TimedOut: It did not end within 60 s/],
    ["cannot start", { exitAtStart: 9 }, {}, /^Failed: .*9/],
    ["wants a secret that is not there", {}, { secretEnv: { T: { secret: "api", key: "none" } } }, /^SecretMissing: /],
  ])("a job that %s fails with the reason", async (_, behaviour, more, message) => {
    const { platform, makeImage } = await open();
    const run = { spec: jobOf(await makeImage(behaviour), more), runID: 3, eventJSON: undefined };
    await platform.runJob(run);
    expect(await untilDone(platform, run)).toMatchObject({ phase: "failed", message: expect.stringMatching(message) });
  });

  it("a run that was begun, and of which nothing is left, is told as failed and not run again", async () => {
    const { platform, makeImage } = await open();
    const spec = jobOf(await makeImage());
    const run = { spec, runID: 4, eventJSON: undefined };
    expect(await platform.runJob({ ...run, begun: true })).toMatchObject({
      phase: "failed",
      jobName: "report-4",
      message: expect.stringContaining("Raise spec.runID to run it again."),
    });
    expect(await platform.runJob({ ...run, runID: 5, begun: false })).toMatchObject({ phase: "running" });
  });

  calling("removing a job ends its run", async () => {
    const { platform, makeImage } = await open();
    const run = { spec: jobOf(await makeImage({ jobMs: 60_000 })), runID: 1, eventJSON: undefined };
    await platform.runJob(run);
    await eventually(
      "it runs",
      () => logText(platform, run.spec.workload),
      (text) => text.includes("job runs"),
    );
    await platform.remove(run.spec.workload);
    expect(await platform.list()).toEqual([]);
    expect(await platform.state(run.spec.workload)).toBeUndefined();
  });
}

export function specOf(imageRef: string, more: Partial<WorkloadSpec> = {}): WorkloadSpec {
  return {
    workload: { kind: "Function", namespace: "demo", name: "hello" },
    imageRef,
    sourceDigest: `source of ${imageRef}`,
    entrypoint: "handler.handle",
    memoryMB: 128,
    timeoutSec: 5,
    env: {},
    secretEnv: {},
    ...more,
  };
}

export function jobOf(imageRef: string, more: Partial<WorkloadSpec> = {}): WorkloadSpec {
  return specOf(imageRef, { workload: { kind: "FunctionJob", namespace: "demo", name: "report" }, ...more });
}

/** What a state tells while replicas of this spec serve. */
export function servedBy({ imageRef, sourceDigest }: WorkloadSpec): Partial<WorkloadState> {
  return { servingImageRef: imageRef, servingSourceDigest: sourceDigest };
}

export function untilState(
  platform: Platform,
  workload: WorkloadRef,
  holds: (state: WorkloadState | undefined) => boolean,
): Promise<WorkloadState | undefined> {
  return eventually("the state of the workload", () => platform.state(workload), holds);
}

export function untilCurrent(platform: Platform, workload: WorkloadRef): Promise<WorkloadState | undefined> {
  return untilState(platform, workload, (state) => state?.current === true);
}

export async function untilDone(platform: Platform, run: Parameters<Platform["runJob"]>[0]) {
  return eventually(
    "the job is done",
    () => platform.runJob(run),
    (state) => state.phase !== "running",
  );
}

export async function call(
  lease: Lease,
  path = `/?${randomUUID()}`,
): Promise<{ text: string; pid: number; env: Record<string, string> }> {
  const response = await fetch(lease.origin + path);
  return (await response.json()) as { text: string; pid: number; env: Record<string, string> };
}

export function replicaOf(platform: Platform, workload: WorkloadRef): string | undefined {
  const lease = platform.acquire(workload);
  lease?.release();
  return lease?.replica;
}

export async function answerOf(platform: Platform, workload: WorkloadRef) {
  const lease = platform.acquire(workload);
  if (!lease) throw new Error("no replica serves");
  try {
    return await call(lease);
  } finally {
    lease.release();
  }
}

export async function logText(platform: Platform, workload: WorkloadRef, tailLines?: number): Promise<string> {
  const options = {
    follow: false,
    signal: new AbortController().signal,
    ...(tailLines === undefined ? {} : { tailLines }),
  };
  let text = "";
  const read = async () => {
    for await (const chunk of platform.logs(workload, options)) text += Buffer.from(chunk).toString();
  };
  await within("the end of the log", read(), () => text);
  return text;
}

async function expectGone(lease: Lease): Promise<void> {
  const isGone = () =>
    call(lease).then(
      () => false,
      () => true,
    );
  await eventually(`${lease.replica} is gone`, isGone, (gone) => gone);
}
