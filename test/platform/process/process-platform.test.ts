import { spawn } from "node:child_process";
import { mkdir, readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { jobResultCases } from "../../contract/job-results.ts";
import {
  answerOf,
  call,
  jobOf,
  logText,
  platformContract,
  specOf,
  untilCurrent,
  untilDone,
  untilState,
} from "../../contract/platform.ts";
import { eventually } from "../../support/eventually.ts";
import { watchHeldBytes } from "../../support/held-bytes.ts";
import { openProcessPlatform } from "../../support/open-process-platform.ts";
import { processesWith } from "../../support/process-tree.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { watchChild } from "../../support/watched-child.ts";

describe("the process platform", () => {
  platformContract(openProcessPlatform);
  jobResultCases(openProcessPlatform);

  it("gives a replica the secrets of its namespace, and keeps them out of failures", async () => {
    const { platform, makeImage } = await openProcessPlatform();
    const secretEnv = { TOKEN: { secret: "api", key: "token" } };
    const good = specOf(await makeImage(), { secretEnv });
    await platform.apply(good, 1);
    await untilCurrent(platform, good.workload);
    expect((await answerOf(platform, good.workload)).env).toMatchObject({ TOKEN: "demo-api-value" });
    await platform.apply({ ...good, imageRef: await makeImage({ printEnv: "TOKEN", exitAtStart: 1 }) }, 1);
    const state = await untilState(platform, good.workload, (now) => now?.failure !== undefined);
    expect(state?.failure?.message).toContain("the value is ***");
    expect(JSON.stringify(state)).not.toContain("demo-api-value");
  });

  it("a secret that is not there is a failure by name, mended without a new spec", async () => {
    let value: string | undefined;
    const { platform, makeImage } = await openProcessPlatform({ secrets: async () => value });
    const spec = specOf(await makeImage(), { secretEnv: { TOKEN: { secret: "api", key: "token" } } });
    await platform.apply(spec, 1);
    const state = await untilState(platform, spec.workload, (now) => now?.failure !== undefined);
    expect(state?.failure).toMatchObject({ reason: "SecretMissing", message: expect.stringContaining("Secret api") });
    value = "there";
    expect(await untilCurrent(platform, spec.workload)).not.toHaveProperty("failure");
  });

  it("an image that is not there is a failure", async () => {
    const { platform } = await openProcessPlatform();
    const spec = specOf("local/none@sha256:1");
    await platform.apply(spec, 1);
    const state = await untilState(platform, spec.workload, (now) => now?.failure !== undefined);
    expect(state?.failure?.message).toContain("local/none@sha256:1");
  });

  it.each([
    ["does not start", { exitAtStart: 1 }],
    ["crashes", {}],
  ])("of a replica of a damaged image that %s both are told", async (_, how) => {
    const imageDamage = async () => '"source/handler.py" is gone';
    const { platform, makeImage } = await openProcessPlatform({ imageDamage, timing: { backOffMinMs: 60_000 } });
    const spec = specOf(await makeImage(how));
    await platform.apply(spec, 1);
    if (!("exitAtStart" in how)) {
      await untilCurrent(platform, spec.workload);
      await call(platform.acquire(spec.workload)!, "/exit?code=1").catch(() => undefined);
    }
    // A file that the code itself removed hides nothing of what it did else.
    const state = await untilState(
      platform,
      spec.workload,
      (now) => now?.failure?.message.includes("exit code 1") === true && now.failure.reason === "ImageDamaged",
    );
    expect(state?.failure?.message).toMatch(/^Its image on this machine is damaged: "source\/handler.py" is gone\. /);
  });

  it("of a job of a damaged image that fails both are told", async () => {
    const imageDamage = async () => '"source/handler.py" is gone';
    const { platform, makeImage } = await openProcessPlatform({ imageDamage });
    const run = { spec: jobOf(await makeImage({ exitAtStart: 3 })), runID: 1, eventJSON: undefined };
    const state = await eventually(
      "its end",
      () => platform.runJob(run),
      ({ phase }) => phase !== "running",
    );
    expect(state).toMatchObject({ phase: "failed" });
    const { message } = state as { message: string };
    expect(message).toMatch(/^ImageDamaged: Its image on this machine is damaged: "source\/handler.py" is gone\. /);
    expect(message).toContain("It ended with exit code 3.");
  });

  it.each(["", "{"])(
    "a run of whose record a power cut left %j is told as interrupted, and not run again",
    async (left) => {
      const { platform, makeImage, folder } = await openProcessPlatform();
      const run = { spec: jobOf(await makeImage()), runID: 1, eventJSON: undefined };
      const records = join(folder, "platform/jobs/demo/FunctionJob-report");
      await mkdir(records, { recursive: true });
      await writeFile(join(records, "1.json"), left);
      expect(await platform.runJob(run)).toMatchObject({
        phase: "failed",
        jobName: "report-1",
        message: expect.stringContaining("Raise spec.runID to run it again."),
      });
      expect(await platform.runJob(run)).toMatchObject({ phase: "failed" });
      expect(await logText(platform, run.spec.workload)).toBe("");
    },
  );

  it("a replica that never becomes ready is killed at the deadline, and says so", async () => {
    const timing = { startDeadlineMs: 300, backOffMinMs: 60_000 };
    const { platform, makeImage, folder } = await openProcessPlatform({ timing });
    const spec = specOf(await makeImage({ silent: true }));
    await platform.apply(spec, 1);
    const state = await untilState(platform, spec.workload, (now) => now?.failure !== undefined);
    expect(state?.failure?.message).toContain("not ready within 0.3 s");
    // A file tells the life of the server; one more would be a process.
    const left = async () => (await readdir(join(folder, "processes"))).filter((name) => /^\d+$/.test(name));
    await eventually("no process is left", left, ({ length }) => length === 0);
  });

  it("crashes back off further and further, and a healthy answer clears the failure", async () => {
    const { platform, makeImage } = await openProcessPlatform({ timing: { backOffMinMs: 50, backOffMaxMs: 400 } });
    const spec = specOf(await makeImage({ exitAtStart: 1 }));
    const begun = performance.now();
    await platform.apply(spec, 1);
    const starts = async () => (await logText(platform, spec.workload)).match(/starting/g)?.length ?? 0;
    await eventually("four starts", starts, (count) => count >= 4);
    expect(performance.now() - begun).toBeGreaterThan(50 + 100 + 200);
    await platform.apply({ ...spec, imageRef: await makeImage() }, 1);
    expect(await untilCurrent(platform, spec.workload)).not.toHaveProperty("failure");
  });

  it("a replica that a call blocked is replaced at once, without being called a crash", async () => {
    const timing = { backOffMinMs: 60_000 };
    const { platform, makeImage } = await openProcessPlatform({ timing });
    const spec = specOf(await makeImage());
    await platform.apply(spec, 1);
    await untilCurrent(platform, spec.workload);
    const { pid } = await answerOf(platform, spec.workload);
    await call(platform.acquire(spec.workload)!, "/slow?ms=500");
    await call(platform.acquire(spec.workload)!, "/exit?code=75").catch(() => undefined);
    // While it dies, the old one may still be asked.
    const isNew = async () => {
      if (!platform.acquire(spec.workload)) return false;
      return answerOf(platform, spec.workload).then(
        (answer) => answer.pid !== pid,
        () => false,
      );
    };
    await eventually("a new replica answers", isNew, (is) => is);
    expect(await platform.state(spec.workload)).not.toHaveProperty("failure");
  });

  it("a draining replica is forced when a call outlasts its limit", async () => {
    const timing = { drainMarginMs: 100, killAfterMs: 200 };
    const { platform, makeImage } = await openProcessPlatform({ timing });
    const spec = specOf(await makeImage({ ignoreTerm: true }), { timeoutSec: 1 });
    await platform.apply(spec, 1);
    await untilCurrent(platform, spec.workload);
    const slow = call(platform.acquire(spec.workload)!, "/slow?ms=60000");
    const cut = expect(slow).rejects.toThrow("fetch failed");
    await platform.apply(spec, 0);
    await cut;
  });

  it("a flood of output is kept within bounds, on disk and in memory", async () => {
    const { platform, makeImage, folder } = await openProcessPlatform();
    const spec = specOf(await makeImage());
    await platform.apply(spec, 1);
    await untilCurrent(platform, spec.workload);
    const mostHeld = watchHeldBytes();
    await call(platform.acquire(spec.workload)!, "/flood?mb=40");
    expect(mostHeld()).toBeLessThan(20 * 1024 * 1024);
    const logs = join(folder, "platform", "logs", "demo");
    // The answer may overtake what was written before it.
    const sizesNow = async () =>
      Promise.all((await readdir(logs)).map(async (name) => (await stat(join(logs, name))).size));
    const sizes = await eventually(
      "the older half is beside",
      () => sizesNow().catch(() => []), // it is about to be put there
      (seen) => seen.length === 2,
    );
    for (const size of sizes) expect(size).toBeLessThanOrEqual(5 * 1024 * 1024);
  });

  it("logs are followed while they are written, until the signal aborts", async () => {
    const { platform, makeImage } = await openProcessPlatform();
    const spec = specOf(await makeImage({ print: "hello from below" }));
    const stop = new AbortController();
    let text = "";
    const following = (async () => {
      for await (const chunk of platform.logs(spec.workload, { follow: true, signal: stop.signal }))
        text += Buffer.from(chunk);
    })();
    await platform.apply(spec, 1);
    await eventually(
      "the line comes",
      () => text,
      (seen) => seen.includes("hello from below"),
    );
    stop.abort();
    await following;
  });

  it.each([
    { kind: "Function", namespace: "../..", name: "x" },
    { kind: "Function", namespace: "demo", name: "../x" },
    { kind: "Service", namespace: "a/b", name: "x" },
  ] as const)("refuses $namespace/$name, which no object can be called", async (workload) => {
    const { platform } = await openProcessPlatform();
    await expect(platform.remove(workload)).rejects.toMatchObject({ code: "invalid_request" });
    await expect(platform.state(workload)).rejects.toMatchObject({ code: "invalid_request" });
    await expect(platform.apply(specOf("x", { workload }), 1)).rejects.toMatchObject({ code: "invalid_request" });
  });

  it("closing leaves no process, though replicas ignore SIGTERM and calls are in flight", async () => {
    const { platform, makeImage, folder, close } = await openProcessPlatform({ timing: { killAfterMs: 200 } });
    const spec = specOf(await makeImage({ ignoreTerm: true }));
    await platform.apply(spec, 2);
    await untilCurrent(platform, spec.workload);
    const slow = call(platform.acquire(spec.workload)!, "/slow?ms=60000").catch(() => "ended");
    await close();
    expect(await slow).toBe("ended");
    expect(await readdir(join(folder, "processes"))).toEqual([]);
  });
});

describe("after the server ended", () => {
  it.each(["SIGKILL", "SIGTERM"] as const)("by %s no replica and no job lives", async (signal) => {
    const folder = await temporaryFolder();
    await killedParent(folder, signal);
    await eventually(
      "all are gone",
      () => processesOf(folder),
      (pids) => pids.length === 0,
    );
  });

  it("a job that ran is failed as interrupted, and is not run again", async () => {
    const folder = await temporaryFolder();
    await killedParent(folder, "SIGKILL");
    const { platform, makeImage } = await openProcessPlatform({ folder });
    const run = { spec: jobOf(await makeImage()), runID: 1, eventJSON: undefined };
    expect(await platform.list()).toContainEqual(run.spec.workload);
    expect(await untilDone(platform, run)).toMatchObject({
      phase: "failed",
      message: expect.stringMatching(/^Interrupted: /),
    });
    expect((await logText(platform, run.spec.workload)).match(/job runs/g)).toHaveLength(1);
    await platform.runJob({ ...run, runID: 2 });
    expect(await untilDone(platform, { ...run, runID: 2 })).toMatchObject({ phase: "succeeded" });
  });

  it("a job that ended is told as it ended, and is not run again", async () => {
    const first = await openProcessPlatform();
    const run = { spec: jobOf(await first.makeImage({ result: "42" })), runID: 7, eventJSON: "{}" };
    await first.platform.runJob(run);
    const done = await untilDone(first.platform, run);
    await first.close();
    const second = await openProcessPlatform({ folder: first.folder });
    expect(await second.platform.runJob(run)).toEqual(done);
    expect(done).toMatchObject({ message: "42" });
  });

  it("what was kept of a workload is listed, and goes with it", async () => {
    const folder = await temporaryFolder();
    await killedParent(folder, "SIGKILL");
    const { platform } = await openProcessPlatform({ folder });
    const kept = await platform.list();
    expect(kept.map(({ kind }) => kind).sort()).toEqual(["Function", "FunctionJob"]);
    for (const workload of kept) {
      expect(await platform.state(workload)).toBeDefined();
      await platform.remove(workload);
    }
    expect(await platform.list()).toEqual([]);
  });
});

/** Starts a server of two replicas and a job, and ends it by a signal. */
async function killedParent(folder: string, signal: NodeJS.Signals): Promise<void> {
  const script = fileURLToPath(new URL("platform-parent.ts", import.meta.url));
  const parent = spawn(process.execPath, [script, folder], { stdio: ["ignore", "pipe", "inherit"] });
  const { exited, output, says } = watchChild(parent);
  await says("serving\n");
  expect(output()).toBe("serving\n");
  await eventually(
    "all three are there",
    () => processesOf(folder),
    ({ length }) => length === 3,
  );
  parent.kill(signal);
  await exited();
}

/** Recorded processes that live. */
async function processesOf(folder: string): Promise<number[]> {
  const recorded = new Set((await readdir(join(folder, "processes"))).map(Number));
  return processesWith("server.mjs").filter((pid) => recorded.has(pid));
}
