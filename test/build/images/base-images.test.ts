import { afterAll, beforeAll, expect, it } from "vitest";
import type { BuildRequest } from "../../../src/build/index.ts";
import { systemClock } from "../../../src/controller/clock.ts";
import { digestOf, MEDIA_TYPES, registryClient } from "../../../src/registry/index.ts";
import { requestOf, untilBuilt, untilFailed } from "../../contract/builder.ts";
import { pushBaseImage } from "../../support/base-image.ts";
import { eventually } from "../../support/eventually.ts";
import { readImage } from "../../support/image-files.ts";
import { describeWithServers } from "../../support/kubernetes/index.ts";
import { manualClock } from "../../support/manual-clock.ts";
import { type ImageBuilderTest, openImageBuilder } from "../../support/open-image-builder.ts";
import { registryProxy } from "../../support/registry-proxy.ts";
import { openRegistryServer, type RegistryServer } from "../../support/registry-server.ts";

const HOUR_MS = 3_600_000;

describeWithServers("base images", () => {
  let server: RegistryServer;
  let elsewhere: RegistryServer;
  beforeAll(async () => {
    [server, elsewhere] = await Promise.all([openRegistryServer(), openRegistryServer()]);
  });
  afterAll(() => Promise.all([server?.close(), elsewhere?.close()]));

  const openElsewhere = () => registryClient({ host: elsewhere.host, plainHttp: true, clock: systemClock });
  const baseOf = async (test: ImageBuilderTest, imageRef: string) =>
    (await readImage(test.registry, imageRef)).files["etc/base"]?.text;

  it("that are not there fail their runtime, and are found when they are", async () => {
    const clock = manualClock();
    const test = await openImageBuilder(server.host, { clock });
    const runtime = { ...test.runtime, baseImage: `${server.host}/${test.prefix}late:1` };
    const request = { ...(await requestOf(test, { "handler.txt": "hi" })), runtime };
    const failed = await untilFailed(test, request);
    expect(failed).toMatchObject({
      reason: "BaseImageMissing",
      message: expect.stringContaining("late:1, on which functions of shell1 run"),
    });
    await pushBaseImage(test.registry, `${test.prefix}late`, "1");
    expect(await test.builder.ensure(request)).toEqual(failed);
    clock.advance(10_000);
    await untilBuilt(test, request);
  });

  it.each(["no image", "a b", "UPPER/case:1"])("of which %j is no name fail in words", async (baseImage) => {
    const test = await openImageBuilder(server.host);
    const request = { ...(await requestOf(test, { "handler.txt": "hi" })), runtime: { ...test.runtime, baseImage } };
    expect(await untilFailed(test, request)).toMatchObject({ reason: "BaseImageMissing" });
  });

  async function pushIndex(test: ImageBuilderTest, architectures: readonly string[]): Promise<void> {
    const manifests = [];
    for (const architecture of architectures) {
      const digest = await pushBaseImage(test.registry, `${test.prefix}many`, architecture, {
        architecture,
        content: architecture,
      });
      const { bytes, mediaType } = (await test.registry.manifest(`${test.prefix}many`, digest))!;
      manifests.push({ mediaType, digest, size: bytes.byteLength, platform: { os: "linux", architecture } });
    }
    const index = Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType: MEDIA_TYPES.ociIndex, manifests }));
    await test.registry.putManifest(`${test.prefix}many`, "1", { mediaType: MEDIA_TYPES.ociIndex, bytes: index });
  }

  it("of several platforms are taken for that of the nodes", async () => {
    const test = await openImageBuilder(server.host, { platform: "linux/arm64" });
    await pushIndex(test, ["amd64", "arm64"]);
    const runtime = { ...test.runtime, baseImage: `${server.host}/${test.prefix}many:1` };
    const { imageRef } = await untilBuilt(test, { ...(await requestOf(test, { "handler.txt": "hi" })), runtime });
    expect(await readImage(test.registry, imageRef)).toMatchObject({
      config: { architecture: "arm64" },
      files: { "etc/base": { text: "arm64" } },
    });
  });

  it("without that platform fail, and tell which there are", async () => {
    const test = await openImageBuilder(server.host);
    await pushIndex(test, ["arm64", "s390x"]);
    const runtime = { ...test.runtime, baseImage: `${server.host}/${test.prefix}many:1` };
    const failed = await untilFailed(test, { ...(await requestOf(test, { "handler.txt": "hi" })), runtime });
    expect(failed.message).toContain("made for linux/arm64, linux/s390x, not for linux/amd64");
  });

  it.each([undefined, false])(
    "of one platform alone are taken for that alone, and for any where what is in them does not run",
    async (runsBase) => {
      const test = await openImageBuilder(server.host, {
        platform: "linux/amd64",
        ...(runsBase === false ? { runsBase } : {}),
      });
      await pushBaseImage(test.registry, `${test.prefix}single`, "1", { architecture: "arm64" });
      const runtime = { ...test.runtime, baseImage: `${server.host}/${test.prefix}single:1` };
      const request = { ...(await requestOf(test, { "handler.txt": "hi" })), runtime };
      if (runsBase === false) return void (await untilBuilt(test, request));
      const failed = await untilFailed(test, request);
      expect(failed).toMatchObject({
        reason: "BaseImageMissing",
        message: expect.stringContaining("made for linux/arm64, not for linux/amd64"),
      });
    },
  );

  it.each([["no image at all", { mediaType: MEDIA_TYPES.dockerManifest, body: { schemaVersion: 1, fsLayers: [] } }]])(
    "that are %s are told as that",
    async (_, { mediaType, body }) => {
      const test = await openImageBuilder(server.host);
      const bytes = Buffer.from(JSON.stringify(body));
      const digest = digestOf(bytes);
      const registry = {
        ...test.registry,
        manifestDigest: async () => digest,
        manifest: async () => ({ mediaType, digest, bytes }),
      };
      const other = await test.reopen({ clientOf: () => registry });
      const runtime = { ...test.runtime, baseImage: "elsewhere.example.org/odd:1" };
      const failed = await untilFailed(other, { ...(await requestOf(test, { "handler.txt": "hi" })), runtime });
      expect(failed.message).toMatch(/is no image with layers/);
    },
  );

  it("of another registry are copied once", async () => {
    const proxy = await registryProxy(elsewhere.host);
    const test = await openImageBuilder(server.host);
    await pushBaseImage(openElsewhere(), `${test.prefix}far`, "1", { content: test.prefix });
    const runtime = { ...test.runtime, baseImage: `${proxy.host}/${test.prefix}far:1` };
    const build = async (on: ImageBuilderTest, text: string) =>
      (await untilBuilt(on, { ...(await requestOf(on, { "handler.txt": text, "deps.txt": "a" })), runtime })).imageRef;
    expect(await baseOf(test, await build(test, "one"))).toBe(test.prefix);
    const blobs = () => proxy.requests.filter(({ path }) => path.includes("/blobs/")).length;
    const copied = blobs();
    expect(copied).toBeGreaterThan(0);
    await build(test, "two");
    await build(await test.reopen(), "three");
    expect(blobs()).toBe(copied);
  });

  it("of docker.io come from its mirror", async () => {
    const test = await openImageBuilder(server.host, { mirror: elsewhere.host });
    const name = `mirrored-${test.prefix.slice(5, 13)}`;
    await pushBaseImage(openElsewhere(), `library/${name}`, "1", { content: "mirror" });
    const runtime = { ...test.runtime, baseImage: `${name}:1` };
    const { imageRef } = await untilBuilt(test, { ...(await requestOf(test, { "handler.txt": "hi" })), runtime });
    expect(await baseOf(test, imageRef)).toBe("mirror");
  });

  it("whose registry is away at a restart leave everything as it is", async () => {
    const proxy = await registryProxy(elsewhere.host);
    const clock = manualClock();
    const far = registryClient({ host: proxy.host, plainHttp: true, clock: systemClock, tries: 1 });
    const test = await openImageBuilder(server.host, { clock, clientOf: () => far });
    await pushBaseImage(openElsewhere(), `${test.prefix}far`, "1");
    const runtime = { ...test.runtime, baseImage: `${proxy.host}/${test.prefix}far:1` };
    const request = { ...(await requestOf(test, { "handler.txt": "hi" })), runtime };
    const { imageRef } = await untilBuilt(test, request);
    const later = await test.reopen({ clock, clientOf: () => far });
    proxy.fault = () => "cut";
    expect(await later.builder.ensure(request)).toMatchObject({ phase: "built", imageRef, reused: true });
    const changed = { ...(await requestOf(test, { "handler.txt": "new" })), runtime };
    expect(await untilFailed(later, changed)).toMatchObject({ reason: "RegistryUnavailable" });
    proxy.fault = () => undefined;
    clock.advance(10_000);
    await untilBuilt(later, changed);
  });

  /** Functions on one base image, all of which were built. */
  async function openBuilt(names: readonly string[]) {
    const clock = manualClock();
    const renewals = { atOnce: 2, everyMs: 0 };
    const test = await openImageBuilder(server.host, { clock, renewals });
    const requests = await Promise.all(names.map((name) => requestOf(test, { "handler.txt": name }, { name })));
    const before = await Promise.all(requests.map((request) => untilBuilt(test, request)));
    return { clock, test, requests, before, renewals };
  }

  /** Asks for a workload when its builder has news of it, as a reconciler does. */
  function reconcile({ builder }: ImageBuilderTest, requests: readonly BuildRequest[]) {
    const phases: string[][] = [];
    const states = new Map<string, string>();
    const ask = async (request: BuildRequest) => {
      const state = await builder.ensure(request);
      states.set(request.workload.name, state.phase);
      phases.push([...states].filter(([, phase]) => phase === "building").map(([name]) => name));
    };
    builder.onChange(({ name }) => void ask(requests.find(({ workload }) => workload.name === name)!));
    return phases;
  }

  it("that change have made anew what stands on them, some at a time, while the older images serve", async () => {
    const names = ["a", "b", "c", "d", "e", "f"];
    const { clock, test, requests, before } = await openBuilt(names);
    await pushBaseImage(test.registry, `${test.prefix}base`, "1", { content: "newer" });
    for (const [index, request] of requests.entries())
      expect(await test.builder.ensure(request)).toEqual(before[index]);
    const phases = reconcile(test, requests);
    clock.advance(HOUR_MS);
    await eventually(
      "the change is noticed",
      async () => test.notices.length,
      (count) => count === 1,
    );
    expect(test.notices[0]).toContain("the images of 6 workloads on it are made anew");
    const after = await eventually(
      "all are made anew",
      async () => {
        clock.advance(1);
        return Promise.all(requests.map((request) => test.builder.ensure(request)));
      },
      (states) => states.every((state, index) => state.phase === "built" && state.imageRef !== before[index]!.imageRef),
    );
    for (const state of after) expect(state.phase === "built" && (await baseOf(test, state.imageRef))).toBe("newer");
    expect(Math.max(...phases.map((names) => names.length))).toBeLessThanOrEqual(2);
  });

  it("that changed while nobody looked do the same after a restart", async () => {
    const { clock, test, requests, before } = await openBuilt(["a", "b", "c", "d"]);
    await pushBaseImage(test.registry, `${test.prefix}base`, "1", { content: "newer" });
    const later = await test.reopen({ clock, renewals: { atOnce: 1, everyMs: 1_000 } });
    const states = [];
    for (const request of requests) states.push(await later.builder.ensure(request));
    expect(states.map(({ phase }) => phase)).toEqual(["building", "built", "built", "built"]);
    expect(states[1]).toMatchObject({ imageRef: before[1]!.imageRef, reused: true });
    const news = await untilBuilt(later, requests[0]!);
    expect(await baseOf(later, news.imageRef)).toBe("newer");
    expect(await later.builder.ensure(requests[1]!)).toMatchObject({ phase: "built", imageRef: before[1]!.imageRef });
    clock.advance(1_000);
    expect(await later.builder.ensure(requests[1]!)).toMatchObject({ phase: "building" });
  });

  it("that change do not hold up a change of code", async () => {
    const { clock, test, requests } = await openBuilt(["a", "b", "c"]);
    await pushBaseImage(test.registry, `${test.prefix}base`, "1", { content: "newer" });
    const later = await test.reopen({ clock, renewals: { atOnce: 1, everyMs: HOUR_MS } });
    for (const request of requests) await later.builder.ensure(request);
    const { imageRef } = await untilBuilt(later, await requestOf(later, { "handler.txt": "new code" }, { name: "c" }));
    expect(await baseOf(later, imageRef)).toBe("newer");
  });

  it("named by digest are never looked for again", async () => {
    const clock = manualClock();
    const test = await openImageBuilder(server.host, { clock });
    const { bytes } = (await test.registry.manifest(`${test.prefix}base`, "1"))!;
    const runtime = { ...test.runtime, baseImage: `${server.host}/${test.prefix}base@${digestOf(bytes)}` };
    const request = { ...(await requestOf(test, { "handler.txt": "hi" })), runtime };
    const built = await untilBuilt(test, request);
    await pushBaseImage(test.registry, `${test.prefix}base`, "1", { content: "newer" });
    clock.advance(HOUR_MS);
    expect(await untilBuilt(test, request)).toMatchObject({ imageRef: built.imageRef });
    expect(test.notices).toEqual([]);
  });
});
