import { copyFile, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it, onTestFinished } from "vitest";
import { SlessError } from "../../../src/errors/index.ts";
import { type Database, openDatabase } from "../../../src/resources/embedded/database.ts";
import { openEmbeddedStore, storeOver } from "../../../src/resources/embedded/open-embedded-store.ts";
import { functionIntent, manyLabels } from "../../support/function-intent.ts";
import { memoryStore } from "../../support/memory-store.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { groupsHaveTime } from "./groups-have-time.ts";

const owner = { owner: "api" } as const;
const hello = { namespace: "demo", name: "hello" };

async function openFile(file?: string) {
  const path = file ?? join(await temporaryFolder(), "deep", "resources.db");
  const store = await openEmbeddedStore(path);
  onTestFinished(() => store.close());
  return { store, path };
}

describe("a store that is closed and opened again", () => {
  it("has the same objects, owners and version", async () => {
    const { store, path } = await openFile();
    const metadata = { labels: { a: "b" }, finalizers: ["sless.kube5s.ru/cleanup"] };
    const created = await store.apply(functionIntent("demo", "hello", { memoryMB: 256, metadata }), { owner: "sync" });
    const ready = await store.updateStatus(created, { phase: "Ready" });
    const before = await store.list("Function");
    await store.close();
    const { store: again } = await openFile(path);
    expect(await again.list("Function")).toEqual(before);
    expect(await again.get("Function", hello)).toEqual(ready);
    const bare = await again.apply(functionIntent("demo", "hello"), { owner: "sync" });
    expect(bare.spec.memoryMB).toBe(128);
    expect(bare.metadata).not.toHaveProperty("finalizers");
  });

  it("gives no version twice, though the newest object is gone", async () => {
    const { store, path } = await openFile();
    const created = await store.create(functionIntent("demo", "hello"), owner);
    await store.delete("Function", hello);
    await store.close();
    const { store: again } = await openFile(path);
    const { resourceVersion } = await again.create(functionIntent("demo", "hello"), owner).then((o) => o.metadata);
    expect(Number(resourceVersion)).toBe(Number(created.metadata.resourceVersion) + 2);
  });

  it("makes a watch from before list again", async () => {
    const { store, path } = await openFile();
    const { resourceVersion: from } = await store.list("Function");
    await store.create(functionIntent("demo", "hello"), owner);
    await store.close();
    const { store: again } = await openFile(path);
    const events = again.watch("Function", { from, signal: new AbortController().signal });
    await expect(events[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: "conflict" });
  });

  it("did the writes that were asked for before, and refuses later ones", async () => {
    const { store, path } = await openFile();
    const write = store.create(functionIntent("demo", "hello"), owner);
    await Promise.all([store.close(), store.close()]);
    expect((await write).metadata.name).toBe("hello");
    const closed = { code: "storage_unavailable" };
    await expect(store.create(functionIntent("demo", "next"), owner)).rejects.toMatchObject(closed);
    await expect(store.get("Function", hello)).rejects.toMatchObject(closed);
    const { store: again } = await openFile(path);
    expect(await again.get("Function", hello)).toBeDefined();
  });
});

describe("a file that cannot be used", () => {
  it("of a newer sless is refused and left as it is", async () => {
    const { store, path } = await openFile();
    await store.create(functionIntent("demo", "hello"), owner);
    await store.close();
    const sqlite = new DatabaseSync(path);
    sqlite.exec("PRAGMA user_version = 99");
    sqlite.close();
    const before = await readFile(path);
    await expect(openEmbeddedStore(path)).rejects.toMatchObject({ code: "data_too_new", details: { found: 99 } });
    expect(await readFile(path)).toEqual(before);
  });

  it("that is no database is refused and left as it is", async () => {
    const path = join(await temporaryFolder(), "resources.db");
    await writeFile(path, "no database ".repeat(1000));
    await expect(openEmbeddedStore(path)).rejects.toMatchObject({ code: "data_corrupt" });
    expect(await readFile(path, "utf8")).toBe("no database ".repeat(1000));
  });

  it("that is not whole any more is refused, and begun anew when it is removed, as the refusal says", async () => {
    const { store, path } = await openFile();
    for (let at = 0; at < 20; at++) await store.create(functionIntent("demo", `f${at}`), owner);
    await store.close();
    const whole = await readFile(path);
    await writeFile(path, Buffer.concat([whole.subarray(0, 4096), Buffer.alloc(whole.length - 4096, "x")]));
    await writeFile(`${path}-wal`, "what is left of a log");
    const refused = openEmbeddedStore(path);
    await expect(refused).rejects.toMatchObject({ code: "data_corrupt", message: expect.stringContaining(path) });
    await expect(refused).rejects.toThrow(/Restore it from a backup, or remove it/);
    await rm(path);
    const { store: fresh } = await openFile(path);
    expect((await fresh.list("Function")).items).toEqual([]);
    await fresh.create(functionIntent("demo", "hello"), owner);
  });

  it("that is empty is refused, and the log beside it is left as it is", async () => {
    const path = join(await temporaryFolder(), "resources.db");
    await writeFile(path, "");
    await writeFile(`${path}-wal`, "what is left of a log");
    await expect(openEmbeddedStore(path)).rejects.toMatchObject({ code: "data_corrupt" });
    expect(await readFile(`${path}-wal`, "utf8")).toBe("what is left of a log");
  });

  it("that has no tables is refused, and begun anew when it is removed", async () => {
    const path = join(await temporaryFolder(), "resources.db");
    const sqlite = new DatabaseSync(path);
    sqlite.exec("PRAGMA journal_mode = WAL");
    sqlite.close();
    await expect(openEmbeddedStore(path)).rejects.toMatchObject({ code: "data_corrupt" });
    await rm(path);
    await openFile(path);
  });

  it("that was removed while its log stayed is begun anew, and nothing of the log comes back", async () => {
    const { store, path } = await openFile();
    await store.create(functionIntent("demo", "hello"), owner);
    // As a kill leaves it: the changes are in the log alone.
    const log = await readFile(`${path}-wal`);
    expect(log.length).toBeGreaterThan(0);
    await store.close();
    await rm(path);
    await writeFile(`${path}-wal`, log);
    const { store: fresh } = await openFile(path);
    expect((await fresh.list("Function")).items).toEqual([]);
  });

  it("whose making was interrupted is made", async () => {
    const path = join(await temporaryFolder(), "resources.db");
    await writeFile(`${path}-new`, "half a file");
    const { store } = await openFile(path);
    await store.create(functionIntent("demo", "hello"), owner);
  });

  it.each([
    ["no object", "UPDATE objects SET object = 'null'"],
    ["an object of another name", "UPDATE objects SET name = 'other'"],
    ["an object of no known kind", "UPDATE objects SET kind = 'Thing', object = replace(object, 'Function', 'Thing')"],
    ["an object without a spec", "UPDATE objects SET object = json_remove(object, '$.spec')"],
    ["an object without a version", "UPDATE objects SET object = json_remove(object, '$.metadata.resourceVersion')"],
    ["no last version", "DELETE FROM store"],
  ])("that holds %s is refused by its name", async (_, sql) => {
    const { store, path } = await openFile();
    await store.create(functionIntent("demo", "hello"), owner);
    await store.close();
    const sqlite = new DatabaseSync(path);
    sqlite.exec(sql);
    sqlite.close();
    await expect(openEmbeddedStore(path)).rejects.toMatchObject({
      code: "data_corrupt",
      message: expect.stringContaining(path),
    });
  });

  it("whose rows are damaged is refused, and may be opened once it is mended", async () => {
    const { store, path } = await openFile();
    await store.create(functionIntent("demo", "hello"), owner);
    await store.close();
    const spoil = (sql: string) => {
      const sqlite = new DatabaseSync(path);
      sqlite.exec(sql);
      sqlite.close();
    };
    spoil("UPDATE objects SET object = '{' || object");
    await expect(openEmbeddedStore(path)).rejects.toMatchObject({ code: "data_corrupt" });
    spoil("UPDATE objects SET object = substr(object, 2)");
    const { store: again } = await openFile(path);
    expect(await again.get("Function", hello)).toBeDefined();
  });

  it("that another store holds is refused until that one is closed", async () => {
    const { store, path } = await openFile();
    await expect(openEmbeddedStore(path)).rejects.toMatchObject({ code: "storage_unavailable" });
    await store.close();
    await openFile(path);
  });

  it("in a folder that cannot be made is refused", async () => {
    const file = join(await temporaryFolder(), "file");
    await writeFile(file, "");
    await expect(openEmbeddedStore(join(file, "resources.db"))).rejects.toMatchObject({ code: "storage_unavailable" });
  });
});

describe("a file that is not what was acknowledged", () => {
  /** What a killed process leaves: nothing was moved from the log into the file. */
  async function killedAfter(writes: number) {
    const { store, path } = await openFile();
    for (let at = 0; at < writes; at++) await store.create(functionIntent("demo", `f${at}`), owner);
    const copy = join(await temporaryFolder(), "resources.db");
    for (const suffix of ["", "-wal", "-acknowledged"]) await copyFile(path + suffix, copy + suffix);
    return { store, path, copy };
  }

  it("is opened as it is when its process was killed", async () => {
    const { store, copy } = await killedAfter(5);
    const { store: again } = await openFile(copy);
    expect(await again.list("Function")).toEqual(await store.list("Function"));
  });

  it.each<[string, (log: string) => Promise<void>]>([
    ["lost its end", async (log) => truncate(log, (await stat(log)).size - 100)],
    ["is empty", (log) => truncate(log, 0)],
    ["is gone", (log) => rm(log)],
    ["is damaged in the middle", async (log) => damage(log, Math.floor((await stat(log)).size / 2))],
    ["is another file", (log) => writeFile(log, "nothing of a log ".repeat(1000))],
  ])("is refused when its log %s, and opened once it is told so", async (_, spoil) => {
    const { copy } = await killedAfter(5);
    await spoil(`${copy}-wal`);
    const refused = openEmbeddedStore(copy);
    await expect(refused).rejects.toMatchObject({ code: "data_lost", details: { last: 6 } });
    await expect(refused).rejects.toThrow(`remove ${copy}-acknowledged to go on`);
    await expect(openEmbeddedStore(copy)).rejects.toMatchObject({ code: "data_lost" });
    await rm(`${copy}-acknowledged`);
    const { store } = await openFile(copy);
    expect((await store.list("Function")).items.length).toBeLessThan(5);
    await store.create(functionIntent("demo", "next"), owner);
    await store.close();
    await openFile(copy);
  });

  it("is refused when an older file took its place", async () => {
    const { store, path, copy } = await killedAfter(2);
    await store.create(functionIntent("demo", "later"), owner);
    await store.close();
    for (const suffix of ["", "-wal"]) await copyFile(copy + suffix, path + suffix);
    await expect(openEmbeddedStore(path)).rejects.toMatchObject({ code: "data_lost", details: { found: 3, last: 4 } });
  });

  it("is told to be begun anew when it was removed", async () => {
    const { store, path } = await openFile();
    await store.create(functionIntent("demo", "hello"), owner);
    await store.close();
    await rm(path);
    const notices: string[] = [];
    const again = await openEmbeddedStore(path, { notice: (message) => notices.push(message) });
    await again.close();
    expect(notices).toEqual([expect.stringMatching(/resources\.db was removed, and is begun anew: .*API is lost/)]);
    const next = await openEmbeddedStore(path, { notice: (message) => notices.push(message) });
    await next.close();
    expect(notices).toHaveLength(1);
  });

  it.each([
    ["says", "no number"],
    ["is", ""],
  ])("is opened when nothing %s what was acknowledged: %j", async (_, text) => {
    const { copy } = await killedAfter(2);
    await writeFile(`${copy}-acknowledged`, text);
    await openFile(copy);
    expect(await readFile(`${copy}-acknowledged`, "latin1")).toBe("0000000000000003\n");
  });

  it("is refused when it was copied while it was written, so that file and log are of two times", async () => {
    const { store, path } = await openFile();
    for (let at = 0; at < 60; at++) await store.create(functionIntent("demo", `f${at}`), owner);
    await store.close();
    const copy = join(await temporaryFolder(), "resources.db");
    await copyFile(path, copy);
    const { store: second } = await openFile(path);
    await second.patch("Function", { namespace: "demo", name: "f0" }, { spec: { memoryMB: 256 } }, owner);
    // What stands in the log goes into the file, and a new log begins.
    await second.close();
    const { store: third } = await openFile(path);
    await third.create(functionIntent("demo", "later"), owner);
    for (const suffix of ["-wal", "-acknowledged"]) await copyFile(path + suffix, copy + suffix);
    await expect(openEmbeddedStore(copy)).rejects.toMatchObject({
      code: "data_corrupt",
      message: expect.stringContaining("not those that were written last"),
    });
  });

  it.each([
    ["lacks a row", "DELETE FROM objects WHERE name = 'f1'"],
    ["has a row of before", "UPDATE objects SET object = replace(object, '128', '256') WHERE name = 'f1'"],
    ["has other owners", "UPDATE objects SET owners = '{}' WHERE name = 'f1'"],
  ])("is refused when it %s", async (_, sql) => {
    const { copy } = await killedAfter(3);
    const sqlite = new DatabaseSync(copy);
    sqlite.exec(sql);
    sqlite.close();
    await expect(openEmbeddedStore(copy)).rejects.toMatchObject({
      code: "data_corrupt",
      message: expect.stringContaining("not those that were written last"),
    });
  });

  it("is taken over from the version before, which could not tell", async () => {
    const { store, copy } = await killedAfter(3);
    const sqlite = new DatabaseSync(copy);
    sqlite.exec("ALTER TABLE store DROP COLUMN digest; PRAGMA user_version = 1");
    sqlite.close();
    await rm(`${copy}-acknowledged`);
    const { store: again } = await openFile(copy);
    expect(await again.list("Function")).toEqual(await store.list("Function"));
    await again.create(functionIntent("demo", "next"), owner);
    await again.close();
    await openFile(copy);
  });
});

async function damage(path: string, at: number): Promise<void> {
  const bytes = await readFile(path);
  bytes[at]! ^= 0xff;
  await writeFile(path, bytes);
}

describe("a write that does not reach the disk", () => {
  function openFaulty() {
    const database = openDatabase(":memory:");
    const faults: { next?: Error } = {};
    const write: Database["write"] = (changes, version) => {
      const { next } = faults;
      delete faults.next;
      if (next) throw next;
      database.write(changes, version);
    };
    const store = storeOver({ ...database, write }, ":memory:", { now: () => new Date(0) });
    onTestFinished(() => store.close());
    return { store, faults };
  }

  it("fails with its whole group and changes nothing, and later writes succeed", async () => {
    groupsHaveTime();
    const { store, faults } = openFaulty();
    const created = await store.create(functionIntent("demo", "hello"), owner);
    const before = await store.list("Function");
    faults.next = new SlessError("storage_unavailable", { what: "resources.db", cause: "disk is full" });
    const outcomes = await Promise.allSettled([
      store.patch("Function", hello, { spec: { memoryMB: 256 } }, owner),
      store.create(functionIntent("demo", "next"), owner),
      store.delete("Function", hello),
      store.create(functionIntent("demo", "hello"), owner),
    ]);
    expect(outcomes.map((outcome) => outcome.status === "rejected" && outcome.reason.code)).toEqual(
      Array(4).fill("storage_unavailable"),
    );
    expect(await store.list("Function")).toEqual(before);
    const patched = await store.patch("Function", hello, { spec: { memoryMB: 256 } }, owner);
    expect(Number(patched.metadata.resourceVersion)).toBe(Number(created.metadata.resourceVersion) + 1);
  });

  it("is told to no watch", async () => {
    const { store, faults } = openFaulty();
    const abort = new AbortController();
    onTestFinished(() => abort.abort());
    const { resourceVersion: from } = await store.list("Function");
    const events = store.watch("Function", { from, signal: abort.signal })[Symbol.asyncIterator]();
    expect((await events.next()).value).toEqual({ type: "BOOKMARK", resourceVersion: from });
    const next = events.next();
    faults.next = new Error("input/output error");
    await expect(store.create(functionIntent("demo", "lost"), owner)).rejects.toThrow();
    await store.create(functionIntent("demo", "hello"), owner);
    expect((await next).value).toMatchObject({ type: "ADDED", object: { metadata: { name: "hello" } } });
  });
});

describe("reads and writes at the same time", () => {
  it("a read never sees a write before it is durable", async () => {
    const { store } = await openFile();
    const write = store.create(functionIntent("demo", "hello"), owner);
    expect(await store.get("Function", hello)).toBeUndefined();
    const created = await write;
    expect(await store.get("Function", hello)).toBe(created);
  });

  it("writes of one turn see each other, in the order of the calls", async () => {
    const store = await memoryStore();
    const outcomes = await Promise.allSettled([
      store.create(functionIntent("demo", "hello"), owner),
      store.create(functionIntent("demo", "hello"), owner),
      store.patch("Function", hello, { spec: { replicas: 2 } }, owner),
      store.delete("Function", hello),
      store.create(functionIntent("demo", "hello"), owner),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual([
      "fulfilled",
      "rejected",
      "fulfilled",
      "fulfilled",
      "fulfilled",
    ]);
    expect((await store.get("Function", hello))?.spec.replicas).toBe(1);
  });

  it("of two status updates over one version one wins", async () => {
    const store = await memoryStore();
    const created = await store.create(functionIntent("demo", "hello"), owner);
    const outcomes = await Promise.allSettled([
      store.updateStatus(created, { phase: "Ready" }),
      store.updateStatus(created, { phase: "Failed" }),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
    expect((await store.get("Function", hello))?.status?.phase).toBe("Ready");
  });
});

describe("what is given and returned", () => {
  it("a returned object cannot be changed, an intent is copied at once", async () => {
    const store = await memoryStore();
    const intent = functionIntent("demo", "hello", { env: { A: "1" } });
    const write = store.create(intent, owner);
    intent.spec.env!.A = "2";
    const created = await write;
    expect(created.spec.env).toEqual({ A: "1" });
    expect(() => Object.assign(created.spec.env!, { A: "3" })).toThrow(TypeError);
    intent.spec.env!.A = "4";
    expect((await store.get("Function", hello))?.spec.env).toEqual({ A: "1" });
  });

  it("all faults are told at once, by their paths", async () => {
    const store = await memoryStore();
    const metadata = { labels: { "a b": "c" } };
    const refused = store.create(functionIntent("demo", "hello", { memoryMB: 1, timeoutSec: 0, metadata }), owner);
    await expect(refused).rejects.toMatchObject({
      code: "invalid_request",
      details: {
        "spec.memoryMB": expect.stringContaining("out of range"),
        "spec.timeoutSec": expect.stringContaining("out of range"),
        "metadata.labels.a b": expect.stringContaining("no qualified name"),
      },
    });
  });

  it("an object larger than etcd would take is refused", async () => {
    const store = await memoryStore();
    const metadata = { labels: manyLabels(4_500) };
    const refused = store.create(functionIntent("demo", "hello", { metadata }), owner);
    await expect(refused).rejects.toMatchObject({ code: "too_large" });
    expect(await store.get("Function", hello)).toBeUndefined();
  });

  it("the keys that sless sets itself are allowed", async () => {
    const store = await memoryStore();
    const intent = functionIntent("demo", "hello", { s3Bucket: "sless", s3Key: "functions/demo/hello/0.zip" });
    expect((await store.apply(intent, { owner: "sync" })).spec.s3Key).toBe("functions/demo/hello/0.zip");
  });

  it("an apply that only adds an owner gives no version and tells no watch", async () => {
    const store = await memoryStore();
    const applied = await store.apply(functionIntent("demo", "hello"), { owner: "sync" });
    expect(await store.apply(functionIntent("demo", "hello"), { owner: "reconciler" })).toBe(applied);
    expect((await store.list("Function")).resourceVersion).toBe(applied.metadata.resourceVersion);
  });

  it("a version that is none is an invalid request", async () => {
    const store = await memoryStore();
    const events = store.watch("Function", { from: "latest", signal: new AbortController().signal });
    await expect(events[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: "invalid_request" });
  });
});
