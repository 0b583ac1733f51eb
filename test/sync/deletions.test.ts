import { describe, expect, it } from "vitest";
import { ANNOTATIONS, LABELS, type ObjectRef, refText } from "../../src/apis/index.ts";
import { SlessError } from "../../src/errors/index.ts";
import type { ResourceStore } from "../../src/resources/index.ts";
import { approveDeletions, heldDeletions } from "../../src/sync/index.ts";
import { functionFolder, functionYaml, handler } from "../support/function-files.ts";
import { KEY, type SyncWorld, syncWorld } from "./sync-world.ts";

const NAMES = ["a", "b", "c", "d", "e", "f"];

/** Functions alone, one object per folder. */
function functions(names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => [
      [`${name}/function.yaml`, functionYaml(name)],
      [`${name}/handler.py`, handler(name)],
    ]),
  );
}

/** A synced world of six functions, of which `gone` were then removed from Git, and a second sync. */
async function afterRemoving(
  gone: readonly string[],
  wrap?: (store: ResourceStore) => ResourceStore,
): Promise<SyncWorld> {
  const world = await syncWorld({ ...functions(NAMES), "README.md": "" }, wrap ? { store: wrap } : {});
  await world.sync();
  await world.git.commit("remove", Object.fromEntries(gone.map((name) => [name, null])));
  await world.sync();
  return world;
}

const held = async (world: SyncWorld) => (await heldDeletions(world.store, KEY)).map(({ ref }) => ref.name);

describe("deletions within the guard", () => {
  it("are done last, triggers first, and told", async () => {
    const world = await syncWorld({ ...functionFolder("one"), ...functionFolder("two") });
    await world.sync();
    world.writes();
    world.events.length = 0;
    await world.git.commit("swap", { "functions/one": null, ...functionFolder("three") });
    await world.sync();
    expect(world.writes()).toEqual([
      "apply Function/demo/three",
      "apply Trigger/demo/three-http",
      "delete Trigger/demo/one-http",
      "delete Function/demo/one",
      "status",
    ]);
    const deleted = world.events.filter(({ step }) => step === "deleted");
    expect(deleted).toMatchObject([{ object: { name: "one-http" } }, { object: { name: "one" } }]);
    expect((await world.status()).inventory).toEqual({ count: 4 });
  });

  it("an object that opted out of pruning stays, and the revision counts as applied", async () => {
    const world = await syncWorld(functions(NAMES));
    await world.git.commit("opt out", {
      "a/function.yaml": functionYaml("a", {}, { [ANNOTATIONS.prune]: "disabled" }),
    });
    await world.sync();
    await world.git.commit("remove", { a: null, b: null });
    await world.sync();
    expect(await world.names()).toEqual(["a", "c", "d", "e", "f"].map((name) => `Function/demo/${name}`));
    expect(await world.ready()).toBe("True ReconciliationSucceeded");
  });

  it("an object that copied the label of another is not pruned (lesson 6)", async () => {
    const world = await syncWorld(functions(NAMES));
    await world.sync();
    const { labels, annotations } = (await world.get("Function", "a"))!.metadata;
    const copy = {
      kind: "Function" as const,
      metadata: { name: "copy", namespace: "demo", labels: labels!, annotations: annotations! },
      spec: { runtime: "python3.11" },
    };
    await world.store.create(copy, { owner: "api" });
    await world.git.commit("touch", { "README.md": "x" });
    await world.sync();
    expect(await world.names()).toContain("Function/demo/copy");
  });
});

describe("deletions beyond the guard", () => {
  it("are held, marked and told, and the applied revision stays (lesson 3)", async () => {
    const world = await afterRemoving(["a", "b", "c", "d"]);
    expect(await world.names()).toHaveLength(6);
    expect(await held(world)).toEqual(["a", "b", "c", "d"]);
    expect(await world.ready()).toBe("False DeletionsHeld");
    const status = await world.status();
    expect(status.plan?.counts.hold).toBe(4);
    expect(status.lastAppliedRevision).toBe(`main@sha1:${world.git.head}`);
    expect(status.lastAttemptedRevision).not.toBe(status.lastAppliedRevision);
  });

  it("a second look at held deletions writes nothing", async () => {
    const world = await afterRemoving(["a", "b", "c", "d"]);
    world.writes();
    world.events.length = 0;
    await world.sync();
    await world.restart();
    await world.sync();
    expect(world.writes()).toEqual([]);
    expect(world.events).toEqual([]);
  });

  it("an approval deletes exactly the held objects", async () => {
    const world = await afterRemoving(["a", "b", "c", "d"]);
    const approved = await approveDeletions(world.store, KEY);
    expect(approved.map(refText)).toEqual(["a", "b", "c", "d"].map((name) => `Function/demo/${name}`));
    await world.sync();
    expect(await world.names()).toEqual(["Function/demo/e", "Function/demo/f"]);
    expect(await world.ready()).toBe("True ReconciliationSucceeded");
  });

  it("a later commit does not void an approval", async () => {
    const world = await afterRemoving(["a", "b", "c", "d"]);
    await approveDeletions(world.store, KEY);
    await world.git.commit("more", { ...functions(["g"]), "README.md": "more" });
    await world.sync();
    expect(await world.names()).toEqual(["e", "f", "g"].map((name) => `Function/demo/${name}`));
  });

  it("deletions that come after an approval are held anew", async () => {
    const world = await afterRemoving(["a", "b", "c", "d"]);
    await world.setSpec({ deletionGuard: { maxDeletions: 0 } });
    await approveDeletions(world.store, KEY);
    await world.git.commit("more", { e: null });
    await world.sync();
    expect(await world.names()).toEqual(["Function/demo/e", "Function/demo/f"]);
    expect(await held(world)).toEqual(["e"]);
  });

  it("an approval of some leaves the others held", async () => {
    const world = await afterRemoving(["a", "b", "c", "d"]);
    const some = (await heldDeletions(world.store, KEY)).filter(({ ref }) => ref.name < "c");
    expect(await approveDeletions(world.store, KEY, some)).toHaveLength(2);
    await world.setSpec({ deletionGuard: { maxDeletions: 0 } });
    await world.sync();
    expect(await held(world)).toEqual(["c", "d"]);
  });

  it("an approval covers the very object, not a later one of its name", async () => {
    const world = await afterRemoving(["a", "b", "c", "d"]);
    const seen = await heldDeletions(world.store, KEY);
    const { labels, annotations } = (await world.get("Function", "a"))!.metadata;
    await world.store.delete("Function", { namespace: "demo", name: "a" });
    const again = {
      kind: "Function" as const,
      metadata: { name: "a", namespace: "demo", labels: labels!, annotations: annotations! },
      spec: { runtime: "python3.11" },
    };
    await world.store.create(again, { owner: "api" });
    expect((await approveDeletions(world.store, KEY, seen)).map(({ name }) => name)).toEqual(["b", "c", "d"]);
  });

  it("what is not held cannot be approved", async () => {
    const world = await afterRemoving(["a", "b", "c", "d"]);
    const { uid } = (await world.get("Function", "f"))!.metadata;
    const ref: ObjectRef = { kind: "Function", namespace: "demo", name: "f" };
    expect(await approveDeletions(world.store, KEY, [{ ref, uid }])).toEqual([]);
    await expect(approveDeletions(world.store, { ...KEY, name: "none" })).rejects.toMatchObject({ code: "not_found" });
  });

  it("files that come back lose the marks, an approval too", async () => {
    const world = await afterRemoving(["a", "b", "c", "d"]);
    await approveDeletions(world.store, KEY);
    await world.git.commit("restore", functions(NAMES));
    await world.sync();
    expect(await world.names()).toHaveLength(6);
    for (const name of NAMES) {
      const { labels, annotations } = (await world.get("Function", name))!.metadata;
      expect(labels).not.toHaveProperty([LABELS.deletion]);
      expect(annotations).not.toHaveProperty([ANNOTATIONS.deletionApproved]);
    }
    expect(await world.ready()).toBe("True ReconciliationSucceeded");
    expect((await world.status()).plan?.counts.hold).toBe(0);
  });

  it("pruning that was switched off takes the marks away", async () => {
    const world = await afterRemoving(["a", "b", "c", "d"]);
    await world.setSpec({ prune: false });
    await world.sync();
    expect(await held(world)).toEqual([]);
    expect(await world.names()).toHaveLength(6);
    expect(await world.ready()).toBe("True ReconciliationSucceeded");
  });

  it("moves do not count, for identities are counted and not files (lesson 3)", async () => {
    const world = await syncWorld(functions(NAMES));
    await world.sync();
    for (const name of NAMES) await world.git.git("mv", name, `moved-${name}`);
    await world.git.commit("move all", {});
    await world.sync();
    expect(await world.names()).toHaveLength(6);
    expect(await world.ready()).toBe("True ReconciliationSucceeded");
  });
});

describe("what stands in the way of a deletion", () => {
  it("a failed delete leaves the object in the inventory, and is tried again (lesson 5)", async () => {
    let isFailing = true;
    const world = await afterRemoving(["a"], (store) => ({
      ...store,
      delete: async (kind, key, options) => {
        if (isFailing) throw new SlessError("conflict", { what: "it" });
        return store.delete(kind, key, options);
      },
    }));
    expect(await world.ready()).toBe("False PruneFailed");
    expect((await world.status()).inventory).toEqual({ count: 6 });
    expect((await world.status()).lastAppliedRevision).toBe(`main@sha1:${world.git.head}`);
    isFailing = false;
    await world.sync();
    expect(await world.ready()).toBe("True ReconciliationSucceeded");
    expect((await world.status()).inventory).toEqual({ count: 5 });
  });

  it("a status that was written meanwhile is no reason to leave an object", async () => {
    let isFirst = true;
    const world = await afterRemoving(["a"], (store) => ({
      ...store,
      delete: async (kind, key, options) => {
        if (isFirst) await store.updateStatus((await store.get("Function", key))!, { phase: "Pending" });
        isFirst = false;
        return store.delete(kind, key, options);
      },
    }));
    expect(await world.names()).not.toContain("Function/demo/a");
  });

  it("an object that left the repository meanwhile is not deleted", async () => {
    const world = await afterRemoving(["a"], (store) => ({
      ...store,
      get: async (kind, key) => {
        const isStale = key.name === "a" && (await store.list("Repository")).items[0]?.status?.lastAppliedRevision;
        if (isStale)
          await store.patch(
            "Function",
            key,
            { metadata: { annotations: { [ANNOTATIONS.owner]: null } } },
            { owner: "api" },
          );
        return store.get(kind, key);
      },
    }));
    expect(await world.names()).toContain("Function/demo/a");
  });

  it("an object with a finalizer is deleted once, and told once", async () => {
    const world = await syncWorld(functions(NAMES), { reconcilers: false });
    await world.sync();
    world.events.length = 0;
    world.writes();
    await world.git.commit("remove", { a: null });
    await world.sync();
    await world.sync();
    expect(world.writes()).toEqual(["delete Function/demo/a", "status"]);
    expect(world.events.filter(({ step }) => step === "deleted")).toHaveLength(1);
    expect((await world.status()).inventory).toEqual({ count: 5 });
  });
});
