import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isSlessError, SlessError } from "../../src/errors/index.ts";
import { removingKey, unusedKey } from "../../src/garbage/marks.ts";
import { referencesOf } from "../../src/garbage/references.ts";
import type { ObjectStore } from "../../src/storage/index.ts";
import { manualClock } from "../support/manual-clock.ts";
import { memoryObjectStore } from "../support/memory-object-store.ts";
import { DAY_MS, digest, type GarbageWorld, garbageWorld, HOUR_MS, source, workload } from "./garbage-world.ts";

const hello = workload("Function", "hello", { wants: "a" });
const [USED, UNUSED] = [source("hello", "a"), source("hello", "b")];

describe("garbage", () => {
  it("goes a day after it was found unused, and what is used stays", async () => {
    const world = garbageWorld({ workloads: [hello] });
    await world.put(USED, UNUSED);
    const first = await world.collect();
    expect(first).toMatchObject({ removed: { count: 0 }, waiting: { count: 1, bytes: UNUSED.length }, kept: 1 });
    expect(first.items).toEqual([
      {
        sort: "source",
        name: UNUSED,
        action: "wait",
        why: expect.stringContaining("nothing refers to it since 2026-01-01T00:00:00.000Z"),
        bytes: UNUSED.length,
        goes_at: "2026-01-02T00:00:00.000Z",
      },
    ]);
    world.clock.advance(DAY_MS - 1);
    expect(await world.collect()).toMatchObject({ removed: { count: 0 }, waiting: { count: 1 } });
    world.clock.advance(1);
    expect(await world.collect()).toMatchObject({ removed: { count: 1, bytes: UNUSED.length }, kept: 1 });
    expect(await world.keys()).toEqual([USED]);
    expect(await world.marks()).toEqual([]);
  });

  it("is told in a dry run, which writes nothing", async () => {
    const world = garbageWorld({ workloads: [hello] });
    await world.put(USED, UNUSED);
    expect(await world.collect({ dryRun: true })).toMatchObject({ dry_run: true, waiting: { count: 1 } });
    expect(await world.marks()).toEqual([]);
    await world.collect();
    world.clock.advance(DAY_MS);
    const { removed, items } = await world.collect({ dryRun: true });
    expect([removed.count, items[0]!.action]).toEqual([1, "remove"]);
    expect(await world.keys()).toEqual([USED, UNUSED]);
    expect(await world.marks()).toHaveLength(1);
  });

  it("begins its grace time anew when it was used in between", async () => {
    const world = garbageWorld({ workloads: [hello] });
    await world.put(USED, UNUSED);
    await world.collect();
    world.clock.advance(23 * HOUR_MS);
    world.objects.all[0] = workload("Function", "hello", { wants: "b" });
    expect(await world.collect()).toMatchObject({ waiting: { count: 1 }, kept: 1 });
    world.objects.all[0] = hello;
    world.clock.advance(2 * HOUR_MS);
    await world.collect();
    world.clock.advance(23 * HOUR_MS);
    expect(await world.collect()).toMatchObject({ removed: { count: 0 } });
    world.clock.advance(HOUR_MS);
    expect(await world.collect()).toMatchObject({ removed: { count: 1 } });
  });

  it("writes nothing while nothing changes", async () => {
    const clock = manualClock();
    const writes: string[] = [];
    const plain = memoryObjectStore({}, clock.now);
    const objects: ObjectStore = {
      ...plain,
      put: (key, body) => plain.put(key, body).finally(() => writes.push(`put ${key}`)),
      delete: (key) => plain.delete(key).finally(() => writes.push(`delete ${key}`)),
    };
    const world = garbageWorld({ workloads: [hello], objects });
    await world.put(USED, UNUSED);
    await world.collect();
    writes.length = 0;
    await world.collect();
    expect(writes).toEqual([]);
  });

  it("is not collected while the references cannot be read", async () => {
    const world = garbageWorld({ workloads: [hello] });
    await world.put(UNUSED);
    await world.collect();
    world.clock.advance(DAY_MS);
    world.objects.list = () => Promise.reject(new SlessError("cluster_unavailable", { cause: "it is away" }));
    await expect(world.collect()).rejects.toMatchObject({ code: "cluster_unavailable" });
    expect(await world.keys()).toEqual([UNUSED]);
  });

  it("of one place is collected though another one fails", async () => {
    const broken = {
      images: async function* () {
        yield* [];
        throw new SlessError("storage_unavailable", { what: "It", cause: "broken" });
      },
      bytesOf: async () => 0,
      removeImage: async () => false,
      removeLeftovers: async () => undefined,
    };
    const world = garbageWorld({ localImages: broken });
    await world.put(UNUSED);
    await world.collect();
    world.clock.advance(DAY_MS);
    const report = await world.collect();
    expect(report.failures).toEqual([
      { where: "the images of this machine", error: expect.stringContaining("broken") },
    ]);
    expect(report.removed.count).toBe(1);
  });

  it("forgets marks of what is gone", async () => {
    const world = garbageWorld();
    await world.put(UNUSED);
    await world.collect();
    await world.stored.delete(UNUSED);
    await world.collect();
    expect(await world.marks()).toEqual([]);
  });

  it("of a store that another installation uses too stays", async () => {
    const one = garbageWorld({ installation: "cluster-1" });
    await one.put(UNUSED);
    await one.collect();
    const two = garbageWorld({ installation: "cluster-2", objects: one.stored });
    await expect(two.collect({ dryRun: true })).rejects.toMatchObject({ code: "garbage_of_others" });
    await expect(two.collect()).rejects.toMatchObject({ code: "garbage_of_others" });
    one.clock.advance(DAY_MS);
    // What the one does not use the other may.
    await expect(one.collect()).rejects.toMatchObject({
      code: "garbage_of_others",
      message: expect.stringContaining("garbage/installations/cluster-2"),
    });
    expect(await one.keys()).toContain(UNUSED);
    await one.stored.delete("garbage/installations/cluster-2");
    expect(await one.collect()).toMatchObject({ removed: { count: 1 } });
  });

  it("of thousands of archives goes in one run, of which the first thousand are told", async () => {
    const world = garbageWorld({ workloads: [hello] });
    await world.put(USED);
    for (let index = 1; index <= 2_500; index++)
      await world.put(source(`f${index % 500}`, index.toString(16).padStart(8, "0")));
    await world.collect();
    world.clock.advance(DAY_MS);
    const { removed, items } = await world.collect();
    expect([removed.count, items.length]).toEqual([2_500, 1_000]);
    expect(await world.keys()).toEqual([USED]);
  });
});

/** A store that does something right after its n-th call of a method, once. */
function interrupted(stored: ObjectStore, method: "put" | "delete" | "list", at: number, act: () => Promise<void>) {
  let left = at;
  const after = async () => {
    left -= 1;
    if (left === 0) await act();
  };
  const store: ObjectStore = {
    ...stored,
    put: (key, body) => stored.put(key, body).finally(() => (method === "put" ? after() : undefined)),
    delete: (key) => stored.delete(key).finally(() => (method === "delete" ? after() : undefined)),
    async *list(prefix) {
      yield* stored.list(prefix);
      if (method === "list") await after();
    },
  };
  return { store, isOver: () => left > 0 };
}

/** A world in which the next run would remove one archive. */
async function ripe(objects?: ObjectStore): Promise<GarbageWorld> {
  const world = garbageWorld({ workloads: [workload("Function", "hello")], ...(objects ? { objects } : {}) });
  await world.put(UNUSED);
  await world.collect();
  world.clock.advance(DAY_MS);
  return world;
}

const methods = ["put", "delete", "list"] as const;

describe("whoever refers to an archive while it is being collected", () => {
  it.each(methods)("after whichever %s, it is there when he has been told so", async (method) => {
    for (let at = 1; ; at++) {
      const before = await ripe();
      let claim: Promise<unknown> | undefined;
      const { store, isOver } = interrupted(before.stored, method, at, async () => {
        // Not awaited: it may have to wait for the removal itself.
        claim = (async () => {
          if (!(await before.claiming.has(UNUSED))) await before.claiming.put(UNUSED, new Uint8Array(1));
          before.objects.all[0] = workload("Function", "hello", { wants: "b" });
        })();
        await Promise.race([claim, new Promise((done) => setImmediate(done))]);
      });
      const world = garbageWorld({ objects: store, store: before.objects, clock: before.clock });
      await world.collect();
      before.clock.advance(1_000);
      await claim;
      if (isOver()) break;
      expect(await before.keys(), `${method} ${at}`).toEqual([UNUSED]);
      await garbageWorld({ objects: before.stored, store: before.objects, clock: before.clock }).collect();
      expect(await before.keys()).toEqual([UNUSED]);
      expect(at).toBeLessThan(50);
    }
  });
});

describe("a run that is killed", () => {
  it.each(methods)("after whichever %s leaves nothing that the next one does not end", async (method) => {
    for (let at = 1; ; at++) {
      const before = await ripe();
      await before.put(USED);
      before.objects.all[0] = hello;
      const { store, isOver } = interrupted(before.stored, method, at, () => Promise.reject(new Error("killed")));
      const dead: ObjectStore = { ...store };
      await garbageWorld({ objects: dead, store: before.objects, clock: before.clock })
        .collect()
        .catch(() => undefined);
      if (isOver()) break;
      expect(await before.keys()).toContain(USED);
      // An announced removal of a dead process holds nobody up for long.
      before.clock.advance(11 * 60_000);
      expect(await before.claiming.has(USED)).toBe(true);
      await garbageWorld({ objects: before.stored, store: before.objects, clock: before.clock }).collect();
      before.clock.advance(DAY_MS);
      await garbageWorld({ objects: before.stored, store: before.objects, clock: before.clock }).collect();
      expect(await before.keys()).toEqual([USED]);
      expect(await before.marks()).toEqual([]);
      expect(at).toBeLessThan(50);
    }
  });
});

describe("a claim", () => {
  it("is refused when a removal does not end, and goes through once it is over", async () => {
    const world = await ripe();
    await world.stored.put(`garbage/marks/${UNUSED}/removing-20260102T000000000Z-abc`, new Uint8Array());
    const refused = world.claiming.has(UNUSED).catch((error: unknown) => error);
    for (let step = 0; step < 700; step++) {
      world.clock.advance(50);
      await new Promise((done) => setImmediate(done));
    }
    expect(isSlessError(await refused, "storage_unavailable")).toBe(true);
    world.clock.advance(5 * 60_000);
    expect(await world.claiming.has(UNUSED)).toBe(true);
  });

  it("is not refused for a removal that was announced before the clock was set back by a day", async () => {
    const world = garbageWorld();
    await world.put(UNUSED);
    await world.stored.put(removingKey(UNUSED, world.clock.now(), "abc"), new Uint8Array());
    world.clock.jump(-DAY_MS);
    expect(await world.claiming.has(UNUSED)).toBe(true);
    await world.collect();
    // The announcement is forgotten; that the thing is unused is what is said of it now.
    expect(await world.marks()).toEqual([unusedKey(UNUSED, world.clock.now())]);
  });

  it("of what nobody collects costs one look and no write", async () => {
    const calls: string[] = [];
    const plain = memoryObjectStore();
    const objects = new Proxy(plain, {
      get: (target, name: keyof ObjectStore) =>
        ((...args: [never, never]) => {
          calls.push(name);
          return target[name](...args);
        }) as never,
    });
    const world = garbageWorld({ objects });
    calls.length = 0;
    await world.claiming.has(USED);
    expect(calls).toEqual(["list", "has"]);
  });
});

describe("for whatever objects and archives there are", () => {
  const letter = fc.constantFrom(..."abcdef");
  const name = fc.constantFrom("one", "two", "three");
  const namespace = fc.constantFrom("demo", "other");
  const image = (text: string) => `registry.test/x@sha256:${digest(text)}`;
  const objects = fc.array(
    fc
      .record({
        kind: fc.constantFrom("Function" as const, "Service" as const, "FunctionJob" as const),
        name,
        namespace,
        wants: fc.option(letter, { nil: undefined }),
        serves: fc.option(letter, { nil: undefined }),
        history: fc.array(letter, { maxLength: 4 }),
      })
      .map(({ kind, name: of, history, wants, serves, namespace: within }) =>
        workload(kind, of, {
          namespace: within,
          history: history.map((one) => [one, image(one)] as const),
          ...(wants ? { wants } : {}),
          ...(serves ? { serves } : {}),
        }),
      ),
    { maxLength: 6 },
  );
  const archives = fc.uniqueArray(
    fc
      .tuple(fc.constantFrom("functions", "jobs"), namespace, name, letter)
      .map(([folder, within, of, text]) => `${folder}/${within}/${of}/${digest(text)}.zip`),
    { maxLength: 30 },
  );

  it("nothing that is referred to ever goes, and all else does after the grace time", async () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant("objects" as const), objects }),
      fc.record({ do: fc.constant("put" as const), archives }),
      fc.record({ do: fc.constant("wait" as const), hours: fc.integer({ min: 1, max: 30 }) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const world = garbageWorld();
        for (const one of steps) {
          if (one.do === "objects") world.objects.all.splice(0, Number.POSITIVE_INFINITY, ...one.objects);
          else if (one.do === "put") for (const key of one.archives) await world.claiming.put(key, new Uint8Array(1));
          else world.clock.advance(one.hours * HOUR_MS);
          const before = new Set(await world.keys());
          await world.collect();
          const { keys } = referencesOf(world.objects.all);
          const left = new Set(await world.keys());
          for (const key of keys.keys()) expect(left.has(key)).toBe(before.has(key));
        }
        const { keys } = referencesOf(world.objects.all);
        const expected = (await world.keys()).filter((key) => keys.has(key));
        world.clock.advance(DAY_MS);
        await world.collect();
        world.clock.advance(DAY_MS);
        await world.collect();
        expect(await world.keys()).toEqual(expected);
        expect(await world.marks()).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });
});
