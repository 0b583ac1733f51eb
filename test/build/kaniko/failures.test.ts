import { randomBytes } from "node:crypto";
import { expect, it } from "vitest";
import type { ImageJobState } from "../../../src/build/index.ts";
import { buildJobName } from "../../../src/build/kaniko/index.ts";
import { eventually } from "../../support/eventually.ts";
import { describeOnCluster } from "../../support/kubernetes/index.ts";
import { type BuildWorld, buildOf, jobsOnCluster } from "./jobs-on-cluster.ts";

const unique = () => randomBytes(8).toString("hex");
/** Pods run and never end. */
const ENDLESS = { image: "sless:unready" };

const says = (part: string) => (state: ImageJobState) => state.phase === "building" && state.step.includes(part);

/** As a kubelet tells of a container that ended. */
function ended(name: string, exitCode: number, rest: object = {}) {
  const terminated = { exitCode, startedAt: null, finishedAt: null, ...rest };
  return {
    name,
    state: { running: null, waiting: null, terminated },
    ready: false,
    restartCount: 0,
    image: "",
    imageID: "",
  };
}

/** The pod fails as its `build` container does. */
async function failBuild(world: BuildWorld, key: string, container: object): Promise<void> {
  await world.setPod(key, { phase: "Failed", initContainerStatuses: [container] });
}

/** Its time is over now, however long it took to come so far. */
async function passTime({ cluster, namespace }: BuildWorld, key: string): Promise<void> {
  const path = `/apis/batch/v1/namespaces/${namespace}/jobs/${buildJobName(key)}`;
  const body = { spec: { activeDeadlineSeconds: 1 } };
  const { status } = await cluster.request("PATCH", path, { body, contentType: "application/merge-patch+json" });
  expect(status).toBe(200);
}

describeOnCluster("a build that fails", (cluster) => {
  it("because a command failed tells its exit code and its last lines, without credentials", async () => {
    const world = await jobsOnCluster(cluster(), ENDLESS);
    const build = buildOf(unique());
    await world.until(build, says("pushing"));
    const log = [
      'INFO[0001] RUN ["/bin/sh","-c","\\"$@\\"","sh","env","HOME=/tmp","python3","-m","pip","install","-r","requirements.txt"]',
      "Looking in indexes: https://ada:secret@pypi.example.org/simple",
      "ERROR: No matching distribution found for nosuchthing",
      "error building image: error building stage: failed to execute command: waiting for process to exit: exit status 1",
    ];
    await cluster().appendPodLog(world.namespace, buildJobName(build.key), log.map((line) => `${line}\n`).join(""));
    await failBuild(world, build.key, ended("build", 1, { message: log.at(-1) }));
    expect(await world.until(build, "failed")).toMatchObject({
      by: "command",
      message: "pip ended with exit code 1",
      tail: [
        "Looking in indexes: https://***@pypi.example.org/simple",
        "ERROR: No matching distribution found for nosuchthing",
      ].join("\n"),
    });
  });

  it("because its memory was not enough tells the limit", async () => {
    const world = await jobsOnCluster(cluster(), ENDLESS);
    const build = buildOf(unique());
    await world.until(build, says("pushing"));
    await failBuild(world, build.key, ended("build", 137, { reason: "OOMKilled" }));
    const failed = await world.until(build, "failed");
    expect(failed).toMatchObject({ by: "builder", reason: "OutOfMemory" });
    expect(failed).toMatchObject({ message: expect.stringContaining("more memory than its 2048 MiB") });
  });

  it("because its disk was not enough tells the limit", async () => {
    const world = await jobsOnCluster(cluster(), ENDLESS);
    const build = buildOf(unique());
    await world.until(build, says("pushing"));
    const message = 'Usage of EmptyDir volume "out" exceeds the limit "10Gi". ';
    await world.setPod(build.key, { phase: "Failed", reason: "Evicted", message });
    const failed = await world.until(build, "failed");
    expect(failed).toMatchObject({ by: "builder", reason: "DiskFull" });
    expect(failed).toMatchObject({ message: expect.stringContaining('volume "out" exceeds the limit "10Gi"') });
  });

  it("because its node needed the room tells that", async () => {
    const world = await jobsOnCluster(cluster(), ENDLESS);
    const build = buildOf(unique());
    await world.until(build, says("pushing"));
    await world.setPod(build.key, {
      phase: "Failed",
      reason: "Evicted",
      message: "The node was low on resource: memory.",
    });
    expect(await world.until(build, "failed")).toMatchObject({ reason: "Evicted", by: "builder" });
  });

  it("because its files vanished tells what fetched them in vain", async () => {
    const world = await jobsOnCluster(cluster(), { ...ENDLESS, storeOrigin: "http://s3.example.org" });
    const build = buildOf(unique());
    await world.until(build, says("pushing"));
    const message =
      "error: The files of the build cannot be fetched: it is in the object store no more (404).\n  Check it.\n";
    await failBuild(world, build.key, ended("fetch", 2, { message }));
    const failed = await world.until(build, "failed");
    expect(failed).toMatchObject({ by: "builder", reason: "ContextUnavailable" });
    expect(failed).toMatchObject({ message: expect.stringContaining("it is in the object store no more (404)") });
  });

  it("because the registry did not answer tells its words", async () => {
    const world = await jobsOnCluster(cluster(), ENDLESS);
    const build = buildOf(unique());
    await world.until(build, says("pushing"));
    const message =
      "error: The image cannot be pushed to r/x:1: registry r did not answer: ECONNREFUSED.\n  Check it.\n";
    await world.setPod(build.key, { phase: "Failed", containerStatuses: [ended("push", 2, { message })] });
    const failed = await world.until(build, "failed");
    expect(failed).toMatchObject({ by: "builder", reason: "PushFailed" });
    expect(failed).toMatchObject({ message: expect.stringContaining("registry r did not answer: ECONNREFUSED") });
  });

  it("because its time is over tells what kept it: an image that cannot be pulled", async () => {
    const world = await jobsOnCluster(cluster(), { image: "sless:missing" });
    const build = buildOf(unique());
    await world.until(build, says("cannot be pulled: sless:missing"));
    await passTime(world, build.key);
    const failed = await world.until(build, "failed");
    expect(failed).toMatchObject({ by: "builder", reason: "ImagePullFailed" });
    expect(failed).toMatchObject({ message: expect.stringContaining("SLESS_IMAGE") });
  });

  it("because its time is over tells the limit, and the last lines that were heard", async () => {
    const world = await jobsOnCluster(cluster(), ENDLESS);
    const build = buildOf(unique());
    await cluster().appendPodLog(world.namespace, "build-", "INFO[0000] RUN npm ci\nstill waiting for a package\n");
    await world.until(build, says("pushing"));
    const running = {
      name: "build",
      state: { running: { startedAt: null } },
      ready: false,
      restartCount: 0,
      image: "",
      imageID: "",
    };
    await world.setPod(build.key, { initContainerStatuses: [running] });
    await world.until(build, says("running npm ci"));
    await passTime(world, build.key);
    const failed = await world.until(build, "failed");
    expect(failed).toMatchObject({ by: "builder", reason: "BuildTimedOut", tail: "still waiting for a package" });
    expect(failed).toMatchObject({ message: expect.stringContaining("longer than 1 s") });
  });
});

describeOnCluster("a build that does not begin", (cluster) => {
  it("because no node has room tells the scheduler's words after a while", async () => {
    const world = await jobsOnCluster(cluster(), { settings: { memoryRequestMB: 50_000_000, memoryMB: 50_000_000 } });
    const build = buildOf(unique());
    await world.until(build, says("waiting for a node"));
    expect(await world.until(build, says("no node takes the build's pod"))).toMatchObject({
      step: expect.stringContaining("Insufficient memory"),
    });
    expect(world.told.filter((key) => key === build.key).length).toBeGreaterThan(1);
  });

  it("because the quota leaves no room tells the quota's words, and begins when there is room", async () => {
    const world = await jobsOnCluster(cluster(), { settings: { quota: { "requests.memory": "100Mi" } } });
    const build = buildOf(unique());
    await world.until(build, says("exceeded quota"));
    const path = `/api/v1/namespaces/${world.namespace}/resourcequotas/sless-builds`;
    await cluster().request("DELETE", path);
    await world.until(build, "built");
  });

  it("because the namespace takes no more Jobs tells the quota's words as a failure", async () => {
    const world = await jobsOnCluster(cluster(), { settings: { quota: { "count/jobs.batch": "0" } } });
    const quotaIsKnown = () => world.get("resourcequotas", "sless-builds");
    await eventually("the quota counts", quotaIsKnown, (quota) => quota?.status?.used !== undefined);
    const build = buildOf(unique());
    const failed = await world.until(build, "failed");
    expect(failed).toMatchObject({ by: "builder", reason: "QuotaExceeded" });
    expect(failed).toMatchObject({ message: expect.stringContaining("exceeded quota: sless-builds") });
    expect(await world.jobs.ensure(build)).toEqual(failed);
    const retryBefore = new Date(Date.now() + 1);
    expect(await world.jobs.ensure({ ...build, retryBefore })).toMatchObject({ phase: "building" });
  });
});
