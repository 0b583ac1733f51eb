import { expect, it } from "vitest";
import { ANNOTATIONS } from "../../src/apis/index.ts";
import type { ResourceStore } from "../../src/resources/index.ts";
import { functionFolder } from "../support/function-files.ts";
import { KEY, syncWorld } from "./sync-world.ts";

const NAMED = { namespace: KEY.namespace, name: "hello" };

/** A store in which somebody writes right before the next apply of the function, after all that sync reads. */
function interrupted(write: (store: ResourceStore) => Promise<unknown>) {
  let isDone = false;
  return (store: ResourceStore): ResourceStore => ({
    ...store,
    async apply(intent, options) {
      if (!isDone && intent.kind === "Function") {
        isDone = true;
        await write(store);
      }
      return store.apply(intent, options);
    },
  });
}

it("an object that somebody creates between plan and write is not overwritten, but told", async () => {
  const create = (store: ResourceStore) =>
    store.create<"Function">(
      { kind: "Function", metadata: NAMED, spec: { runtime: "nodejs20", memoryMB: 512 } },
      { owner: "api" },
    );
  const world = await syncWorld(functionFolder("hello"), { store: interrupted(create) });
  await world.sync();
  await world.sync();
  expect(await world.get("Function", "hello")).toMatchObject({ spec: { runtime: "nodejs20", memoryMB: 512 } });
  expect((await world.status()).diagnostics?.items).toMatchObject([{ code: "not_adopted" }]);
});

it("an object that somebody changes while it is about to be adopted is not overwritten, but told", async () => {
  const change = (store: ResourceStore) =>
    store.patch("Function", NAMED, { spec: { memoryMB: 512 } }, { owner: "api" });
  const first = await syncWorld(functionFolder("hello"));
  await first.sync();
  const { spec } = (await first.get("Function", "hello"))!;
  const world = await syncWorld(functionFolder("hello"), { store: interrupted(change) });
  await world.store.create<"Function">({ kind: "Function", metadata: NAMED, spec }, { owner: "api" });
  await world.sync();
  await world.sync();
  const live = await world.get("Function", "hello");
  expect(live?.spec.memoryMB).toBe(512);
  expect(live?.metadata.annotations?.[ANNOTATIONS.owner]).toBeUndefined();
  expect((await world.status()).diagnostics?.items).toMatchObject([{ code: "not_adopted" }]);
});
