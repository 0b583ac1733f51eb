import { expect, it } from "vitest";
import { FINALIZER, refText, type WorkloadRef } from "../../src/apis/index.ts";
import { eventually } from "../support/eventually.ts";
import { memoryStore } from "../support/memory-store.ts";
import { createFunction, KEY, reconcilersWorld, untilGone, untilReady } from "./reconcilers-world.ts";

const HELLO = "Function/demo/hello";

it("an object that kubectl made is held by one patch before anything is made for it", async () => {
  const store = await memoryStore();
  const world = reconcilersWorld(store);
  await world.start();
  const { metadata } = await createFunction(store, ["example.com/other"]);
  await untilReady(store, metadata.uid);
  expect(world.asked.slice(0, 3)).toEqual([`patch ${HELLO}`, `build ${HELLO}`, `run ${HELLO}`]);
  expect(world.asked.filter((line) => line.startsWith("patch"))).toHaveLength(1);
  expect((await store.get("Function", KEY))?.metadata.finalizers?.toSorted()).toEqual(["example.com/other", FINALIZER]);
});

it("an object that is born with the finalizer costs no patch", async () => {
  const store = await memoryStore();
  const world = reconcilersWorld(store);
  await world.start();
  const { metadata } = await createFunction(store, [FINALIZER]);
  await untilReady(store, metadata.uid);
  expect(world.asked).not.toContain(`patch ${HELLO}`);
});

it("an object that is deleted while no controller runs is cleaned up after at the next start", async () => {
  const store = await memoryStore();
  const world = reconcilersWorld(store);
  const { stop } = await world.start();
  const { metadata } = await createFunction(store, [FINALIZER]);
  await untilReady(store, metadata.uid);
  await stop();
  expect(await store.delete("Function", KEY)).toBe("terminating");
  world.asked.length = 0;
  await world.start();
  await untilGone(store, "Function");
  expect(world.asked.slice(0, 3)).toEqual([`cancel ${HELLO}`, `remove ${HELLO}`, `patch ${HELLO}`]);
});

it("what runs of an object that went without a finalizer is swept at the start", async () => {
  const world = reconcilersWorld(await memoryStore());
  world.kept.push({ kind: "Service", ...KEY });
  await world.start();
  await eventually(
    "the sweep",
    () => world.asked,
    (asked) => asked.includes("remove Service/demo/hello"),
  );
});

it.each([
  { gone: false, ends: [] },
  { gone: true, ends: [`cancel ${HELLO}`, `remove ${HELLO}`] },
])("what runs of an object that is missing in memory ends only if it is gone: $gone", async ({ gone, ends }) => {
  const questions: string[] = [];
  const isGone = async (ref: WorkloadRef) => {
    questions.push(refText(ref));
    return gone;
  };
  const world = reconcilersWorld(await memoryStore(), { isGone });
  world.kept.push({ kind: "Function", ...KEY });
  const { idle } = await world.start();
  await idle();
  expect(questions).toEqual([HELLO]);
  expect(world.asked).toEqual(ends);
});

it("an object stays until its workload is removed, and a fault is tried again", async () => {
  const store = await memoryStore();
  const world = reconcilersWorld(store);
  let tries = 0;
  world.faults.remove = async () => {
    tries += 1;
    expect((await store.get("Function", KEY))?.metadata.finalizers).toEqual([FINALIZER]);
    if (tries < 3) throw new Error("the platform is away");
  };
  await world.start();
  const { metadata } = await createFunction(store, [FINALIZER]);
  await untilReady(store, metadata.uid);
  await store.delete("Function", KEY);
  await untilGone(store, "Function");
  expect(tries).toBeGreaterThanOrEqual(3);
});

it("a finalizer of somebody else is left, and nothing is made for what terminates", async () => {
  const store = await memoryStore();
  const world = reconcilersWorld(store);
  await world.start();
  const { metadata } = await createFunction(store, [FINALIZER, "example.com/other"]);
  await untilReady(store, metadata.uid);
  await store.delete("Function", KEY);
  await eventually(
    "our finalizer goes",
    () => store.get("Function", KEY),
    (seen) => seen?.metadata.finalizers?.length === 1,
  );
  world.asked.length = 0;
  await store.patch("Function", KEY, { metadata: { labels: { a: "b" } }, spec: { memoryMB: 256 } }, { owner: "api" });
  await eventually(
    "it is looked at again",
    () => world.asked,
    (asked) => asked.includes(`remove ${HELLO}`),
  );
  expect(world.asked.some((line) => /^(build|run)/.test(line))).toBe(false);
  await store.patch("Function", KEY, { metadata: { finalizers: [] } }, { owner: "api" });
  await untilGone(store, "Function");
});

it("an object that is made anew right after its deletion runs", async () => {
  const store = await memoryStore();
  const world = reconcilersWorld(store);
  await world.start();
  const first = await createFunction(store, [FINALIZER]);
  await untilReady(store, first.metadata.uid);
  await store.delete("Function", KEY);
  await untilGone(store, "Function");
  const second = await createFunction(store, [FINALIZER]);
  await untilReady(store, second.metadata.uid);
  expect(world.asked.lastIndexOf(`run ${HELLO}`)).toBeGreaterThan(world.asked.lastIndexOf(`remove ${HELLO}`));
});

it.each([["Service"], ["FunctionJob"]] as const)("a %s is cleaned up after too", async (kind) => {
  const store = await memoryStore();
  const world = reconcilersWorld(store);
  await world.start();
  const spec = { runtime: "python3.11" };
  await store.create({ kind, metadata: KEY, spec }, { owner: "api" });
  await eventually(
    "it is held",
    () => store.get(kind, KEY),
    (seen) => seen?.metadata.finalizers?.[0] === FINALIZER,
  );
  expect(await store.delete(kind, KEY)).toBe("terminating");
  await untilGone(store, kind);
  expect(world.asked).toContain(`remove ${kind}/demo/hello`);
});
