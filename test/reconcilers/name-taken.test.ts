import { expect, it } from "vitest";
import { type ObjectOf, sourceKey } from "../../src/apis/index.ts";
import type { ResourceStore } from "../../src/resources/index.ts";
import { eventually } from "../support/eventually.ts";
import { memoryStore } from "../support/memory-store.ts";
import { createFunction, KEY, reconcilersWorld, untilReady } from "./reconcilers-world.ts";

/** As kubectl makes it, which does not look at Functions. */
function createService(store: ResourceStore): Promise<ObjectOf<"Service">> {
  const s3Key = sourceKey({ kind: "Service", ...KEY }, "0".repeat(64));
  return store.create({ kind: "Service", metadata: KEY, spec: { runtime: "python3.11", s3Key } }, { owner: "api" });
}

const untilService = (store: ResourceStore, reason: string) =>
  eventually(
    `the Service says ${reason}`,
    () => store.get("Service", KEY),
    (seen) => seen?.status?.conditions?.find(({ type }) => type === "Ready")?.reason === reason,
  );

/** Of the same second the Service would have the name. */
async function aSecondLater(fn: ObjectOf<"Function">): Promise<void> {
  const next = Date.parse(fn.metadata.creationTimestamp) + 1_000;
  await eventually(
    "a second passed",
    () => Date.now(),
    (now) => now > next,
  );
}

it("a Service with the name of a Function waits, runs nothing, and takes over when the Function goes", async () => {
  const store = await memoryStore();
  const world = reconcilersWorld(store);
  const { idle } = await world.start();
  const fn = await createFunction(store);
  await untilReady(store, fn.metadata.uid);
  await aSecondLater(fn);
  await createService(store);
  const waiting = await untilService(store, "NameTaken");
  await idle();
  expect(waiting?.status).toMatchObject({ phase: "Failed" });
  expect(waiting?.status?.url).toBeUndefined();
  expect(world.asked).not.toContain("run Service/demo/hello");
  expect((await store.get("Function", KEY))?.status?.phase).toBe("Ready");
  await store.delete("Function", KEY);
  const serving = await untilService(store, "Ready");
  expect(serving?.status?.url).toBeDefined();
  expect(world.asked).toContain("run Service/demo/hello");
});
