import { expect, it } from "vitest";
import { FINALIZER } from "../../src/apis/index.ts";
import { withFinalizer, withoutFinalizer } from "../../src/controller/index.ts";
import { functionIntent } from "../support/function-intent.ts";
import { memoryStore } from "../support/memory-store.ts";

const OTHER = "example.com/other";

it("an object is held once, and finalizers of others stay", async () => {
  const store = await memoryStore();
  const made = await store.create(functionIntent("demo", "hello", { metadata: { finalizers: [OTHER] } }), {
    owner: "api",
  });
  const held = await withFinalizer(made, store, "reconciler");
  expect(held.metadata.finalizers?.toSorted()).toEqual([OTHER, FINALIZER]);
  expect(await withFinalizer(held, store, "reconciler")).toBe(held);
});

it("an object that was changed since it was read is not held over the change", async () => {
  const store = await memoryStore();
  const made = await store.create(functionIntent("demo", "hello"), { owner: "api" });
  await store.patch("Function", made.metadata, { metadata: { finalizers: [OTHER] } }, { owner: "api" });
  await expect(withFinalizer(made, store, "reconciler")).rejects.toMatchObject({ code: "conflict" });
  await expect(store.get("Function", made.metadata)).resolves.toMatchObject({ metadata: { finalizers: [OTHER] } });
});

it("a terminating object that is let go is gone, and letting it go again is no error", async () => {
  const store = await memoryStore();
  const made = await store.create(functionIntent("demo", "hello", { metadata: { finalizers: [FINALIZER] } }), {
    owner: "api",
  });
  await store.delete("Function", made.metadata);
  const going = (await store.get("Function", made.metadata))!;
  await withoutFinalizer(going, store, "reconciler");
  expect(await store.get("Function", made.metadata)).toBeUndefined();
  await expect(withoutFinalizer(going, store, "reconciler")).resolves.toBeUndefined();
});
