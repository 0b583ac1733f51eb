import { afterAll, beforeAll, expect, it } from "vitest";
import type { ImageJobRequest, ImageJobState, ImageJobs } from "../../../src/build/index.ts";
import { SlessError } from "../../../src/errors/index.ts";
import { buildLog, requestOf, untilBuilt, untilFailed } from "../../contract/builder.ts";
import { eventually } from "../../support/eventually.ts";
import { describeWithServers } from "../../support/kubernetes/index.ts";
import { manualClock } from "../../support/manual-clock.ts";
import { type ImageBuilderTest, openImageBuilder } from "../../support/open-image-builder.ts";
import { openRegistryServer, type RegistryServer } from "../../support/registry-server.ts";

const WITH_DEPS = { "handler.txt": "x", "deps.txt": "a" };

interface ScriptedJobs extends ImageJobs {
  readonly requests: ImageJobRequest[];
  readonly cancelled: string[];
}

/** Jobs that are in the state that a test says. */
function scriptedJobs(answer: (request: ImageJobRequest) => ImageJobState): ScriptedJobs {
  const requests: ImageJobRequest[] = [];
  const cancelled: string[] = [];
  const listeners = new Set<(key: string) => void>();
  return {
    requests,
    cancelled,
    async ensure(request) {
      requests.push(request);
      return answer(request);
    },
    async cancel(key) {
      cancelled.push(key);
    },
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async *logs() {
      yield Buffer.from("output of the job\n");
    },
  };
}

describeWithServers("what a builder of images asks of its jobs", () => {
  let server: RegistryServer;
  beforeAll(async () => {
    server = await openRegistryServer();
  });
  afterAll(() => server?.close());

  const building = (step: string): ImageJobState => ({ phase: "building", startedAt: new Date(0), step });
  const failed = (more: object, failedAt: Date): ImageJobState => ({
    phase: "failed",
    by: "builder",
    reason: "OutOfMemory",
    message: "It was ended because it used more than 1 GiB. Set BUILD_MEMORY higher.",
    tail: "last line",
    failedAt,
    ...more,
  });

  it("without jobs a source that needs a build fails and says why and what to do; others are built", async () => {
    const test = await openImageBuilder(server.host, { jobs: undefined });
    const state = await untilFailed(test, await requestOf(test, WITH_DEPS));
    expect(state).toMatchObject({
      reason: "BuilderMissing",
      message: expect.stringMatching(/the dependencies of deps\.txt are installed once.*BUILDER_IMAGE/),
    });
    await untilBuilt(test, await requestOf(test, { "handler.txt": "x" }));
  });

  it("tells what a job does, and why there is one", async () => {
    const jobs = scriptedJobs(() => building("waiting for a node"));
    const test = await openImageBuilder(server.host, { jobs });
    const request = await requestOf(test, WITH_DEPS);
    await eventually(
      "the step is told",
      () => test.builder.ensure(request),
      (state) =>
        state.phase === "building" && state.step.startsWith("waiting for a node (the dependencies of deps.txt"),
    );
  });

  it("hands over the base by digest, the files and a place of its own", async () => {
    const jobs = scriptedJobs(() => building("begun"));
    const test = await openImageBuilder(server.host, { jobs });
    await test.builder.ensure(await requestOf(test, WITH_DEPS));
    const [request] = await eventually(
      "a job is asked for",
      async () => jobs.requests,
      (all) => all.length > 0,
    );
    expect(request).toMatchObject({
      key: expect.stringMatching(/^[0-9a-f]{64}$/),
      target: { repository: `${test.prefix}sless-deps`, tag: request!.key },
      workload: { kind: "Function", namespace: "demo", name: "hello" },
      dockerfile: expect.stringMatching(new RegExp(`^FROM ${server.host}/${test.prefix}base@sha256:[0-9a-f]{64}\n`)),
    });
    const paths: string[] = [];
    for await (const { path } of request!.files()) paths.push(path);
    expect(paths).toEqual(["deps/deps.txt"]);
  });

  it("a builder that fails is told by its own reason, with its last lines", async () => {
    const clock = manualClock();
    const jobs = scriptedJobs(() => failed({}, clock.now()));
    const test = await openImageBuilder(server.host, { jobs, clock });
    expect(await untilFailed(test, await requestOf(test, WITH_DEPS))).toMatchObject({
      reason: "OutOfMemory",
      message: expect.stringMatching(/used more than 1 GiB\. Set BUILD_MEMORY higher\..*\nlast line$/),
    });
  });

  it("a job that could not be asked for is a failure of its own", async () => {
    const cause = "the API server does not answer";
    const jobs = scriptedJobs(() => {
      throw new SlessError("storage_unavailable", { what: "The object store", cause });
    });
    const test = await openImageBuilder(server.host, { jobs });
    expect(await untilFailed(test, await requestOf(test, WITH_DEPS))).toMatchObject({
      reason: "StorageUnavailable",
      message: expect.stringContaining(cause),
    });
  });

  it("a build that failed before a restart is not begun anew at once, but when its time has come", async () => {
    const clock = manualClock();
    const failedAt = clock.now();
    const jobs = scriptedJobs(() => failed({ by: "command", message: "sh ended with exit code 1" }, failedAt));
    const test = await openImageBuilder(server.host, { jobs, clock });
    const request = await requestOf(test, WITH_DEPS);
    await untilFailed(test, request);
    const later = await test.reopen({ jobs, clock });
    const { retryAt } = await untilFailed(later, request);
    expect(jobs.requests.filter(({ retryBefore }) => retryBefore)).toEqual([]);
    clock.advance(retryAt.getTime() - clock.now().getTime());
    await later.builder.ensure(request);
    await eventually(
      "it is tried again",
      async () => jobs.requests.filter(({ retryBefore }) => retryBefore),
      (all) => all.length === 1,
    );
  });

  it("a job that nobody wants any more is cancelled, also when its workload wants something else", async () => {
    const jobs = scriptedJobs(() => building("begun"));
    const test = await openImageBuilder(server.host, { jobs });
    const begun = (count: number) =>
      eventually(
        "jobs",
        async () => jobs.requests,
        (all) => all.length >= count,
      );
    const request = await requestOf(test, WITH_DEPS);
    await test.builder.ensure(request);
    await begun(1);
    await test.builder.ensure(await requestOf(test, { ...WITH_DEPS, "deps.txt": "b" }));
    await begun(2);
    await eventually(
      "the first is cancelled",
      async () => jobs.cancelled,
      (all) => all.length === 1,
    );
    await test.builder.cancel(request.workload);
    expect(jobs.cancelled).toEqual(jobs.requests.map(({ key }) => key));
  });

  it("a shutdown leaves jobs to whoever comes next", async () => {
    const jobs = scriptedJobs(() => building("begun"));
    const test = await openImageBuilder(server.host, { jobs });
    await test.builder.ensure(await requestOf(test, WITH_DEPS));
    await eventually(
      "a job is asked for",
      async () => jobs.requests,
      (all) => all.length > 0,
    );
    await test.builder.close();
    expect(jobs.cancelled).toEqual([]);
    await expect(test.builder.ensure(await requestOf(test, WITH_DEPS))).rejects.toThrow("shutting down");
  });

  it("a job whose news got lost is asked for again after a while", async () => {
    const clock = manualClock();
    const jobs = scriptedJobs(() => building("begun"));
    const test = await openImageBuilder(server.host, { jobs, clock });
    await test.builder.ensure(await requestOf(test, WITH_DEPS));
    await eventually(
      "a job is asked for",
      async () => clock.timers().includes(30_000),
      (isWaiting) => isWaiting,
    );
    clock.advance(30_000);
    await eventually(
      "it is asked for again",
      async () => jobs.requests,
      (all) => all.length === 2,
    );
  });

  it("the log of an ended build can be read by another process, the last few are kept", async () => {
    const test = await openImageBuilder(server.host);
    const request = await requestOf(test, { "handler.txt": "x", "deps.txt": "a" });
    await untilBuilt(test, request);
    for (const text of ["1", "2", "3", "4"]) await untilBuilt(test, await requestOf(test, { "handler.txt": text }));
    await untilFailed(test, await requestOf(test, { "handler.txt": "x", "deps.txt": "fail" }));
    await test.builder.close();
    const other = await test.reopen();
    const log = await buildLog(other, request.workload, true);
    expect(log).toMatch(/installing fail\n[\s\S]*sless: Installing the dependencies failed/);
    expect(log).not.toContain("user:secret");
    const kept: string[] = [];
    for await (const key of test.objects.list("builds/functions/demo/hello/")) kept.push(key);
    expect(kept).toHaveLength(3);
    expect(await buildLog(other, { ...request.workload, name: "never" }, true)).toBe("");
  });

  it("whoever leads again tells of the build that another one made meanwhile", async () => {
    const clock = manualClock();
    const first = await openImageBuilder(server.host, { clock });
    const second = await first.reopen({ clock });
    const logAfter = async (test: ImageBuilderTest, text: string) => {
      clock.advance(60_000);
      const request = await requestOf(first, { "handler.txt": text, "deps.txt": text });
      await untilBuilt(test, request);
      return () => buildLog(first, request.workload, false);
    };
    expect(await (await logAfter(first, "a"))()).toContain("installing a");
    const log = await logAfter(second, "b");
    await eventually("the later one is told", log, (text) => text.includes("installing b"));
    expect(await log()).not.toContain("installing a");
    expect(await (await logAfter(first, "c"))()).toContain("installing c");
  });

  it("commands are not given addresses with credentials", async () => {
    const jobs = scriptedJobs(() => building("begun"));
    const addresses = {
      PIP_INDEX_URL: "https://user:hushhush@pypi.test/simple",
      HTTPS_PROXY: "http://proxy.test:3128",
    };
    const test = await openImageBuilder(server.host, { jobs, addresses });
    await test.builder.ensure(await requestOf(test, WITH_DEPS));
    const [request] = await eventually(
      "a job is asked for",
      async () => jobs.requests,
      (all) => all.length > 0,
    );
    expect(request!.dockerfile).toContain("HTTPS_PROXY=http://proxy.test:3128");
    expect(request!.dockerfile).not.toContain("hushhush");
    expect(test.notices).toEqual([expect.stringContaining("PIP_INDEX_URL holds credentials")]);
    expect(test.notices[0]).not.toContain("hushhush");
  });

  it("another entry point of the same image is checked too", async () => {
    const test = await openImageBuilder(server.host);
    const files = { "handler.txt": "x", "second.txt": "y" };
    const { imageRef } = await untilBuilt(test, await requestOf(test, files));
    const wrong = await requestOf(test, files, { entrypoint: "third.handle" });
    expect(await untilFailed(test, wrong)).toMatchObject({ reason: "SourceMissing" });
    expect(await untilBuilt(test, await requestOf(test, files, { entrypoint: "second.handle" }))).toMatchObject({
      imageRef,
    });
    expect(await untilBuilt(test, await requestOf(test, files))).toMatchObject({ imageRef });
  });
});
