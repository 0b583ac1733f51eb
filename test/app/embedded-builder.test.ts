import { randomBytes, randomUUID } from "node:crypto";
import { readdir, readFile, realpath, rm, truncate } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../src/controller/clock.ts";
import type { LocalImage } from "../../src/processes/index.ts";
import { type RegistryClient, registryClient } from "../../src/registry/index.ts";
import { builderContract, requestOf, untilBuilt, untilFailed } from "../contract/builder.ts";
import { pushBaseImage } from "../support/base-image.ts";
import { eventually } from "../support/eventually.ts";
import { readImage } from "../support/image-files.ts";
import { describeWithServers } from "../support/kubernetes/index.ts";
import { openEmbeddedBuilderTest } from "../support/open-embedded-builder.ts";
import { registryAnswer, registryProxy } from "../support/registry-proxy.ts";
import { openRegistryServer, type RegistryServer } from "../support/registry-server.ts";

describeWithServers("the builder of the embedded mode over a registry", () => {
  let server: RegistryServer;
  let client: RegistryClient;
  beforeAll(async () => {
    server = await openRegistryServer();
    client = registryClient({ host: server.host, plainHttp: true, clock: systemClock });
  });
  afterAll(async () => {
    await client?.close();
    await server?.close();
  });

  /** A registry's folder for one test: what one has made another does not find. */
  async function ownBase(): Promise<string> {
    const repository = `test-${randomUUID().slice(0, 8)}/base`;
    await pushBaseImage(client, repository, "1", { content: repository });
    return `${server.host}/${repository}:1`;
  }

  const open = async () => openEmbeddedBuilderTest({ host: server.host, runtime: { baseImage: await ownBase() } });

  describe("keeps the contract of builders", () => builderContract(open));

  const filesOf = async (folder: string) =>
    (await readdir(folder, { recursive: true, withFileTypes: true }))
      .filter((entry) => !entry.isDirectory())
      .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
      // Links are followed when it is read.
      .filter((path) => !path.includes("image/modules/") && path !== "sless/image/deps")
      .sort();

  it("what runs is what was pushed, less what the machine has itself", async () => {
    const test = await open();
    const { imageRef } = await untilBuilt(test, await requestOf(test, { "handler.txt": "one", "deps.txt": "a" }));
    expect(imageRef).toMatch(
      new RegExp(`^${server.host}/sless-dev-0123456789ab/sless-demo_hello@sha256:[0-9a-f]{64}$`),
    );
    const image = (await test.resolveImage(imageRef))!;
    const root = resolve(image.folder, "../..");
    const pushed = await readImage(client, imageRef);
    const inImage = Object.entries(pushed.files).filter(
      ([path, { type }]) => /^sless\//.test(path) && type !== "directory",
    );
    expect(await filesOf(root)).toEqual([".sless-files.json", "image.json", ...inImage.map(([path]) => path)].sort());
    expect(await readFile(join(image.source, "handler.txt"), "utf8")).toBe("one");
    expect(await readFile(join(image.folder, "modules/installed"), "utf8")).toBe("a");
    expect(pushed.config.config?.Entrypoint).toEqual(["sh", "/sless/runtime/server", "/sless/image/source"]);
    expect(image).toMatchObject({
      runtime: "shell1",
      command: [expect.stringMatching(/^\/.*\/sh$/), join(root, "sless/runtime/server"), image.source],
      env: { DEPS: image.deps },
    });
  });

  it("a change of code alone moves the code: nothing is installed, no layer of the base or the dependencies is sent or fetched", async () => {
    const proxy = await registryProxy(server.host);
    const baseImage = (await ownBase()).replace(server.host, proxy.host);
    const test = await openEmbeddedBuilderTest({ host: proxy.host, runtime: { baseImage } });
    const files = { "handler.txt": "one", "deps.txt": "a", "large.bin": randomBytes(200_000).toString("base64") };
    await untilBuilt(test, await requestOf(test, files));
    proxy.requests.length = 0;
    const { imageRef } = await untilBuilt(test, await requestOf(test, { "handler.txt": "two", "deps.txt": "a" }));
    expect(await test.installs()).toBe(1);
    const sent = proxy.requests.reduce((sum, request) => sum + request.sent, 0);
    expect(sent).toBeLessThan(20_000);
    const { manifest } = await readImage(client, imageRef.replace(proxy.host, server.host));
    const fetched = proxy.requests.filter(({ method, path }) => method === "GET" && path.includes("/blobs/"));
    const layers = manifest.layers.filter(({ digest }) => fetched.some(({ path }) => path.endsWith(digest)));
    expect(layers).toEqual([manifest.layers.at(-1)]);
  });

  it("the registry is not asked for the content of an image twice", async () => {
    const proxy = await registryProxy(server.host);
    const baseImage = (await ownBase()).replace(server.host, proxy.host);
    const test = await openEmbeddedBuilderTest({ host: proxy.host, runtime: { baseImage } });
    const request = await requestOf(test, { "handler.txt": "one" });
    await untilBuilt(test, request);
    proxy.requests.length = 0;
    await untilBuilt(test, request);
    await untilBuilt(test, await requestOf(test, { "handler.txt": "one" }));
    expect(proxy.requests).toEqual([]);
    await test.close();
    const next = await openEmbeddedBuilderTest({ host: proxy.host, runtime: { baseImage }, before: test });
    proxy.requests.length = 0;
    const again = await untilBuilt(next, request);
    expect(again.reused).toBe(true);
    expect(proxy.requests.filter(({ method, path }) => method === "GET" && path.includes("/blobs/"))).toEqual([]);
  });

  it("an image that is gone from the machine is unpacked again", async () => {
    const test = await open();
    const request = await requestOf(test, { "handler.txt": "one" });
    const { imageRef } = await untilBuilt(test, request);
    await rm(join(test.data, "builds/pulled/images"), { recursive: true });
    expect(await test.resolveImage(imageRef)).toBeUndefined();
    expect((await untilBuilt(test, request)).imageRef).toBe(imageRef);
    expect(await test.resolveImage(imageRef)).toBeDefined();
  });

  it.each<[string, (image: LocalImage) => Promise<void>]>([
    ["its code", ({ source }) => truncate(join(source, "handler.txt"), 1)],
    ["its dependencies", async ({ deps }) => rm(join(deps, "modules/installed"))],
    ["a layer", async ({ deps }) => rm(resolve(await realpath(deps), "../../.."), { recursive: true })],
  ])("an image that lost %s is unpacked again, and it is told", async (_, spoil) => {
    const first = await open();
    const request = await requestOf(first, { "handler.txt": "one", "deps.txt": "a" });
    const { imageRef } = await untilBuilt(first, request);
    await spoil((await first.resolveImage(imageRef))!);
    await first.close();
    const test = await openEmbeddedBuilderTest({ host: server.host, runtime: first.runtime, before: first });
    expect(await test.resolveImage(imageRef)).toBeUndefined();
    expect((await untilBuilt(test, request)).imageRef).toBe(imageRef);
    const image = (await test.resolveImage(imageRef))!;
    expect(await readFile(join(image.source, "handler.txt"), "utf8")).toBe("one");
    expect(await readFile(join(image.deps, "modules/installed"), "utf8")).toBe("a");
    expect(test.notices).toEqual([expect.stringMatching(/is damaged: .* It is made again\.$/)]);
    expect(await test.installs()).toBe(1);
  });

  it("an image that is damaged while it is in use is unpacked again, with the layer that its files are one with", async () => {
    const test = await open();
    const request = await requestOf(test, { "handler.txt": "one" });
    const { imageRef } = await untilBuilt(test, request);
    const { source } = (await test.resolveImage(imageRef))!;
    await truncate(join(source, "handler.txt"));
    expect(await test.imageDamage(imageRef)).toMatch(/handler\.txt" has 0 of 3 bytes/);
    await untilBuilt(test, request);
    expect(await readFile(join(source, "handler.txt"), "utf8")).toBe("one");
    expect(await test.imageDamage(imageRef)).toBeUndefined();
  });

  it("an image that cannot be fetched is a failure that names the registry, and is tried again later", async () => {
    const proxy = await registryProxy(server.host);
    const baseImage = (await ownBase()).replace(server.host, proxy.host);
    const test = await openEmbeddedBuilderTest({ host: proxy.host, runtime: { baseImage } });
    const request = await requestOf(test, { "handler.txt": "one" });
    let isPushed = false;
    proxy.fault = ({ method, path }) => {
      if (method === "PUT" && /hello\/manifests\//.test(path)) isPushed = true;
      return isPushed && method === "GET" ? registryAnswer(403, "DENIED") : undefined;
    };
    const failed = await untilFailed(test, request);
    expect(failed).toMatchObject({ reason: "RegistryDenied", message: expect.stringContaining(proxy.host) });
    expect(failed.retryAt.getTime()).toBeGreaterThan(failed.failedAt.getTime());
    await eventually(
      "nothing of it is left",
      () => filesOf(join(test.data, "builds/pulled")),
      (paths) => paths.length === 0,
    );
  });

  it("what was made without a registry runs on when there is one, and the other way round", async () => {
    const baseImage = await ownBase();
    const without = await openEmbeddedBuilderTest({ runtime: { baseImage } });
    const files = { "handler.txt": "one", "deps.txt": "a" };
    const before = await untilBuilt(without, await requestOf(without, files));
    await without.close();
    const within = await openEmbeddedBuilderTest({ host: server.host, runtime: { baseImage }, before: without });
    expect(await within.resolveImage(before.imageRef)).toBeDefined();
    expect(await within.builder.has(before.imageRef)).toBe(true);
    const pushed = await untilBuilt(within, await requestOf(within, files));
    const keys: string[] = [];
    for await (const { key } of within.garbage.localImages.images()) keys.push(key);
    expect(keys.sort()).toEqual([before, pushed].map(({ imageRef }) => imageRef.slice(-64)).sort());
    await within.close();
    const again = await openEmbeddedBuilderTest({ runtime: { baseImage }, before: within });
    expect(await again.resolveImage(pushed.imageRef)).toBeDefined();
    expect((await untilBuilt(again, await requestOf(again, files))).imageRef).toBe(before.imageRef);
  });

  it("an image that a workload wants is not removed from the machine, and another one is", async () => {
    const test = await open();
    const first = await untilBuilt(test, await requestOf(test, { "handler.txt": "one" }));
    const second = await untilBuilt(test, await requestOf(test, { "handler.txt": "two" }));
    const { localImages } = test.garbage;
    expect(await localImages.bytesOf(second.imageRef.slice(-64))).toBeGreaterThan(0);
    expect(await localImages.removeImage(second.imageRef.slice(-64))).toBe(false);
    expect(await localImages.removeImage(first.imageRef.slice(-64))).toBe(true);
    expect(await test.resolveImage(first.imageRef)).toBeUndefined();
    expect(await test.resolveImage(second.imageRef)).toBeDefined();
  });

  it("layers that no image is made of any more go, and those of others stay", async () => {
    const test = await open();
    const layers = () => readdir(join(test.data, "builds/pulled/layers"));
    const first = await untilBuilt(test, await requestOf(test, { "handler.txt": "one", "deps.txt": "a" }));
    const before = await layers();
    const second = await untilBuilt(test, await requestOf(test, { "handler.txt": "two", "deps.txt": "a" }));
    expect(await layers()).toHaveLength(before.length + 1);
    const { localImages } = test.garbage;
    await localImages.removeImage(first.imageRef.slice(-64));
    await localImages.removeLeftovers();
    expect(await layers()).toHaveLength(before.length);
    const image = (await test.resolveImage(second.imageRef))!;
    expect(await readFile(join(image.folder, "modules/installed"), "utf8")).toBe("a");
    expect(await readFile(join(image.source, "handler.txt"), "utf8")).toBe("two");
    expect((await untilBuilt(test, await requestOf(test, { "handler.txt": "one", "deps.txt": "a" }))).imageRef).toBe(
      first.imageRef,
    );
  });

  it("dependencies of another version of the interpreter are other dependencies", async () => {
    const baseImage = await ownBase();
    const files = { "handler.txt": "one", "deps.txt": "a" };
    const older = await openEmbeddedBuilderTest({ host: server.host, runtime: { baseImage } });
    await untilBuilt(older, await requestOf(older, files));
    await older.close();
    const interpreter = { ...older.runtime.interpreter, versionArgs: ["-c", "echo shell 1.3.0"] };
    const newer = await openEmbeddedBuilderTest({
      host: server.host,
      runtime: { baseImage, interpreter },
      before: older,
    });
    await untilBuilt(newer, await requestOf(newer, files));
    expect(await newer.installs()).toBe(2);
  });

  it("a runtime that the machine does not have is told before anything is pushed", async () => {
    const test = await openEmbeddedBuilderTest({
      host: server.host,
      runtime: { interpreter: { ...(await open()).runtime.interpreter, commands: ["no-such-shell"] } },
    });
    const failed = await untilFailed(test, await requestOf(test, { "handler.txt": "one" }));
    expect(failed).toMatchObject({ reason: "ToolchainMissing", message: expect.stringContaining("buy a computer") });
  });

  it("a base image that is not there is told with what to do", async () => {
    const test = await openEmbeddedBuilderTest({
      host: server.host,
      runtime: { baseImage: `${server.host}/none:1` },
    });
    const failed = await untilFailed(test, await requestOf(test, { "handler.txt": "of no base" }));
    expect(failed.reason).toBe("BaseImageMissing");
    expect(failed.message).toContain(`${server.host}/none:1`);
    expect(failed.message).toContain("Push it to its registry");
  });
});
