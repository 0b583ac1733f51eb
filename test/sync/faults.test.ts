import { describe, expect, it } from "vitest";
import { ANNOTATIONS } from "../../src/apis/index.ts";
import { SlessError } from "../../src/errors/index.ts";
import { reconcileRepository } from "../../src/sync/index.ts";
import { functionFolder, functionYaml, handler, triggerYaml } from "../support/function-files.ts";
import { KEY, syncWorld } from "./sync-world.ts";

const YAML = "functions/hello/function.yaml";

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

  it.each(["somebody asks", "the process starts anew", "an hour has passed"])(
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
      else if (when === "the process starts anew") await world.restart();
      else world.clock.advance(3_600_000);
      world.writes();
      world.events.length = 0;
      await world.sync();
      expect(await world.objects.has(s3Key!)).toBe(true);
      expect(world.events).toContainEqual(expect.objectContaining({ step: "stored", instead: "missing" }));
      expect(world.writes()).toEqual(when === "somebody asks" ? ["status"] : []);
    },
  );

  it.each([
    ["damaged", { ...functionFolder("hello"), ...functionFolder("other") }],
    ["missing", functionFolder("hello")],
    ["damaged", { ...functionFolder("hello"), "functions/hello/large.bin": Buffer.alloc(3 << 20, "large") }],
  ] as const)("an archive that a build found %s is stored anew by the next sync, which says so", async (how, files) => {
    const world = await syncWorld(files);
    await world.sync();
    const { s3Key } = (await world.get("Function", "hello"))!.spec;
    const stored = await world.objects.get(s3Key!);
    await world.objects.delete(s3Key!);
    if (how === "damaged")
      await world.objects.put(
        s3Key!,
        stored!.map((byte, at) => (at === 50 ? byte ^ 1 : byte)),
      );
    const report = async (status: "True" | "False", reason: string) =>
      void (await world.store.updateStatus<"Function">((await world.get("Function", "hello"))!, {
        conditions: [{ type: "BuildReady", status, reason, message: "", lastTransitionTime: "2026-01-01T00:00:00Z" }],
      }));
    await report("False", "SourceUnavailable");
    world.events.length = 0;
    await world.sync();
    expect(Buffer.compare((await world.objects.get(s3Key!))!, stored!)).toBe(0);
    const restored = { step: "stored", object: { kind: "Function", ...KEY, name: "hello" }, instead: how };
    expect(world.events).toMatchObject([restored]);
    await world.sync();
    expect(world.events).toHaveLength(1);
  });

  it("a source that a build cannot read is replaced only by its repository", async () => {
    const world = await syncWorld({ ...functionFolder("hello"), ...functionFolder("other") });
    await world.sync();
    const uploaded = "functions/demo/uploaded/1.zip";
    await world.objects.put(uploaded, Buffer.from("damaged"));
    await world.store.create<"Function">(
      { kind: "Function", metadata: { ...KEY, name: "uploaded" }, spec: { runtime: "python3.11", s3Key: uploaded } },
      { owner: "api" },
    );
    await world.store.updateStatus<"Function">((await world.get("Function", "uploaded"))!, {
      conditions: [
        {
          type: "BuildReady",
          status: "False",
          reason: "SourceUnavailable",
          message: "",
          lastTransitionTime: "2026-01-01T00:00:00Z",
        },
      ],
    });
    world.events.length = 0;
    await world.sync();
    expect(world.events).toEqual([]);
    expect(Buffer.from((await world.objects.get(uploaded))!).toString()).toBe("damaged");
  });

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
    await expect(reconcileRepository(KEY, world.deps(), stopping.signal)).rejects.toThrow();
    expect(await world.names()).toEqual([]);
    await world.sync();
    expect(await world.names()).toHaveLength(2);
  });
});
