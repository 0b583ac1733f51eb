import { expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { memoryStore } from "../support/memory-store.ts";
import { createFunction, KEY, reconcilersWorld } from "./reconcilers-world.ts";

const building = () => ({ phase: "building", startedAt: new Date(0), step: "reading the source" }) as const;

/** What the platform was asked to run while an image of a function without replicas is made. */
async function askedWhileBuilding(platform: { serving: number; current: boolean }): Promise<string[]> {
  const store = await memoryStore();
  const world = reconcilersWorld(store, {
    prepareStopped: true,
    buildState: building,
    platformState: () => platform,
  });
  await createFunction(store);
  await store.patch("Function", KEY, { spec: { replicas: 0 } }, { owner: "api" });
  const { idle } = await world.start();
  await eventually(
    "its build is told",
    () => store.get("Function", KEY),
    (seen) => seen?.status?.conditions?.some(({ reason }) => reason === "Building") === true,
  );
  await idle();
  return world.asked.filter((what) => what.startsWith("run "));
}

it("what is stopped already is not written again while its image is made", async () => {
  expect(await askedWhileBuilding({ serving: 0, current: true })).toEqual([]);
});

it.each([
  ["still serves", { serving: 1, current: false }],
  ["has replicas that do not serve yet", { serving: 0, current: false }],
])("what %s is stopped before its image is made", async (_name, state) => {
  expect(await askedWhileBuilding(state)).toContain("run Function/demo/hello");
});
