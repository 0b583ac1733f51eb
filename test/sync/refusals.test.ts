import { expect, it } from "vitest";
import { ANNOTATIONS, findCondition, type ObjectOf } from "../../src/apis/index.ts";
import { type ErrorCode, SlessError } from "../../src/errors/index.ts";
import type { ResourceStore } from "../../src/resources/index.ts";
import { functionFolder, functionYaml, triggerYaml } from "../support/function-files.ts";
import { manyLabels } from "../support/function-intent.ts";
import { type SyncWorld, syncWorld } from "./sync-world.ts";

const YAML = "functions/hello/function.yaml";
const FILES = { ...functionFolder("hello"), ...functionFolder("other") };
const larger = (memoryMB: number) => ({
  [YAML]: functionYaml("hello", { memoryMB }) + triggerYaml("hello-http", "hello"),
});

/** A policy of the store against changes of hello's spec, deletions and statuses of it, as a webhook's on a cluster. */
function policy() {
  const refuses: Partial<Record<"apply" | "delete" | "updateStatus", SlessError>> = {};
  const isHello = ({ name }: { name: string }) => name === "hello";
  const wrap = (store: ResourceStore): ResourceStore => ({
    ...store,
    async apply(intent, options) {
      if (refuses.apply && isHello(intent.metadata) && intent.kind === "Function") throw refuses.apply;
      return store.apply(intent, options);
    },
    async delete(kind, key, options) {
      if (refuses.delete && isHello(key)) throw refuses.delete;
      return store.delete(kind, key, options);
    },
    async updateStatus(object, status, options) {
      if (refuses.updateStatus && isHello(object.metadata)) throw refuses.updateStatus;
      return store.updateStatus(object, status, options);
    },
  });
  return { refuses, wrap };
}
const refusal = (cause = "hello is frozen", code: ErrorCode = "cluster_refused") => new SlessError(code, { cause });

const applied = async (world: SyncWorld, name = "hello") =>
  findCondition((await world.get("Function", name))?.status?.conditions, "Applied");

async function refusedWorld(error = refusal()) {
  const { refuses, wrap } = policy();
  const world = await syncWorld(FILES, { store: wrap });
  await world.sync();
  refuses.apply = error;
  await world.git.commit("more memory", larger(256));
  world.writes();
  return { world, refuses };
}

it.each<[ErrorCode, string]>([
  ["cluster_refused", "AdmissionRefused"],
  ["invalid_request", "Invalid"],
  ["too_large", "TooLarge"],
  ["forbidden", "Forbidden"],
])("an object that is refused with %s is told so itself, once, and is not changed", async (code, reason) => {
  const { world } = await refusedWorld(refusal("hello is frozen", code));
  const before = await world.get("Function", "hello");
  await world.sync();
  expect(world.writes()).toEqual(["apply Function/demo/hello", "status Function/demo/hello", "status"]);
  const after = await world.get("Function", "hello");
  const { resourceVersion: _, ...metadata } = after!.metadata;
  expect(before!.metadata).toMatchObject(metadata);
  expect(after?.spec).toEqual(before?.spec);
  expect(await applied(world)).toMatchObject({
    status: "False",
    reason,
    message: expect.stringMatching(`^It stays as it was, for what ${YAML} wants of it was refused: `),
    observedGeneration: metadata.generation,
  });
  expect(await applied(world, "other")).toBeUndefined();
  await world.restart();
  await world.sync();
  expect(world.writes()).toEqual(["apply Function/demo/hello"]);
});

it("another reason is told anew, and its time stays that of the first", async () => {
  const { world, refuses } = await refusedWorld();
  await world.sync();
  const first = await applied(world);
  world.clock.advance(60_000);
  refuses.apply = refusal("it is Monday");
  await world.sync();
  expect(await applied(world)).toMatchObject({
    message: expect.stringContaining("it is Monday"),
    lastTransitionTime: first?.lastTransitionTime,
  });
});

it("what is let in again is told no more", async () => {
  const { world, refuses } = await refusedWorld();
  await world.sync();
  delete refuses.apply;
  world.writes();
  await world.sync();
  expect(world.writes()).toEqual(["apply Function/demo/hello", "status Function/demo/hello", "status"]);
  expect((await world.get("Function", "hello"))?.spec.memoryMB).toBe(256);
  expect(await applied(world)).toBeUndefined();
  await world.sync();
  expect(world.writes()).toEqual([]);
});

it("what is no longer wanted is told no more, also after a restart", async () => {
  const { world } = await refusedWorld();
  await world.sync();
  await world.restart();
  await world.git.commit("as it was", functionFolder("hello"));
  world.writes();
  await world.sync();
  expect(world.writes()).toEqual(["status Function/demo/hello", "status"]);
  expect(await applied(world)).toBeUndefined();
});

it("of an object that does not exist the Repository alone tells", async () => {
  const { refuses, wrap } = policy();
  const world = await syncWorld(functionFolder("other"), { store: wrap });
  await world.sync();
  refuses.apply = refusal();
  await world.git.commit("new", functionFolder("hello"));
  world.writes();
  await world.sync();
  expect(world.writes()).toEqual(["apply Function/demo/hello", "apply Trigger/demo/hello-http", "status"]);
  expect(await world.ready()).toBe("False ReconciliationFailed");
});

it("an object whose deletion is refused is told so itself, and why", async () => {
  const { refuses, wrap } = policy();
  const world = await syncWorld(FILES, { store: wrap });
  await world.sync();
  refuses.delete = refusal();
  await world.git.commit("no hello", { "functions/hello": null });
  await world.sync();
  expect(await world.ready()).toBe("False PruneFailed");
  expect(await applied(world)).toMatchObject({
    status: "False",
    message: expect.stringMatching(/^Its deletion was refused: .*hello is frozen/),
  });
  delete refuses.delete;
  await world.sync();
  expect(await world.get("Function", "hello")).toBeUndefined();
});

it("while a change is refused as invalid nothing is deleted: it may be what takes the place of the deleted", async () => {
  const { world, refuses } = await refusedWorld(refusal("no", "invalid_request"));
  await world.git.commit("no other", { "functions/other": null });
  await world.sync();
  expect(await world.names()).toContain("Function/demo/other");
  delete refuses.apply;
  await world.restart();
  await world.sync();
  expect(await world.names()).not.toContain("Function/demo/other");
});

it("a status that others write meanwhile loses nothing", async () => {
  const { refuses, wrap } = policy();
  let interfere: (() => Promise<unknown>) | undefined;
  const world = await syncWorld(FILES, {
    store: (plain) => {
      const store = wrap(plain);
      return {
        ...store,
        async updateStatus(object, status, options) {
          await interfere?.();
          return store.updateStatus(object, status, options);
        },
      };
    },
  });
  await world.sync();
  refuses.apply = refusal();
  await world.git.commit("more memory", larger(256));
  interfere = async () => {
    interfere = undefined;
    const live = (await world.get("Function", "hello")) as ObjectOf<"Function">;
    await world.store.updateStatus(live, { ...live.status, phase: "Ready" });
  };
  await world.sync();
  expect((await world.get("Function", "hello"))?.status?.phase).toBe("Ready");
  expect(await applied(world)).toMatchObject({ status: "False" });
});

it("who refuses the status too changes nothing of what the Repository tells", async () => {
  const { world, refuses } = await refusedWorld();
  refuses.updateStatus = refusal("no statuses either");
  await world.sync();
  expect(await applied(world)).toBeUndefined();
  expect(await world.ready()).toBe("False ReconciliationFailed");
  expect(JSON.stringify(await world.status())).toContain("hello is frozen");
});

it("a store that is gone meanwhile is no refusal: the run is told as failed and made again", async () => {
  const { world, refuses } = await refusedWorld();
  refuses.updateStatus = new SlessError("storage_unavailable", { cause: "gone" });
  expect(await world.sync()).toMatchObject({ kind: "backOff" });
  delete refuses.updateStatus;
  await world.sync();
  expect(await applied(world)).toMatchObject({ status: "False" });
});

it("an object that outlives its Repository keeps nothing of it", async () => {
  const { world } = await refusedWorld();
  await world.sync();
  await world.store.delete("Repository", { namespace: "demo", name: "site" });
  await world.sync();
  expect(await applied(world)).toBeUndefined();
  expect((await world.get("Function", "hello"))?.metadata.annotations?.[ANNOTATIONS.owner]).toBeUndefined();
});

it("a change that makes an object too large for the store is told at the object", async () => {
  const world = await syncWorld(FILES);
  await world.sync();
  const labels = manyLabels(4_100);
  await world.store.patch("Function", { namespace: "demo", name: "hello" }, { metadata: { labels } }, { owner: "api" });
  const env = Object.fromEntries(Array.from({ length: 2 }, (_, n) => [`A${n}`, "v".repeat(30_000)]));
  await world.git.commit("much", { [YAML]: functionYaml("hello", { env }) });
  await world.sync();
  expect(await applied(world)).toMatchObject({ reason: "TooLarge" });
});
