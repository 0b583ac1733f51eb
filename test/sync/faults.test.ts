import { rename } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ANNOTATIONS } from "../../src/apis/index.ts";
import { SlessError } from "../../src/errors/index.ts";
import { reconcileRepository } from "../../src/sync/index.ts";
import { functionFolder, functionYaml, handler, triggerYaml } from "../support/function-files.ts";
import { KEY, openGit, syncWorld } from "./sync-world.ts";

const YAML = "functions/hello/function.yaml";

describe("a repository that cannot be read", () => {
  it("a failed fetch deletes nothing, keeps what is applied, and says why (lesson 1)", async () => {
    let isFailing = false;
    const world = await syncWorld(functionFolder("hello"), {
      git: (git) => ({
        ...git,
        resolve: async (ref) => {
          if (isFailing) throw new SlessError("repository_unreachable", { url: "it", cause: "torn" });
          return git.resolve(ref);
        },
      }),
    });
    await world.sync();
    const applied = (await world.status()).lastAppliedRevision;
    isFailing = true;
    expect(await world.sync()).toEqual({ kind: "backOff" });
    expect(await world.ready()).toBe("False GitOperationFailed");
    expect(await world.status()).toMatchObject({ lastAppliedRevision: applied, inventory: { count: 2 } });
    expect((await world.status()).conditions?.map(({ type }) => type)).toEqual(["Ready", "Reconciling"]);
    expect(await world.names()).toHaveLength(2);
  });

  it("a failure that lasts is told once and written once", async () => {
    const world = await syncWorld(functionFolder("hello"));
    await world.sync();
    await rename(world.git.dir, `${world.git.dir}-away`);
    world.events.length = 0;
    world.writes();
    for (let run = 0; run < 3; run += 1) await world.sync();
    expect(world.writes()).toEqual(["status"]);
    expect(world.events.map(({ step }) => step)).toEqual(["failed"]);
    await rename(`${world.git.dir}-away`, world.git.dir);
    await world.sync();
    expect(await world.ready()).toBe("True ReconciliationSucceeded");
  });

  it("a repository that is replaced by another one at its place is followed", async () => {
    const world = await syncWorld(functionFolder("hello"));
    const other = await syncWorld(functionFolder("other"));
    await world.sync();
    await rename(world.git.dir, `${world.git.dir}-away`);
    await world.sync();
    await rename(other.git.dir, world.git.dir);
    await world.sync();
    expect(await world.names()).toContain("Function/demo/other");
    expect(await world.ready()).toBe("True ReconciliationSucceeded");
  });

  it("a corrupt repository keeps everything as it is, and recovers when it is mended", async () => {
    const world = await syncWorld(functionFolder("hello"));
    await world.sync();
    const commit = await world.git.commit("code", {
      "functions/hello/function.yaml": functionYaml("hello", { memoryMB: 256 }),
    });
    const blob = await world.git.git("rev-parse", `${commit}:${YAML}`);
    const file = join(world.git.dir, ".git/objects", blob.slice(0, 2), blob.slice(2));
    await rename(file, `${file}.away`);
    expect(await world.sync()).toEqual({ kind: "backOff" });
    expect(await world.ready()).toBe("False GitOperationFailed");
    expect(await world.names()).toHaveLength(2);
    await rename(`${file}.away`, file);
    await world.sync();
    expect((await world.get("Function", "hello"))!.spec.memoryMB).toBe(256);
  });

  it("a source file that cannot be read leaves the other functions to be deployed", async () => {
    let torn = "";
    const world = await syncWorld(
      { ...functionFolder("hello", "torn"), ...functionFolder("other", "whole") },
      {
        git: (git) => ({
          ...git,
          blobs: async (ids) => {
            if (ids.includes(torn)) throw new SlessError("object_missing", { id: torn, url: "it" });
            return git.blobs(ids);
          },
        }),
      },
    );
    torn = await world.git.git("rev-parse", "HEAD:functions/hello/handler.py");
    expect(await world.sync()).toEqual({ kind: "backOff" });
    expect(await world.ready()).toBe("False ArtifactFailed");
    expect(await world.names()).toEqual(["Function/demo/other", "Trigger/demo/hello-http", "Trigger/demo/other-http"]);
    expect(await world.status()).not.toHaveProperty("lastAppliedRevision");
    torn = "";
    await world.sync();
    expect(await world.names()).toContain("Function/demo/hello");
    expect(await world.ready()).toBe("True ReconciliationSucceeded");
  });

  it("a repository that does not answer is given up after its timeout", async () => {
    const world = await syncWorld(functionFolder("hello"), {
      spec: { timeout: "5s" },
      git: (git) => ({ ...git, resolve: () => new Promise(() => {}) }),
    });
    const run = world.sync();
    while (world.clock.timers().length === 0) await new Promise(setImmediate);
    world.clock.advance(5_000);
    expect(await run).toEqual({ kind: "backOff" });
    expect((await world.status()).conditions?.[0]?.message).toContain("it did not answer within 5s");
  });

  it("a path that is not there deletes nothing", async () => {
    const world = await syncWorld(functionFolder("hello"), { spec: { path: "functions" } });
    await world.sync();
    await world.git.git("mv", "functions", "elsewhere");
    await world.git.commit("move", {});
    await world.sync();
    expect(await world.ready()).toBe("False BuildFailed");
    expect(await world.names()).toHaveLength(2);
  });
});

describe("faults of the files", () => {
  it("malformed YAML prunes nothing and the good goes on (lesson 2)", async () => {
    const world = await syncWorld({
      ...functionFolder("hello"),
      ...functionFolder("other"),
      ...functionFolder("third"),
    });
    await world.sync();
    const before = (await world.status()).lastAppliedRevision;
    await world.git.commit("break one, remove one, change one", {
      [YAML]: "apiVersion: sless.kube5s.ru/v1alpha1\nkind: Function\n\tx",
      "functions/third": null,
      "functions/other/handler.py": handler("new"),
    });
    world.writes();
    await world.sync();
    expect(world.writes()).toEqual(["apply Function/demo/other", "status"]);
    expect(await world.ready()).toBe("False BuildFailed");
    const status = await world.status();
    expect(status.lastAppliedRevision).toBe(before);
    expect(status.diagnostics?.items[0]).toMatchObject({ code: "yaml_syntax", file: YAML, line: 3 });
    expect(status.conditions?.[0]?.message).toContain(`${YAML}:3:`);
    await world.git.commit("mend", { [YAML]: functionYaml("hello") + triggerYaml("hello-http", "hello") });
    await world.sync();
    expect(await world.names()).toEqual([
      "Function/demo/hello",
      "Function/demo/other",
      "Trigger/demo/hello-http",
      "Trigger/demo/other-http",
    ]);
    expect(await world.status()).not.toHaveProperty("diagnostics");
  });

  it("a file that lost its apiVersion after a restart still protects its objects", async () => {
    const file = "functions/hello/mine.yaml";
    const world = await syncWorld({ [file]: functionYaml("hello"), "functions/hello/handler.py": handler() });
    await world.sync();
    await world.restart();
    await world.git.commit("lose it", { [file]: "kind: Function\n" });
    await world.sync();
    expect(await world.names()).toEqual(["Function/demo/hello"]);
    expect((await world.status()).diagnostics?.items[0]?.code).toBe("no_longer_a_manifest");
  });

  it("more diagnostics than a status holds are counted", async () => {
    const many = Object.assign(
      {},
      ...Array.from({ length: 103 }, (_, at) => ({ [`f${at}/function.yaml`]: functionYaml(`f${at}`) })),
    );
    const world = await syncWorld(many);
    await world.sync();
    const { diagnostics } = await world.status();
    expect(diagnostics?.count).toBe(103);
    expect(diagnostics?.items).toHaveLength(100);
  });

  it("an object of another repository is refused with both names told", async () => {
    const world = await syncWorld(functionFolder("hello"));
    const other = await world.store.create(
      { kind: "Repository", metadata: { namespace: "demo", name: "their" }, spec: { url: "/x" } },
      { owner: "api" },
    );
    const owner = `${other.metadata.uid}/Function/demo/hello`;
    await world.store.create(
      {
        kind: "Function",
        metadata: { name: "hello", namespace: "demo", annotations: { [ANNOTATIONS.owner]: owner } },
        spec: { runtime: "nodejs20" },
      },
      { owner: "api" },
    );
    await world.sync();
    expect((await world.get("Function", "hello"))!.spec.runtime).toBe("nodejs20");
    const { diagnostics } = await world.status();
    expect(diagnostics?.items).toMatchObject([{ code: "owned_elsewhere", file: YAML, line: 3 }]);
    expect(diagnostics?.items[0]?.message).toContain("their");
    expect(await world.names()).toContain("Trigger/demo/hello-http");
  });
});

describe("faults of the stores", () => {
  it("an archive that cannot be stored leaves its object unwritten; the next run mends it", async () => {
    let isFull = true;
    const world = await syncWorld(functionFolder("hello"), {
      objects: (objects) => ({
        ...objects,
        put: async (key, body) => {
          if (isFull) throw new SlessError("storage_unavailable", { what: key, cause: "no space left on device" });
          return objects.put(key, body);
        },
      }),
    });
    expect(await world.sync()).toEqual({ kind: "backOff" });
    expect(await world.ready()).toBe("False ArtifactFailed");
    expect((await world.status()).conditions?.[0]?.message).toContain("no space left");
    expect(await world.names()).toEqual([]);
    expect(await world.status()).not.toHaveProperty("lastAppliedRevision");
    isFull = false;
    await world.sync();
    expect(await world.names()).toHaveLength(2);
  });

  it.each(["somebody asks", "the process starts anew"])(
    "an archive that got lost is stored anew when %s",
    async (when) => {
      const world = await syncWorld(functionFolder("hello"));
      await world.sync();
      const { s3Key } = (await world.get("Function", "hello"))!.spec;
      await world.objects.delete(s3Key!);
      await world.sync();
      expect(await world.objects.has(s3Key!)).toBe(false);
      const annotations = { [ANNOTATIONS.requestedAt]: "now" };
      if (when === "somebody asks")
        await world.store.patch("Repository", KEY, { metadata: { annotations } }, { owner: "api" });
      else await world.restart();
      world.writes();
      await world.sync();
      expect(await world.objects.has(s3Key!)).toBe(true);
      expect(world.writes()).toEqual(when === "somebody asks" ? ["status"] : []);
    },
  );

  it("an object that the store refuses is told at its manifest and blocks no other", async () => {
    const world = await syncWorld(
      { ...functionFolder("hello"), ...functionFolder("other") },
      {
        store: (store) => ({
          ...store,
          apply: async (intent, options) => {
            if (intent.metadata.name === "hello")
              throw new SlessError("invalid_request", { cause: "spec.memoryMB is odd" });
            return store.apply(intent, options);
          },
        }),
      },
    );
    await world.sync();
    expect(await world.names()).toEqual(["Function/demo/other", "Trigger/demo/hello-http", "Trigger/demo/other-http"]);
    expect((await world.status()).diagnostics?.items).toMatchObject([{ code: "invalid_request", file: YAML, line: 3 }]);
    expect(await world.ready()).toBe("False BuildFailed");
  });

  it("an object that somebody else made since the plan is not taken over", async () => {
    const world = await syncWorld(functionFolder("hello"), {
      objects: (objects) => ({
        ...objects,
        put: async (key, body) => {
          await world.store.create(
            { kind: "Function", metadata: { name: "hello", namespace: "demo" }, spec: { runtime: "nodejs20" } },
            { owner: "api" },
          );
          return objects.put(key, body);
        },
      }),
    });
    expect(await world.sync()).toEqual({ kind: "backOff" });
    expect((await world.get("Function", "hello"))!.spec.runtime).toBe("nodejs20");
    await world.sync();
    expect((await world.status()).diagnostics?.items[0]?.code).toBe("not_adopted");
  });

  it("while something could not be written nothing is deleted, for it may take the deleted one's place", async () => {
    let isConflicting = true;
    const world = await syncWorld(
      { ...functionFolder("hello"), ...functionFolder("other") },
      {
        store: (store) => ({
          ...store,
          apply: async (intent, options) => {
            if (isConflicting && intent.metadata.name === "renamed") throw new SlessError("conflict", { what: "it" });
            return store.apply(intent, options);
          },
        }),
      },
    );
    await world.sync();
    await world.git.commit("rename", { [YAML]: functionYaml("renamed") + triggerYaml("renamed-http", "renamed") });
    await world.sync();
    expect(await world.ready()).toBe("False ReconciliationFailed");
    expect(await world.names()).toContain("Function/demo/hello");
    isConflicting = false;
    await world.sync();
    expect(await world.names()).not.toContain("Function/demo/hello");
    expect(await world.ready()).toBe("True ReconciliationSucceeded");
  });

  it("a status that cannot be written leaves the work to be told by the next run (lesson 9)", async () => {
    let isFailing = true;
    const world = await syncWorld(functionFolder("hello"), {
      store: (store) => ({
        ...store,
        updateStatus: async (object, status) => {
          if (isFailing) throw new SlessError("storage_unavailable", { what: "it", cause: "full" });
          return store.updateStatus(object, status);
        },
      }),
    });
    await expect(world.sync()).rejects.toMatchObject({ code: "storage_unavailable" });
    isFailing = false;
    await world.sync();
    expect((await world.status()).lastAppliedRevision).toBe(`main@sha1:${world.git.head}`);
  });

  it("a Repository that changed during the run gets the status all the same", async () => {
    let isFirst = true;
    const world = await syncWorld(functionFolder("hello"), {
      store: (store) => ({
        ...store,
        updateStatus: async (object, status) => {
          if (isFirst)
            await store.patch(
              "Repository",
              object.metadata,
              { metadata: { annotations: { note: "x" } } },
              { owner: "api" },
            );
          isFirst = false;
          return store.updateStatus(object, status);
        },
      }),
    });
    await world.sync();
    expect(await world.ready()).toBe("True ReconciliationSucceeded");
  });

  it("an unexpected error is told without taking the controller down", async () => {
    const world = await syncWorld(functionFolder("hello"), {
      objects: (objects) => ({ ...objects, has: () => Promise.reject(new TypeError("boom")) }),
    });
    expect(await world.sync()).toEqual({ kind: "backOff" });
    expect((await world.status()).conditions?.[0]?.message).toContain("boom");
  });

  it("a shutdown in mid-run ends it without a status and without harm", async () => {
    const stopping = new AbortController();
    const world = await syncWorld(functionFolder("hello"), {
      objects: (objects) => ({
        ...objects,
        put: async (key, body) => {
          stopping.abort();
          return objects.put(key, body);
        },
      }),
    });
    const { reconcileRepository } = await import("../../src/sync/index.ts");
    await expect(
      reconcileRepository({ namespace: "demo", name: "site" }, world.deps(), stopping.signal),
    ).rejects.toThrow();
    expect(await world.names()).toEqual([]);
    await world.sync();
    expect(await world.names()).toHaveLength(2);
  });
});

it("every reader of Git that was opened is closed again", async () => {
  const open = new Set<number>();
  let count = 0;
  const world = await syncWorld(functionFolder("hello"));
  const deps = world.deps({
    openGit: async (repository) => {
      const git = await openGit(repository.spec.url);
      const id = ++count;
      open.add(id);
      const close = async () => {
        open.delete(id);
        await git.close();
      };
      return { ...git, close };
    },
  });
  await reconcileRepository(KEY, deps);
  await reconcileRepository(KEY, deps);
  expect(count).toBe(1);
  await rename(world.git.dir, `${world.git.dir}-away`);
  await reconcileRepository(KEY, deps);
  expect(open.size).toBe(0);
  await rename(`${world.git.dir}-away`, world.git.dir);
  await reconcileRepository(KEY, deps);
  await world.setSpec({ suspend: true });
  await reconcileRepository(KEY, deps);
  expect(open.size).toBe(0);
});
