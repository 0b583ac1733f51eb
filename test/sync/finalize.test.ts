import { describe, expect, it } from "vitest";
import { ANNOTATIONS, FINALIZER, LABELS } from "../../src/apis/index.ts";
import { SlessError } from "../../src/errors/index.ts";
import { functionFolder, functionYaml } from "../support/function-files.ts";
import { KEY, syncWorld } from "./sync-world.ts";

describe("a Repository that is deleted", () => {
  it("leaves its objects as they are, without our marks (Orphan, the default)", async () => {
    const world = await syncWorld(functionFolder("hello"));
    await world.sync();
    expect((await world.repository()).metadata.finalizers).toEqual([FINALIZER]);
    const before = (await world.get("Function", "hello"))!;
    expect(await world.store.delete("Repository", KEY)).toBe("terminating");
    expect(await world.sync()).toEqual({ kind: "done" });
    expect(await world.repository()).toBeUndefined();
    const after = (await world.get("Function", "hello"))!;
    expect(after.spec).toEqual(before.spec);
    expect(after.metadata.uid).toBe(before.metadata.uid);
    expect(Object.keys(after.metadata.labels ?? {})).not.toContain(LABELS.repository);
    for (const name of [ANNOTATIONS.owner, ANNOTATIONS.path, ANNOTATIONS.revision, ANNOTATIONS.appliedHash])
      expect(after.metadata.annotations ?? {}).not.toHaveProperty([name]);
  });

  it("takes its objects with it when its policy says so, but for those that opted out", async () => {
    const world = await syncWorld(
      {
        ...functionFolder("hello"),
        ...functionFolder("kept"),
        "functions/kept/function.yaml": functionYaml("kept", {}, { [ANNOTATIONS.prune]: "disabled" }),
      },
      { spec: { deletionPolicy: "Delete" } },
    );
    await world.sync();
    await world.store.delete("Repository", KEY);
    await world.sync();
    expect(await world.names()).toEqual(["Function/demo/kept"]);
    expect((await world.get("Function", "kept"))!.metadata.annotations).not.toHaveProperty([ANNOTATIONS.owner]);
    expect(await world.repository()).toBeUndefined();
  });

  it("stays until all its objects are looked after", async () => {
    let isFailing = true;
    const world = await syncWorld(functionFolder("hello"), {
      spec: { deletionPolicy: "Delete" },
      store: (store) => ({
        ...store,
        delete: async (kind, key, options) => {
          if (isFailing && kind === "Function")
            throw new SlessError("storage_unavailable", { what: "it", cause: "full" });
          return store.delete(kind, key, options);
        },
      }),
    });
    await world.sync();
    await world.store.delete("Repository", KEY);
    await expect(world.sync()).rejects.toMatchObject({ code: "storage_unavailable" });
    expect(await world.repository()).toBeDefined();
    isFailing = false;
    await world.sync();
    expect(await world.repository()).toBeUndefined();
    expect(await world.names()).toEqual([]);
  });

  it("needs no Git to go", async () => {
    const world = await syncWorld(functionFolder("hello"));
    await world.sync();
    await world.git.git("checkout", "--quiet", "--orphan", "gone");
    await world.git.git("branch", "-D", "main");
    await world.restart();
    await world.store.delete("Repository", KEY);
    await world.sync();
    expect(await world.repository()).toBeUndefined();
  });

  it("a new Repository of the same name adopts what the old one left, without a change", async () => {
    const world = await syncWorld(functionFolder("hello"));
    await world.sync();
    await world.store.delete("Repository", KEY);
    await world.sync();
    const before = (await world.get("Function", "hello"))!;
    await world.store.create({ kind: "Repository", metadata: KEY, spec: { url: world.git.dir } }, { owner: "api" });
    await world.sync();
    const after = (await world.get("Function", "hello"))!;
    expect(await world.ready()).toBe("True ReconciliationSucceeded");
    expect(after.metadata.uid).toBe(before.metadata.uid);
    expect(after.metadata.generation).toBe(before.metadata.generation);
    expect((await world.status()).plan?.counts.adopt).toBe(2);
  });
});
