import { expect, it } from "vitest";
import type { JobRun, WorkloadSpec } from "../../../src/platform/index.ts";
import { jobOf, logText, untilDone } from "../../contract/platform.ts";
import { eventually } from "../../support/eventually.ts";
import { describeOnCluster } from "../../support/kubernetes/index.ts";
import { resultCopy } from "../../support/result-copy.ts";
import { type PlatformWorld, platformOnCluster } from "./platform-on-cluster.ts";

const image = (words = "fine") => `registry.local/${words}@sha256:${"a".repeat(64)}`;
const runIn = ({ namespace }: PlatformWorld, more: Partial<WorkloadSpec> = {}, runID = 1): JobRun => ({
  spec: jobOf(image(), { workload: { kind: "FunctionJob", namespace, name: "report" }, ...more }),
  runID,
  eventJSON: '{"day":1}',
});

/** What a runtime leaves in the status of its pod of a result that has so many bytes. */
function cutResult(bytes: number): string {
  const mark = `… (truncated, ${bytes} bytes in all; see the log)`;
  return "0123456789".repeat(1_000).slice(0, 4_096 - Buffer.byteLength(mark)) + mark;
}

describeOnCluster("runs of jobs", (cluster) => {
  it("run once per run ID, also over a restart, and tell the result; their input does not outlive them", async () => {
    const world = await platformOnCluster(cluster());
    const run = runIn(world, { env: { TEST_RESULT: '{"rows":3}' } });
    const told: string[] = [];
    world.platform.onChange(({ namespace, name }) => void (namespace === world.namespace && told.push(name)));
    const [first, second] = await Promise.all([world.platform.runJob(run), world.platform.runJob(run)]);
    expect(first).toMatchObject({ phase: "running", jobName: "report-1" });
    expect(second).toMatchObject({ jobName: "report-1" });
    const done = await untilDone(world.platform, run);
    expect(done).toMatchObject({ phase: "succeeded", message: '{"rows":3}' });
    expect(told).toContain("report");
    const restarted = await world.restart();
    expect(await restarted.platform.runJob(run)).toEqual(done);
    expect(await world.list("jobs")).toHaveLength(1);
    expect(await world.list("pods")).toHaveLength(1);
    await eventually(
      "its input is gone",
      () => world.get("secrets", "report-1-input"),
      (seen) => seen === undefined,
    );
    await untilDone(restarted.platform, { ...run, runID: 2 });
    expect((await world.list("jobs")).map(({ metadata }) => metadata.name)).toEqual(["report-1", "report-2"]);
  });

  it("a result that its status holds only the beginning of is read from the log, by whoever asks", async () => {
    const world = await platformOnCluster(cluster());
    const result = "0123456789".repeat(1_000);
    const run = runIn(world, { env: { TEST_RESULT: cutResult(10_000) } });
    await world.cluster.appendPodLog(world.deployNamespace, "report-1", `${result}\n${resultCopy(result)}`);
    await world.platform.runJob(run);
    const done = await untilDone(world.platform, run);
    expect(done).toMatchObject({ phase: "succeeded", message: result });
    expect(await logText(world.platform, run.spec.workload, 1)).toMatch(/ 0123456789[0-9]+\n$/);
    expect(await logText(world.platform, run.spec.workload)).not.toContain("sless-result");
    const restarted = await world.restart();
    expect(await untilDone(restarted.platform, run)).toEqual(done);
  });

  it("a run whose result its log does not hold ends with what there is, and says why", async () => {
    const world = await platformOnCluster(cluster());
    const run = runIn(world, { env: { TEST_RESULT: cutResult(10_000) } });
    await world.platform.runJob(run);
    expect(await untilDone(world.platform, run)).toMatchObject({
      phase: "succeeded",
      message: expect.stringMatching(
        /^0123[0-9]+… \(truncated, 10000 bytes .*\)\n\(The rest could not be read from the log: it does not hold/,
      ),
    });
  });

  it("a run ID that is raised without end makes ten Jobs and no more, and goes on when one of them ends", async () => {
    const world = await platformOnCluster(cluster());
    const at = (runID: number) => runIn(world, { imageRef: image("unready") }, runID);
    for (let runID = 1; runID <= 10; runID += 1) await world.platform.runJob(at(runID));
    for (let runID = 11; runID <= 30; runID += 1)
      await expect(world.platform.runJob(at(runID))).rejects.toMatchObject({ code: "runs_busy" });
    const names = async () => (await world.list("jobs")).map(({ metadata }) => metadata.name);
    expect(await names()).toHaveLength(10);
    expect(await world.list("secrets", "sless.kube5s.ru/name=report")).toHaveLength(10);
    await world.cluster.request(
      "DELETE",
      `/apis/batch/v1/namespaces/${world.deployNamespace}/jobs/report-3?propagationPolicy=Background`,
    );
    await eventually(
      "the last one begins",
      () => world.platform.runJob(at(30)).catch(() => undefined),
      (state) => state?.phase === "running",
    );
    expect(await names()).not.toContain("report-3");
    expect(await names()).toContain("report-30");
    const inputs = async () =>
      (await world.list("secrets", "sless.kube5s.ru/name=report")).map((each) => each.metadata.name);
    await eventually("what the run read that is no more is gone", inputs, (seen) => !seen.includes("report-3-input"));
  });

  it("of runs that ended the last ten are kept, and what none of them reads any more", async () => {
    const world = await platformOnCluster(cluster());
    for (let runID = 1; runID <= 12; runID += 1) await untilDone(world.platform, runIn(world, {}, runID));
    const names = async () => (await world.list("jobs")).map(({ metadata }) => metadata.name).sort();
    const kept = [10, 11, 12, 3, 4, 5, 6, 7, 8, 9].map((runID) => `report-${runID}`);
    await eventually("the first ones are gone", names, (seen) => JSON.stringify(seen) === JSON.stringify(kept));
    const inputs = () => world.list("secrets", "sless.kube5s.ru/name=report");
    await eventually("no input is left", inputs, (seen) => seen.length === 0);
  });

  it("a run that another process began is adopted", async () => {
    const world = await platformOnCluster(cluster());
    const other = await world.restart();
    const run = runIn(world, { imageRef: image("unready") });
    const states = await Promise.all([world.platform.runJob(run), other.platform.runJob(run)]);
    expect(states.map(({ phase }) => phase)).toEqual(["running", "running"]);
    expect(await world.list("jobs")).toHaveLength(1);
  });

  it("a run that fails tells its exit code and last words", async () => {
    const world = await platformOnCluster(cluster());
    const run = runIn(world, { imageRef: image("failing"), env: { TEST_RESULT: "it hurts" } });
    await world.platform.runJob(run);
    expect(await untilDone(world.platform, run)).toMatchObject({
      phase: "failed",
      message: "Failed: It ended with exit code 1.\nit hurts",
    });
  });

  it("a run whose Job somebody deleted is told as failed, and not begun again", async () => {
    const world = await platformOnCluster(cluster());
    const run = runIn(world, { imageRef: image("unready") });
    await world.platform.runJob(run);
    await world.cluster.request(
      "DELETE",
      `/apis/batch/v1/namespaces/${world.deployNamespace}/jobs/report-1?propagationPolicy=Background`,
    );
    expect(await untilDone(world.platform, run)).toMatchObject({
      phase: "failed",
      jobName: "report-1",
      message: expect.stringMatching(/^Interrupted: Its Job was deleted/),
    });
    expect(await world.list("jobs")).toEqual([]);
  });

  it("a run whose pod somebody deleted failed", async () => {
    const world = await platformOnCluster(cluster());
    const run = runIn(world, { imageRef: image("unready") });
    await world.platform.runJob(run);
    const [pod] = await eventually(
      "its pod is there",
      () => world.list("pods"),
      (pods) => pods.length === 1,
    );
    await world.drop("pods", pod.metadata.name);
    expect(await untilDone(world.platform, run)).toMatchObject({ phase: "failed" });
    expect(await world.list("jobs")).toHaveLength(1);
  });

  it("a run that takes too long to begin tells what it waited for", async () => {
    const world = await platformOnCluster(cluster(), { settings: { jobStartSec: -3 } });
    const run = runIn(world, { imageRef: image("missing"), timeoutSec: 3 });
    await world.platform.runJob(run);
    const seen = () => world.platform.runJob(run);
    const state = await eventually("it is over", seen, ({ phase }) => phase !== "running");
    expect(state).toMatchObject({
      phase: "failed",
      message: expect.stringMatching(/^TimedOut: .*\n.*cannot be pulled/),
    });
  });

  it("a run that wants a secret that is not there fails with the reason, and no Job is made", async () => {
    const world = await platformOnCluster(cluster());
    const run = runIn(world, { secretEnv: { T: { secret: "api", key: "none" } } });
    expect(await world.platform.runJob(run)).toMatchObject({
      phase: "failed",
      message: expect.stringMatching(/^SecretMissing: /),
    });
    expect(await world.list("jobs")).toEqual([]);
  });

  it("its event is a file, its secrets are variables, and neither stands in the Job", async () => {
    const world = await platformOnCluster(cluster());
    await world.secret("api", { token: "t0ken" });
    const secretEnv = { TOKEN: { secret: "api", key: "token" } };
    const run = runIn(world, { imageRef: image("unready"), secretEnv });
    await eventually(
      "the secret is seen",
      () => world.platform.runJob(run),
      ({ phase }) => phase === "running",
    );
    const { data } = await world.get("secrets", "report-1-input");
    expect(Buffer.from(data["event.json"], "base64").toString()).toBe('{"day":1}');
    expect(Buffer.from(data.TOKEN, "base64").toString()).toBe("t0ken");
    expect(JSON.stringify(await world.get("jobs", "report-1"))).not.toMatch(/t0ken|monday/);
  });

  it("removing a job ends its runs, and all that was kept of them", async () => {
    const world = await platformOnCluster(cluster());
    const run = runIn(world, { imageRef: image("unready") });
    await world.platform.runJob(run);
    await world.platform.remove(run.spec.workload);
    expect(await world.platform.state(run.spec.workload)).toBeUndefined();
    const left = async () =>
      (
        await Promise.all(["jobs", "pods", "secrets"].map((kind) => world.list(kind, "sless.kube5s.ru/name=report")))
      ).flat();
    await eventually("nothing is left", left, (objects) => objects.length === 0);
    expect(await world.platform.runJob(run)).toMatchObject({ phase: "running" });
  });
});
