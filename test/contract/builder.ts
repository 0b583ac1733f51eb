import { expect, it } from "vitest";
import { sourceKey, type WorkloadRef } from "../../src/apis/index.ts";
import type { Builder, BuildRequest, BuildState } from "../../src/build/index.ts";
import type { Runtime } from "../../src/runtimes/index.ts";
import { type ArchiveFile, packArchive, sourceDigest, storedFile } from "../../src/source/index.ts";
import type { ObjectStore } from "../../src/storage/index.ts";
import { eventually } from "../support/eventually.ts";
import { within } from "../support/within.ts";

export interface BuilderUnderTest {
  readonly builder: Builder;
  readonly objects: ObjectStore;
  /** A runtime whose handlers are `.txt` files; `deps.txt` is installed: its text `fail` fails, `hang` hangs. */
  readonly runtime: Runtime;
  /** How often dependencies were installed so far. */
  installs(): Promise<number>;
}

/** What every Builder keeps; each test opens one that has built nothing. */
export function builderContract(open: () => Promise<BuilderUnderTest>): void {
  it("builds a source once, and has it from then on", async () => {
    const test = await open();
    const request = await requestOf(test, { "handler.txt": "one" });
    expect(await test.builder.ensure(request)).toMatchObject({ phase: "building", step: expect.any(String) });
    const built = await untilBuilt(test, request);
    expect(built.imageRef).toMatch(/^\S+sless-demo_hello\S*@sha256:[0-9a-f]{64}$/);
    expect(built.reused).toBe(false);
    expect(await test.builder.has(built.imageRef)).toBe(true);
    expect(await test.builder.ensure(request)).toEqual(built);
  });

  it("tells the listeners when a build ends, until they stop", async () => {
    const test = await open();
    const told: WorkloadRef[] = [];
    const stop = test.builder.onChange((workload) => told.push(workload));
    const request = await requestOf(test, { "handler.txt": "one" });
    await untilBuilt(test, request);
    await eventually(
      "it is told",
      () => told,
      ({ length }) => length > 0,
    );
    expect(told).toContainEqual(request.workload);
    stop();
    told.length = 0;
    await untilBuilt(test, await requestOf(test, { "handler.txt": "two" }));
    expect(told).toEqual([]);
  });

  it("a change of code alone installs nothing", async () => {
    const test = await open();
    await untilBuilt(test, await requestOf(test, { "handler.txt": "one", "deps.txt": "a" }));
    expect(await test.installs()).toBe(1);
    await untilBuilt(test, await requestOf(test, { "handler.txt": "two", "deps.txt": "a" }));
    expect(await test.installs()).toBe(1);
    await untilBuilt(test, await requestOf(test, { "handler.txt": "two", "deps.txt": "b" }));
    expect(await test.installs()).toBe(2);
  });

  it("workloads with equal dependencies share one installation, also at the same time", async () => {
    const test = await open();
    const names = ["a", "b", "c", "d"];
    const requests = await Promise.all(
      names.map((name) => requestOf(test, { "handler.txt": name, "deps.txt": "shared" }, { name })),
    );
    await Promise.all(requests.map((request) => untilBuilt(test, request)));
    expect(await test.installs()).toBe(1);
  });

  it("the same source of another workload is reused", async () => {
    const test = await open();
    await untilBuilt(test, await requestOf(test, { "handler.txt": "same" }));
    const built = await untilBuilt(test, await requestOf(test, { "handler.txt": "same" }, { name: "other" }));
    expect(built.reused).toBe(true);
    expect(built.imageRef).toContain("sless-demo_other");
  });

  it("a source without the handler file fails before anything is installed", async () => {
    const test = await open();
    const request = await requestOf(test, { "other.txt": "x", "deps.txt": "a" });
    const failed = await untilFailed(test, request);
    expect(failed).toMatchObject({ reason: "SourceMissing", message: expect.stringContaining("handler.txt") });
    expect(await test.installs()).toBe(0);
  });

  it("an entry point that is not there fails for its workload alone", async () => {
    const test = await open();
    const files = { "handler.txt": "x", "second.txt": "y" };
    const wrong = await requestOf(test, files, { name: "wrong", entrypoint: "third.handle" });
    const good = await requestOf(test, files, { name: "good", entrypoint: "second.handle" });
    await Promise.all([test.builder.ensure(wrong), test.builder.ensure(good)]);
    expect((await untilBuilt(test, good)).phase).toBe("built");
    expect(await untilFailed(test, wrong)).toMatchObject({ reason: "SourceMissing" });
  });

  it("a failed installation is told to all who share it, each with the last lines and its own name", async () => {
    const test = await open();
    const requests = await Promise.all(
      ["a", "b"].map((name) => requestOf(test, { "handler.txt": "x", "deps.txt": "fail" }, { name })),
    );
    for (const request of requests) {
      const failed = await untilFailed(test, request);
      expect(failed.reason).toBe("DependenciesFailed");
      expect(failed.message).toContain(`sless logs --build ${request.workload.name}`);
      expect(failed.message).toContain("no such dependency");
      expect(failed.retryAt.getTime()).toBeGreaterThan(failed.failedAt.getTime());
      expect(await test.builder.ensure(request)).toEqual(failed);
    }
  });

  it("a fixed source builds at once after a failure", async () => {
    const test = await open();
    await untilFailed(test, await requestOf(test, { "handler.txt": "x", "deps.txt": "fail" }));
    await untilBuilt(test, await requestOf(test, { "handler.txt": "x", "deps.txt": "good" }));
  });

  it("a source archive that is not there is a failure that says so", async () => {
    const test = await open();
    const request = await requestOf(test, { "handler.txt": "x" });
    await test.objects.delete(request.sourceKey);
    expect(await untilFailed(test, request)).toMatchObject({
      reason: "SourceUnavailable",
      message: expect.stringContaining(request.sourceKey),
    });
  });

  it("a build that is cancelled, or whose workload wants another one, holds up nobody", async () => {
    const test = await open();
    const hanging = await requestOf(test, { "handler.txt": "x", "deps.txt": "hang" });
    await untilInstalling(test, hanging);
    await untilBuilt(test, await requestOf(test, { "handler.txt": "x", "deps.txt": "a" }));
    await untilInstalling(test, hanging);
    await test.builder.cancel(hanging.workload);
    await untilBuilt(test, await requestOf(test, { "handler.txt": "y", "deps.txt": "a" }));
  });

  it("cancelling for one workload leaves the build to the others", async () => {
    const test = await open();
    const files = { "handler.txt": "x", "deps.txt": "slow" };
    const one = await requestOf(test, files, { name: "one" });
    const two = await requestOf(test, files, { name: "two" });
    await Promise.all([test.builder.ensure(one), test.builder.ensure(two)]);
    await test.builder.cancel(one.workload);
    expect((await untilBuilt(test, two)).reused).toBe(false);
    expect(await test.installs()).toBe(1);
  });

  it("the log has all output of the last build, and following it ends with the build", async () => {
    const test = await open();
    const request = await requestOf(test, { "handler.txt": "x", "deps.txt": "slow" });
    expect(await buildLog(test, request.workload, false)).toBe("");
    await untilInstalling(test, request);
    const followed = await buildLog(test, request.workload, true);
    expect(followed).toContain("installing slow");
    expect((await untilBuilt(test, request)).phase).toBe("built");
    expect(await buildLog(test, request.workload, false)).toBe(followed);
  });
}

interface RequestOptions {
  readonly name?: string;
  readonly entrypoint?: string;
}

/** Stores a source and says what to build of it. */
export async function requestOf(
  { objects, runtime }: Pick<BuilderUnderTest, "objects" | "runtime">,
  files: Readonly<Record<string, string>>,
  { name = "hello", entrypoint = "handler.handle" }: RequestOptions = {},
): Promise<BuildRequest> {
  const workload: WorkloadRef = { kind: "Function", namespace: "demo", name };
  const archive = Object.entries(files).map(([path, text]) => ({
    path,
    mode: "100644" as const,
    content: Buffer.from(text),
  }));
  const digest = digestOf(archive);
  const key = sourceKey(workload, digest);
  await objects.put(key, await packArchive(archive));
  return { workload, runtime, entrypoint, sourceDigest: digest, sourceKey: key };
}

/** Of a source with these files. */
export function digestOf(files: readonly ArchiveFile[]): string {
  return sourceDigest(files.map(storedFile));
}

type Under = Pick<BuilderUnderTest, "builder">;

export async function untilBuilt({ builder }: Under, request: BuildRequest) {
  const state = await untilEnd(builder, request);
  if (state.phase !== "built") throw new Error(JSON.stringify(state));
  return state;
}

export async function untilFailed({ builder }: Under, request: BuildRequest) {
  const state = await untilEnd(builder, request);
  if (state.phase !== "failed") throw new Error(JSON.stringify(state));
  return state;
}

function untilEnd(builder: Builder, request: BuildRequest): Promise<BuildState> {
  return eventually(
    "the build ends",
    () => builder.ensure(request),
    (state) => state.phase !== "building",
  );
}

async function untilInstalling(test: Under, request: BuildRequest): Promise<void> {
  await test.builder.ensure(request);
  const isInstalling = (log: string) => log.includes("installing");
  await eventually("it installs", () => buildLog(test, request.workload, false), isInstalling);
}

export async function buildLog({ builder }: Under, workload: WorkloadRef, follow: boolean): Promise<string> {
  let text = "";
  const { signal } = new AbortController();
  const read = async () => {
    for await (const chunk of builder.logs(workload, { follow, signal })) text += Buffer.from(chunk).toString();
  };
  await within("the end of the build's log", read(), () => text);
  return text;
}
