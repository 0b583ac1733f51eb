import { expect, it } from "vitest";
import { SlessError } from "../../src/errors/index.ts";
import { eventually } from "../support/eventually.ts";
import { memoryStore } from "../support/memory-store.ts";
import { createFunction, KEY, reconcilersWorld } from "./reconcilers-world.ts";

async function askedWith(options: Parameters<typeof reconcilersWorld>[1] & { failure: { reason: string } }) {
  const store = await memoryStore();
  const world = reconcilersWorld(store, options);
  await createFunction(store);
  const { idle } = await world.start();
  await eventually(
    "the failure is told",
    () => store.get("Function", KEY),
    (seen) => seen?.status?.conditions?.some(({ reason }) => reason === options.failure.reason) === true,
  );
  await idle();
  return world.asked.filter((what) => what.startsWith("has "));
}

it("an image that nodes do not get is looked for, so that one that is gone is made anew", async () => {
  const failure = { reason: "ImagePullBackOff", message: "not found" };
  expect(await askedWith({ failure, hasImage: async () => false })).toContain("has image@sha256:1");
});

it("a registry that cannot be asked then changes nothing of what is told", async () => {
  const failure = { reason: "ImagePullBackOff", message: "not found" };
  const hasImage = () => Promise.reject(new SlessError("registry_unavailable", { host: "r", cause: "down" }));
  expect(await askedWith({ failure, hasImage })).toContain("has image@sha256:1");
});

it("what fails for another reason asks no registry", async () => {
  expect(await askedWith({ failure: { reason: "CrashLoopBackOff", message: "exit 1" } })).toEqual([]);
});
