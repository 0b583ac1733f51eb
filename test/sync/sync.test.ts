import { describe, expect, it } from "vitest";
import { ANNOTATIONS, LABELS } from "../../src/apis/index.ts";
import { functionFolder, functionYaml, handler, triggerYaml } from "../support/function-files.ts";
import { KEY, syncWorld } from "./sync-world.ts";

const YAML = "functions/hello/function.yaml";

describe("a first sync", () => {
  it("stores the source, writes the objects with their marks, and says so", async () => {
    const world = await syncWorld(functionFolder("hello"));
    expect(await world.sync()).toEqual({ kind: "after", ms: 60_000 });
    const { uid } = (await world.repository()).metadata;
    const revision = `main@sha1:${world.git.head}`;
    const hello = (await world.get("Function", "hello"))!;
    expect(hello.metadata.annotations).toMatchObject({
      [ANNOTATIONS.owner]: `${uid}/Function/demo/hello`,
      [ANNOTATIONS.path]: YAML,
      [ANNOTATIONS.revision]: revision,
    });
    expect(hello.metadata.labels).toEqual({ [LABELS.repository]: uid });
    expect(await world.objects.has(hello.spec.s3Key!)).toBe(true);
    expect(await world.get("Trigger", "hello-http")).toBeDefined();
    expect(await world.status()).toMatchObject({
      observedGeneration: 1,
      lastFetchedRevision: revision,
      lastAttemptedRevision: revision,
      lastAppliedRevision: revision,
      inventory: { count: 2 },
      plan: { revision, counts: { create: 2, unchanged: 0 } },
      history: [{ revision, outcome: "ReconciliationSucceeded" }],
    });
    const ready = (await world.status()).conditions;
    expect(ready).toMatchObject([{ type: "Ready", status: "True", message: `Applied revision: ${revision}` }]);
  });

  it("tells the steps with their durations, each once", async () => {
    const world = await syncWorld(functionFolder("hello"));
    await world.sync();
    expect(world.events.map(({ step }) => step)).toEqual(["fetched", "planned", "stored", "applied"]);
    for (const event of world.events) expect(event).toHaveProperty("durationMs");
    expect(world.events[1]).toMatchObject({
      changes: [expect.stringContaining("hello"), expect.stringContaining("hello-http")],
    });
    expect(world.events[3]).toMatchObject({ objects: 2, repository: KEY });
  });

  it("writes workloads before the triggers that name them", async () => {
    const world = await syncWorld({ ...functionFolder("b"), ...functionFolder("a") });
    await world.sync();
    expect(world.writes().filter((write) => write.startsWith("apply"))).toEqual([
      "apply Function/demo/a",
      "apply Function/demo/b",
      "apply Trigger/demo/a-http",
      "apply Trigger/demo/b-http",
    ]);
  });
});

describe("when nothing changed nothing is written", () => {
  it("no object, no archive, no status", async () => {
    const world = await syncWorld(functionFolder("hello"));
    await world.sync();
    const version = (await world.repository()).metadata.resourceVersion;
    world.writes();
    world.events.length = 0;
    await world.sync();
    await world.restart();
    await world.sync();
    expect(world.writes()).toEqual([]);
    expect(world.events).toEqual([]);
    expect((await world.repository()).metadata.resourceVersion).toBe(version);
  });

  it("a commit that touches no function is one status write", async () => {
    const world = await syncWorld(functionFolder("hello"));
    await world.sync();
    world.writes();
    const commit = await world.git.commit("docs", { "README.md": "more" });
    await world.sync();
    expect(world.writes()).toEqual(["status"]);
    expect((await world.status()).lastAppliedRevision).toBe(`main@sha1:${commit}`);
    expect((await world.get("Function", "hello"))!.metadata.annotations![ANNOTATIONS.revision]).toContain(
      world.git.head,
    );
  });
});

describe("a later push changes what it touches", () => {
  it("a code change stores one source and writes one object", async () => {
    const world = await syncWorld({ ...functionFolder("hello"), ...functionFolder("other") });
    await world.sync();
    const before = (await world.get("Function", "hello"))!.spec.s3Key;
    world.writes();
    world.events.length = 0;
    await world.git.commit("code", { "functions/hello/handler.py": handler("new") });
    await world.sync();
    expect(world.writes()).toEqual(["apply Function/demo/hello", "status"]);
    expect(world.events.map(({ step }) => step)).toEqual(["fetched", "planned", "stored", "applied"]);
    const after = (await world.get("Function", "hello"))!.spec.s3Key!;
    expect(after).not.toBe(before);
    expect(await world.objects.has(after)).toBe(true);
  });

  it("a configuration change stores nothing", async () => {
    const world = await syncWorld(functionFolder("hello"));
    await world.sync();
    world.events.length = 0;
    await world.git.commit("memory", {
      [YAML]: functionYaml("hello", { memoryMB: 256 }) + triggerYaml("hello-http", "hello"),
    });
    await world.sync();
    expect(world.events.map(({ step }) => step)).toEqual(["fetched", "planned", "applied"]);
    expect((await world.get("Function", "hello"))!.spec.memoryMB).toBe(256);
  });

  it("a field that leaves the manifest leaves the object", async () => {
    const world = await syncWorld({
      ...functionFolder("hello"),
      [YAML]: functionYaml("hello", { env: { A: "1", B: "2" } }),
    });
    await world.sync();
    await world.git.commit("drop", { [YAML]: functionYaml("hello", { env: { A: "1" } }) });
    await world.sync();
    expect((await world.get("Function", "hello"))!.spec.env).toEqual({ A: "1" });
  });

  it("a moved folder with the same object is no delete and create (lesson 4)", async () => {
    const world = await syncWorld({ ...functionFolder("hello"), ...functionFolder("other") });
    await world.sync();
    const { uid } = (await world.get("Function", "hello"))!.metadata;
    world.writes();
    world.events.length = 0;
    await world.git.git("mv", "functions/hello", "elsewhere");
    await world.git.commit("move", {});
    await world.sync();
    const moved = (await world.get("Function", "hello"))!.metadata;
    expect(moved.uid).toBe(uid);
    expect(moved.annotations![ANNOTATIONS.path]).toBe("elsewhere/function.yaml");
    expect(world.writes().some((write) => write.startsWith("delete"))).toBe(false);
    expect(world.events.map(({ step }) => step)).not.toContain("stored");
  });

  it("a function that becomes a service is created once its predecessor is gone", async () => {
    const files = { ...functionFolder("hello"), ...functionFolder("other") };
    const world = await syncWorld(files, { reconcilers: false });
    await world.sync();
    await world.git.commit("service", {
      [YAML]: functionYaml("hello").replace("kind: Function", "kind: Service") + triggerYaml("hello-http", "hello"),
    });
    expect(await world.sync()).toEqual({ kind: "backOff" });
    expect(await world.ready()).toBe("False Progressing");
    expect(await world.get("Service", "hello")).toBeUndefined();
    await world.store.patch(
      "Function",
      { namespace: "demo", name: "hello" },
      { metadata: { finalizers: [] } },
      { owner: "api" },
    );
    await world.sync();
    expect(await world.names()).toContain("Service/demo/hello");
    expect(await world.ready()).toBe("True ReconciliationSucceeded");
  });

  it("a changed path of the spec is followed, deletions by the guard's leave", async () => {
    const world = await syncWorld({
      ...functionFolder("hello"),
      "two/function.yaml": functionYaml("two"),
      "two/handler.py": handler(),
    });
    await world.sync();
    await world.setSpec({ path: "two" });
    await world.sync();
    expect(await world.names()).toEqual(["Function/demo/two"]);
    expect((await world.status()).observedGeneration).toBe(2);
  });
});

describe("asking and resting", () => {
  it("a request to reconcile is handled once and noted", async () => {
    const world = await syncWorld(functionFolder("hello"));
    await world.sync();
    world.writes();
    await world.store.patch(
      "Repository",
      KEY,
      { metadata: { annotations: { [ANNOTATIONS.requestedAt]: "now-1" } } },
      { owner: "api" },
    );
    world.writes();
    await world.sync();
    await world.sync();
    expect(world.writes()).toEqual(["status"]);
    expect((await world.status()).lastHandledReconcileAt).toBe("now-1");
  });

  it("a suspended repository fetches, writes and deletes nothing until it is resumed", async () => {
    const world = await syncWorld({ ...functionFolder("hello"), ...functionFolder("other") });
    await world.sync();
    await world.setSpec({ suspend: true });
    await world.git.commit("remove", { "functions/other": null, "functions/hello/handler.py": handler("new") });
    world.writes();
    world.events.length = 0;
    expect(await world.sync()).toEqual({ kind: "done" });
    await world.sync();
    expect(world.writes()).toEqual(["status"]);
    expect(world.events).toEqual([]);
    expect(await world.ready()).toBe("True Suspended");
    await world.setSpec({ suspend: false });
    await world.sync();
    expect(await world.ready()).toBe("True ReconciliationSucceeded");
    expect(await world.names()).toEqual(["Function/demo/hello", "Trigger/demo/hello-http"]);
  });

  it("with prune off nothing is deleted, and the revision counts as applied", async () => {
    const world = await syncWorld(
      { ...functionFolder("hello"), ...functionFolder("other") },
      { spec: { prune: false } },
    );
    await world.sync();
    await world.git.commit("remove", { "functions/other": null });
    await world.sync();
    expect(await world.names()).toHaveLength(4);
    expect(await world.ready()).toBe("True ReconciliationSucceeded");
  });
});

describe("drift", () => {
  it("what somebody changed on an owned object is set back, also with an unchanged revision", async () => {
    const world = await syncWorld({ ...functionFolder("hello"), [YAML]: functionYaml("hello", { memoryMB: 128 }) });
    await world.sync();
    await world.store.patch(
      "Function",
      { namespace: "demo", name: "hello" },
      { spec: { memoryMB: 512 } },
      { owner: "api" },
    );
    await world.sync();
    expect((await world.get("Function", "hello"))!.spec.memoryMB).toBe(128);
    world.writes();
    await world.sync();
    expect(world.writes()).toEqual([]);
  });

  it("an object that somebody deleted comes back", async () => {
    const world = await syncWorld(functionFolder("hello"));
    await world.sync();
    await world.store.delete("Function", { namespace: "demo", name: "hello" });
    await world.sync();
    expect(await world.names()).toContain("Function/demo/hello");
  });

  it("replicas that the manifest leaves out stay as somebody scaled them", async () => {
    const world = await syncWorld(functionFolder("hello"));
    await world.sync();
    await world.store.patch(
      "Function",
      { namespace: "demo", name: "hello" },
      { spec: { replicas: 3 } },
      { owner: "api" },
    );
    await world.git.commit("code", { "functions/hello/handler.py": handler("new") });
    await world.sync();
    expect((await world.get("Function", "hello"))!.spec.replicas).toBe(3);
  });
});
