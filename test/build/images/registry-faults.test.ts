import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { WorkloadRef } from "../../../src/apis/index.ts";
import type { ImageBuilder } from "../../../src/build/images/index.ts";
import type { BuildRequest } from "../../../src/build/index.ts";
import type { ImageManifest } from "../../../src/build/layer/index.ts";
import { systemClock } from "../../../src/controller/clock.ts";
import { type RegistryClient, registryClient } from "../../../src/registry/index.ts";
import { buildLog, requestOf, untilBuilt, untilFailed } from "../../contract/builder.ts";
import { pushBaseImage } from "../../support/base-image.ts";
import { readImage } from "../../support/image-files.ts";
import { describeWithServers } from "../../support/kubernetes/index.ts";
import { type ImageBuilderTest, openImageBuilder } from "../../support/open-image-builder.ts";
import { type RegistryProxy, registryAnswer, registryProxy } from "../../support/registry-proxy.ts";
import { openRegistryServer, type RegistryServer } from "../../support/registry-server.ts";
import { slowLink } from "../../support/slow-link.ts";
import { testClock } from "../../support/test-clock.ts";

/** Timers are real, so that requests are sent again; the time of failures is the test's. */
function movableClock() {
  const clock = testClock();
  return { ...clock, setTimer: systemClock.setTimer };
}

describeWithServers("the registry of a builder of images", () => {
  let server: RegistryServer;
  beforeAll(async () => {
    server = await openRegistryServer();
  });
  afterAll(() => server?.close());

  interface Proxied {
    readonly proxy: RegistryProxy;
    readonly test: ImageBuilderTest;
    readonly clock: ReturnType<typeof movableClock>;
  }

  /** Everything of the builder passes the proxy. A client that tries once makes faults quick. */
  async function openProxied(tries = 1, stallMs = 60_000): Promise<Proxied> {
    const proxy = await registryProxy(server.host);
    const clock = movableClock();
    const settings = { host: proxy.host, plainHttp: true, clock: systemClock, tries, stallMs };
    const registry: RegistryClient = registryClient(settings);
    const test = await openImageBuilder(proxy.host, { registry, clock });
    proxy.requests.length = 0;
    return { proxy, test, clock };
  }

  const isUpload = ({ method, path }: { method: string; path: string }) =>
    method !== "HEAD" && path.includes("/blobs/uploads/");

  it("is asked once for an image that is there, and nothing is sent", async () => {
    const { proxy, test } = await openProxied();
    const request = await requestOf(test, { "handler.txt": "hi", "deps.txt": "a" });
    const built = await untilBuilt(test, request);
    const later = await test.reopen();
    proxy.requests.length = 0;
    expect(await later.builder.ensure(request)).toEqual({
      ...built,
      reused: true,
      durationMs: 0,
      builtAt: expect.any(Date),
    });
    expect(await later.builder.ensure(request)).toMatchObject({ phase: "built" });
    const asked = proxy.requests.map(
      ({ method, path }) => `${method} ${path.replace(`/v2/${test.prefix}`, "").replace(/[0-9a-f]{12,}/, "…")}`,
    );
    expect(asked.sort()).toEqual([
      "GET base/blobs/sha256:…", // the platform that it is made for
      "GET base/manifests/sha256:…",
      "HEAD base/manifests/1",
      "HEAD sless-demo_hello/manifests/…",
    ]);
    expect(proxy.requests.reduce((sum, { sent }) => sum + sent, 0)).toBe(0);
    expect(later.jobs.begun).toEqual([]);
  });

  it("is sent nothing of a base image, and of a change of code little more than the code", async () => {
    const { proxy, test } = await openProxied();
    await untilBuilt(test, await requestOf(test, { "handler.txt": "one" }));
    proxy.requests.length = 0;
    await untilBuilt(test, await requestOf(test, { "handler.txt": "two" }));
    const layers = proxy.requests.filter(({ path, sent }) => path.includes("blobs") && sent > 0);
    expect(layers).toHaveLength(2); // code and configuration
    expect(proxy.requests.reduce((sum, { sent }) => sum + sent, 0)).toBeLessThan(10_000);
  });

  it("gets one image from two builders that make it at once", async () => {
    const { test } = await openProxied();
    const other = await test.reopen();
    const request = await requestOf(test, { "handler.txt": "hi", "deps.txt": "a" });
    const [one, two] = await Promise.all([untilBuilt(test, request), untilBuilt(other, request)]);
    expect(one.imageRef).toBe(two.imageRef);
    expect(await test.registry.tags(`${test.prefix}sless-demo_hello`)).toHaveLength(2);
  });

  it("that is down fails builds in words, and is tried again by and by", async () => {
    const { proxy, test, clock } = await openProxied();
    const request = await requestOf(test, { "handler.txt": "hi" });
    proxy.fault = () => "cut";
    const failed = await untilFailed(test, request);
    expect(failed).toMatchObject({
      reason: "RegistryUnavailable",
      message: expect.stringContaining(`registry ${proxy.host} did not answer`),
    });
    const requests = proxy.requests.length;
    expect(await test.builder.ensure(request)).toEqual(failed);
    expect(proxy.requests).toHaveLength(requests);
    proxy.fault = () => undefined;
    clock.forward(failed.retryAt.getTime() - clock.now().getTime());
    await untilBuilt(test, request);
  });

  it("that goes away in the middle of a build fails it, and the next try makes it whole", async () => {
    const { proxy, test, clock } = await openProxied();
    const request = await requestOf(test, { "handler.txt": "hi" });
    proxy.fault = (one) => (isUpload(one) ? registryAnswer(500, "UNKNOWN") : undefined);
    const failed = await untilFailed(test, request);
    expect(failed).toMatchObject({ reason: "RegistryUnavailable", message: expect.stringContaining("500") });
    expect(await test.registry.manifest(`${test.prefix}sless-demo_hello`, "latest")).toBeUndefined();
    proxy.fault = () => undefined;
    clock.forward(10_000);
    await untilBuilt(test, request);
  });

  it("that breaks off once in the middle of an upload is sent it again within the build", async () => {
    const { proxy, test } = await openProxied();
    let broken = 0;
    proxy.fault = ({ method, path }) =>
      method === "PUT" && path.includes("/blobs/uploads/") && broken++ < 2 ? registryAnswer(500, "UNKNOWN") : undefined;
    await untilBuilt(test, await requestOf(test, { "handler.txt": "hi" }));
    expect(broken).toBeGreaterThan(2);
  });

  it("that stands still in the middle of an upload fails the build, and the next try makes it whole", async () => {
    const { proxy, test, clock } = await openProxied(1, 5_000);
    const request = await requestOf(test, { "handler.txt": "hi" });
    proxy.fault = (one) => (one.method === "PUT" && isUpload(one) ? "hold" : undefined);
    const failed = await untilFailed(test, request);
    expect(failed).toMatchObject({ reason: "RegistryUnavailable", message: expect.stringContaining("did not answer") });
    proxy.fault = () => undefined;
    clock.forward(10_000);
    await untilBuilt(test, request);
  });

  it("that is killed and comes back has what was pushed, and takes the rest", async () => {
    const own = await openRegistryServer();
    onTestFinished(() => own.close());
    const clock = movableClock();
    const test = await openImageBuilder(own.host, { clock });
    const built = await untilBuilt(test, await requestOf(test, { "handler.txt": "one" }));
    await own.stop();
    const request = await requestOf(test, { "handler.txt": "two" });
    expect(await untilFailed(test, request)).toMatchObject({ reason: "RegistryUnavailable" });
    await own.start();
    clock.forward(10_000);
    await untilBuilt(test, request);
    expect(await test.builder.has(built.imageRef)).toBe(true);
  });

  it("at the end of a slow link is sent every byte once, and of a small change little", async () => {
    const link = await slowLink(server.host, { latencyMs: 20, bytesPerSecond: 1_000_000 });
    const test = await openImageBuilder(link.host);
    const data = randomBytes(1_500_000).toString("base64");
    const request = await requestOf(test, { "handler.txt": "hi", "data.txt": data, "deps.txt": "a" });
    link.passed.toServer = 0;
    await untilBuilt(test, request);
    expect(link.passed.toServer).toBeLessThan(1_800_000);
    await untilBuilt(test, await requestOf(test, { "handler.txt": "small", "deps.txt": "a" }));
    link.passed.toServer = 0;
    await untilBuilt(test, await requestOf(test, { "handler.txt": "change", "deps.txt": "a" }));
    expect(link.passed.toServer).toBeLessThan(20_000);
  });

  it("whose connections break in mid-push gets the image all the same", async () => {
    const link = await slowLink(server.host, { latencyMs: 5, bytesPerSecond: 1_000_000 });
    const test = await openImageBuilder(link.host);
    const request = await requestOf(test, {
      "handler.txt": "hi",
      "data.txt": randomBytes(1_500_000).toString("base64"),
    });
    link.passed.toServer = 0;
    let cuts = 1;
    const watch = setInterval(() => {
      if (cuts > 0 && link.passed.toServer > 700_000) {
        cuts -= 1;
        link.cut();
      }
    }, 20);
    onTestFinished(() => clearInterval(watch));
    await untilBuilt(test, request);
    expect(cuts).toBe(0);
  });

  it("that is busy is waited for as long as it says", async () => {
    const { proxy, test } = await openProxied(4);
    let busy = 3;
    proxy.fault = () => (busy-- > 0 ? registryAnswer(429, "TOOMANYREQUESTS", { "retry-after": "0" }) : undefined);
    await untilBuilt(test, await requestOf(test, { "handler.txt": "hi" }));
    expect(busy).toBeLessThan(0);
  });

  it.each([401, 403])("that answers %i is told to want other credentials", async (status) => {
    const { proxy, test } = await openProxied();
    const request = await requestOf(test, { "handler.txt": "hi" });
    proxy.fault = (one) => (isUpload(one) ? registryAnswer(status, "DENIED") : undefined);
    expect(await untilFailed(test, request)).toMatchObject({
      reason: "RegistryDenied",
      message: expect.stringContaining("REGISTRY_SECRET"),
    });
  });

  it("that lost a blob is sent everything once more", async () => {
    const { proxy, test } = await openProxied();
    const request = await requestOf(test, { "handler.txt": "hi", "deps.txt": "a" });
    let lost = 1;
    proxy.fault = ({ method, path }) =>
      method === "PUT" && path.includes("sless-demo_hello/manifests") && lost-- > 0
        ? registryAnswer(404, "MANIFEST_BLOB_UNKNOWN")
        : undefined;
    await untilBuilt(test, request);
    expect(await buildLog(test, request.workload, false)).toContain("pushed once more");
  });

  it("that loses it again fails the build", async () => {
    const { proxy, test } = await openProxied();
    proxy.fault = ({ method, path }) =>
      method === "PUT" && path.includes("sless-demo_hello/manifests") ? registryAnswer(404, "BLOB_UNKNOWN") : undefined;
    const failed = await untilFailed(test, await requestOf(test, { "handler.txt": "hi" }));
    expect(failed).toMatchObject({ reason: "RegistryUnavailable", message: expect.stringContaining("BLOB_UNKNOWN") });
  });

  it("whose image of dependencies is gone has it made again, whatever the job says", async () => {
    const { test, clock } = await openProxied();
    await untilBuilt(test, await requestOf(test, { "handler.txt": "one", "deps.txt": "a" }));
    const repository = `${test.prefix}sless-deps`;
    const [tag] = await test.registry.tags(repository);
    await test.registry.deleteManifest(repository, (await test.registry.manifestDigest(repository, tag!))!);
    const later = await test.reopen({ clock, jobs: test.jobs });
    await untilBuilt(later, await requestOf(test, { "handler.txt": "two", "deps.txt": "a" }));
    expect(await test.installs()).toBe(2);
  });

  it("whose image of a function is gone gets it again, once that was noticed", async () => {
    const { test, clock } = await openProxied();
    const request = await requestOf(test, { "handler.txt": "hi" });
    const { imageRef } = await untilBuilt(test, request);
    await test.registry.deleteManifest(`${test.prefix}sless-demo_hello`, imageRef.split("@")[1]!);
    expect(await test.builder.ensure(request)).toMatchObject({ imageRef });
    clock.forward(600_000);
    expect(await test.builder.ensure(request)).toMatchObject({ phase: "building" });
    await untilBuilt(test, request);
    expect(await test.builder.has(imageRef)).toBe(true);
  });

  it.each<[string, (builder: ImageBuilder, imageRef: string) => unknown]>([
    ["was collected by this process", (builder, imageRef) => builder.forget(imageRef.split("@")[1]!)],
    ["was collected by another, as soon as that is seen", (builder, imageRef) => builder.has(imageRef)],
  ])("whose image of a function %s gets it again at once", async (_, notice) => {
    const { test } = await openProxied();
    const request = await requestOf(test, { "handler.txt": "hi" });
    const { imageRef } = await untilBuilt(test, request);
    const other = await untilBuilt(test, await requestOf(test, { "handler.txt": "other" }, { name: "other" }));
    await test.registry.deleteManifest(`${test.prefix}sless-demo_hello`, imageRef.split("@")[1]!);
    const told: WorkloadRef[] = [];
    test.builder.onChange((workload) => told.push(workload));
    await notice(test.builder, imageRef);
    expect(told).toEqual([request.workload]);
    expect(await test.builder.ensure(request)).toMatchObject({ phase: "building" });
    await untilBuilt(test, request);
    expect(await test.builder.has(imageRef)).toBe(true);
    expect(await test.builder.has(other.imageRef)).toBe(true);
  });

  it("whose image was forgotten and is there is asked for it once, and makes nothing", async () => {
    const { proxy, test } = await openProxied();
    const request = await requestOf(test, { "handler.txt": "hi" });
    const built = await untilBuilt(test, request);
    proxy.requests.length = 0;
    test.builder.forget(built.imageRef.split("@")[1]!);
    for (let asked = 0; asked < 2; asked += 1) expect(await test.builder.ensure(request)).toEqual(built);
    expect(proxy.requests.map(({ method }) => method)).toEqual(["HEAD"]);
  });

  it("whose copy of a base image is gone gets it again within the build that misses it", async () => {
    const far = await openRegistryServer();
    onTestFinished(() => far.close());
    const origin = registryClient({ host: far.host, plainHttp: true, clock: systemClock });
    onTestFinished(() => origin.close());
    await pushBaseImage(origin, "base", "1", { content: randomBytes(200_000).toString("base64") });
    const test = await openImageBuilder(server.host, { runtime: { baseImage: `${far.host}/base:1` } });
    await untilBuilt(test, await requestOf(test, { "handler.txt": "one" }));
    await emptyRepository(`${test.prefix}sless-base`, test.registry);
    const request = await requestOf(test, { "handler.txt": "two" }, { name: "second" });
    const { imageRef } = await untilBuilt(test, request);
    expect(await buildLog(test, request.workload, false)).toContain("pushed once more");
    expect((await readImage(test.registry, imageRef)).files).toHaveProperty("etc/base");
  });

  /** What a registry's own collection leaves of a repository of which every image was removed. */
  async function emptyRepository(repository: string, client: RegistryClient): Promise<void> {
    for (const tag of await client.tags(repository)) {
      const { bytes, digest } = (await client.manifest(repository, tag))!;
      const { config, layers } = JSON.parse(Buffer.from(bytes).toString()) as ImageManifest;
      await client.deleteManifest(repository, digest);
      for (const blob of [config, ...layers])
        await fetch(`http://${client.host}/v2/${repository}/blobs/${blob.digest}`, { method: "DELETE" });
    }
  }

  it("that does not answer when an image is looked for again changes nothing", async () => {
    const { proxy, test, clock } = await openProxied();
    const request = await requestOf(test, { "handler.txt": "hi" });
    const built = await untilBuilt(test, request);
    clock.forward(600_000);
    proxy.fault = () => "cut";
    expect(await test.builder.ensure(request)).toEqual(built);
  });

  it.each(["", "x", "local/a@sha256:0", `other.test/a@sha256:${"0".repeat(64)}`])(
    "has no image %j",
    async (imageRef) => {
      const { test } = await openProxied();
      expect(await test.builder.has(imageRef)).toBe(false);
      expect(await test.builder.has(`${test.registry.host}/../a@sha256:1`)).toBe(false);
    },
  );

  describe("with another workload's image of the same source", () => {
    async function openTwo(): Promise<{ test: ImageBuilderTest; proxy: RegistryProxy; second: BuildRequest }> {
      const { test, proxy } = await openProxied();
      await untilBuilt(test, await requestOf(test, { "handler.txt": "hi" }));
      proxy.requests.length = 0;
      return { test, proxy, second: await requestOf(test, { "handler.txt": "hi" }, { name: "second" }) };
    }

    it("is sent no blob at all", async () => {
      const { test, proxy, second } = await openTwo();
      await untilBuilt(test, second);
      expect(proxy.requests.filter(({ path, sent }) => path.includes("blobs") && sent > 0)).toEqual([]);
    });

    it("copies them where it does not mount", async () => {
      const { test, proxy, second } = await openTwo();
      proxy.fault = ({ path }) =>
        path.includes("mount=") ? { status: 202, headers: { location: "/nowhere" } } : undefined;
      expect(await untilBuilt(test, second)).toMatchObject({ reused: true });
    });
  });
});
