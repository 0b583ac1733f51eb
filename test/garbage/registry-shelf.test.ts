import { afterAll, beforeAll, expect, it } from "vitest";
import { imageName, type ObjectOf } from "../../src/apis/index.ts";
import type { BuildRequest } from "../../src/build/index.ts";
import { systemClock } from "../../src/controller/clock.ts";
import type { GarbageOptions } from "../../src/garbage/index.ts";
import { type RegistryClient, RegistryError, registryClient } from "../../src/registry/index.ts";
import { requestOf, untilBuilt } from "../contract/builder.ts";
import { describeWithServers } from "../support/kubernetes/index.ts";
import { type ImageBuilderTest, openImageBuilder } from "../support/open-image-builder.ts";
import { openRegistryServer, type RegistryServer } from "../support/registry-server.ts";
import { DAY_MS, type GarbageWorld, garbageWorld, workload } from "./garbage-world.ts";

const ref = { kind: "Function", namespace: "demo", name: "hello" } as const;

describeWithServers("images in a registry", () => {
  let server: RegistryServer;
  beforeAll(async () => {
    server = await openRegistryServer();
  });
  afterAll(() => server?.close());

  interface World extends GarbageWorld {
    readonly test: ImageBuilderTest;
    readonly registry: RegistryClient;
    /** Builds a source of hello. */
    build(files: Record<string, string>): Promise<{ request: BuildRequest; imageRef: string; digest: string }>;
    tags(repository: string): Promise<string[]>;
  }

  async function open(options: Partial<GarbageOptions> = {}, faults: Partial<RegistryClient> = {}): Promise<World> {
    const test = await openImageBuilder(server.host);
    const plain = registryClient({ host: server.host, plainHttp: true, clock: systemClock });
    const registry = { ...plain, ...faults };
    const world = garbageWorld({
      ...options,
      registry: { registry, prefix: test.prefix, removed: test.builder.forget },
    });
    return {
      ...world,
      test,
      registry: plain,
      async build(files) {
        const request = await requestOf(test, files);
        const { imageRef } = await untilBuilt(test, request);
        return { request, imageRef, digest: imageRef.slice(imageRef.indexOf("@") + 1) };
      },
      tags: (repository) => plain.tags(test.prefix + repository),
    };
  }

  function serving({ request, imageRef }: { request: BuildRequest; imageRef: string }): ObjectOf<"Function"> {
    const object = workload("Function", "hello", { imageRef }) as ObjectOf<"Function">;
    return { ...object, spec: { ...object.spec, s3Key: request.sourceKey } };
  }

  async function isThere({ registry, test }: World, digest: string): Promise<boolean> {
    return (await registry.manifestDigest(test.prefix + imageName(ref), digest)) !== undefined;
  }

  it("a superseded image goes with all of its tags, and the one that serves stays", async () => {
    const world = await open();
    const old = await world.build({ "handler.txt": "one" });
    const now = await world.build({ "handler.txt": "two" });
    world.objects.all.push(serving(now));
    const { items, kept } = await world.collect();
    expect(items.filter(({ sort }) => sort === "image")).toMatchObject([
      { action: "wait", name: expect.stringContaining(old.digest.slice(0, 19)), bytes: expect.any(Number) },
    ]);
    expect(kept).toBeGreaterThan(0);
    world.clock.advance(DAY_MS);
    expect(await world.collect()).toMatchObject({ removed: { count: 1 }, failures: [] });
    expect([await isThere(world, old.digest), await isThere(world, now.digest)]).toEqual([false, true]);
    expect(await world.tags("sless-demo_hello")).toHaveLength(2);
  });

  it("an image that was collected is made anew for whoever wants it again, at once", async () => {
    const world = await open();
    const { request, digest } = await world.build({ "handler.txt": "one" });
    world.objects.all.push(serving(await world.build({ "handler.txt": "two" })));
    expect(await world.test.builder.ensure(request)).toMatchObject({ phase: "built" });
    await world.collect();
    world.clock.advance(DAY_MS);
    expect(await world.collect()).toMatchObject({ removed: { count: 1 }, failures: [] });
    expect(await isThere(world, digest)).toBe(false);
    expect(await world.test.builder.ensure(request)).toMatchObject({ phase: "building" });
    await untilBuilt(world.test, request);
    expect(await isThere(world, digest)).toBe(true);
  });

  it("an image that can be gone back to stays, and one of a source that is wanted though it does not serve", async () => {
    const world = await open();
    const [one, two, three] = [
      await world.build({ "handler.txt": "1" }),
      await world.build({ "handler.txt": "2" }),
      await world.build({ "handler.txt": "3" }),
    ];
    const object = serving({ request: three.request, imageRef: two.imageRef });
    const revision = { number: 1, sourceDigest: one.request.sourceDigest, imageRef: one.imageRef, servedAt: "" };
    world.objects.all.push({ ...object, status: { ...object.status, history: [revision] } });
    await world.collect();
    world.clock.advance(2 * DAY_MS);
    expect(await world.collect()).toMatchObject({ removed: { count: 0 } });
    for (const { digest } of [one, two, three]) expect(await isThere(world, digest)).toBe(true);
  });

  it("images of a function that is gone go, and dependencies once nothing stands on them for a month", async () => {
    const world = await open();
    const built = await world.build({ "handler.txt": "one", "deps.txt": "a" });
    world.objects.all.push(serving(built));
    await world.collect();
    world.objects.all.length = 0;
    world.clock.advance(DAY_MS);
    await world.collect();
    expect(await isThere(world, built.digest)).toBe(true);
    world.clock.advance(DAY_MS);
    expect(await world.collect()).toMatchObject({ removed: { count: 1 } });
    expect(await isThere(world, built.digest)).toBe(false);
    expect(await world.tags("sless-deps")).toHaveLength(1);
    world.clock.advance(29 * DAY_MS);
    await world.collect();
    expect(await world.tags("sless-deps")).toEqual([]);
    expect(await world.stored.has("garbage/repositories/sless-demo_hello")).toBe(false);
  });

  it("dependencies that an image stands on which serves stay for ever", async () => {
    const world = await open();
    world.objects.all.push(serving(await world.build({ "handler.txt": "one", "deps.txt": "a" })));
    for (let month = 0; month < 3; month++) {
      expect(await world.collect()).toMatchObject({ removed: { count: 0 }, waiting: { count: 0 } });
      world.clock.advance(31 * DAY_MS);
    }
    expect(await world.tags("sless-deps")).toHaveLength(1);
  });

  it("an image that is wanted again while it is removed is put back with its tags", async () => {
    const objects: { want?: () => void } = {};
    const direct = registryClient({ host: server.host, plainHttp: true, clock: systemClock });
    const world = await open(
      {},
      {
        deleteManifest: async (repository, digest) => {
          await direct.deleteManifest(repository, digest);
          objects.want?.();
        },
      },
    );
    const built = await world.build({ "handler.txt": "one" });
    world.objects.all.push(workload("Function", "hello"));
    await world.collect();
    world.clock.advance(DAY_MS);
    const before = await world.tags("sless-demo_hello");
    objects.want = () => {
      world.objects.all[0] = serving({ request: built.request, imageRef: "" });
    };
    expect(await world.collect()).toMatchObject({ removed: { count: 0 } });
    expect(await world.tags("sless-demo_hello")).toEqual(before);
    const anew = await world.test.reopen();
    expect(await untilBuilt(anew, built.request)).toMatchObject({ imageRef: built.imageRef, reused: true });
  });

  it("an image that was removed after all is built anew", async () => {
    const world = await open();
    const { request, imageRef, digest } = await world.build({ "handler.txt": "one" });
    world.objects.all.push(workload("Function", "hello"));
    await world.collect();
    world.clock.advance(DAY_MS);
    await world.collect();
    expect(await isThere(world, digest)).toBe(false);
    const anew = await world.test.reopen();
    expect(await untilBuilt(anew, request)).toMatchObject({ imageRef, reused: false });
  });

  const unsupported = async () => {
    throw new RegistryError(405, "UNSUPPORTED", "The operation is unsupported");
  };

  it("a registry that lets nothing be deleted is told, and archives are collected all the same", async () => {
    const world = await open({}, { deleteManifest: unsupported });
    await world.build({ "handler.txt": "one" });
    await world.put("functions/demo/hello/1.zip");
    await world.collect();
    world.clock.advance(DAY_MS);
    const { failures, removed } = await world.collect();
    expect(failures).toEqual([
      { where: `the registry ${server.host}`, error: expect.stringContaining("does not let images be deleted") },
    ]);
    expect(removed.count).toBe(1);
  });

  it("of a registry that does not answer nothing is removed", async () => {
    const away = async () => Promise.reject(new RegistryError(503, "UNAVAILABLE", "it is away"));
    for (const faults of [{ tags: away }, { manifestDigest: away }, { manifest: away }, { blob: away }]) {
      const switched = { isAway: false };
      const [name, fault] = Object.entries(faults)[0]!;
      const plain = registryClient({ host: server.host, plainHttp: true, clock: systemClock });
      const call = (...args: never[]) => {
        const method = plain[name as keyof RegistryClient] as (...given: never[]) => Promise<unknown>;
        return switched.isAway ? fault() : method(...args);
      };
      const world = await open({}, { [name]: call });
      const { digest } = await world.build({ "handler.txt": name });
      world.objects.all.push(workload("Function", "hello"));
      await world.collect();
      world.clock.advance(DAY_MS);
      switched.isAway = true;
      const { failures, removed } = await world.collect();
      // What an image is made of is remembered, and need not be asked for again.
      if (name === "blob") continue;
      expect([failures.length, removed.count], name).toEqual([1, 0]);
      expect(await isThere(world, digest), name).toBe(true);
    }
  });
});
