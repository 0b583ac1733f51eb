import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { openFilesystemStore } from "../../../src/storage/filesystem/index.ts";
import { objectStoreContract } from "../../contract/object-store.ts";
import { allOf } from "../../support/all-of.ts";
import { mountSmallDisk } from "../../support/small-disk.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { watchChild } from "../../support/watched-child.ts";

describe("the filesystem store", () => {
  objectStoreContract(async () => openFilesystemStore(await temporaryFolder()));

  it("has its objects again after it was opened anew", async () => {
    const folder = await temporaryFolder();
    await (await openFilesystemStore(folder)).put("a/b", Buffer.from("x"));
    expect(await (await openFilesystemStore(folder)).get("a/b")).toEqual(Buffer.from("x"));
  });

  it("removes what a crash left half written", async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, "incoming"));
    await writeFile(join(folder, "incoming", "half"), "ha");
    await openFilesystemStore(folder);
    expect(await readdir(join(folder, "incoming"))).toEqual([]);
  });

  it("leaves no empty folders behind", async () => {
    const folder = await temporaryFolder();
    const store = await openFilesystemStore(folder);
    await store.put("functions/demo/hello/1.zip", Buffer.from("x"));
    await store.delete("functions/demo/hello/1.zip");
    expect(await readdir(join(folder, "objects"))).toEqual([]);
  });

  it("says what the system refused", async () => {
    const folder = await temporaryFolder();
    const store = await openFilesystemStore(folder);
    await rm(join(folder, "incoming"), { recursive: true });
    await expect(store.put("a", Buffer.from("x"))).rejects.toMatchObject({
      code: "storage_unavailable",
      message: expect.stringContaining("ENOENT"),
    });
  });

  it.each([1, 2, 3])("kill -9 leaves whole objects only, and all that were told stored (run %i)", async (run) => {
    const folder = await temporaryFolder();
    const told = await killWhilePutting(folder, 2 + run * 5);
    const store = await openFilesystemStore(folder);
    const found = await allOf(store.list(""));
    for (const key of found) {
      const digest = createHash("sha256")
        .update((await store.get(key))!)
        .digest("hex");
      expect(key.endsWith(digest)).toBe(true);
    }
    expect(found).toEqual(expect.arrayContaining(told));
  });

  it("a full disk is an error that says so, loses nothing and leaves no draft", async (test) => {
    const folder = await temporaryFolder();
    if (!mountSmallDisk(folder)) return test.skip("needs the right to mount a tmpfs");
    const store = await openFilesystemStore(folder);
    await store.put("small", Buffer.alloc(1000, 1));
    await expect(store.put("large", Buffer.alloc(4_000_000))).rejects.toMatchObject({
      code: "storage_unavailable",
      message: expect.stringContaining("ENOSPC"),
    });
    expect(await store.has("large")).toBe(false);
    expect(await store.get("small")).toHaveLength(1000);
    expect(await readdir(join(folder, "incoming"))).toEqual([]);
  });
});

/** Kills a process that puts objects after `count` of them; returns the keys that it told. */
async function killWhilePutting(folder: string, count: number): Promise<string[]> {
  const script = fileURLToPath(new URL("put-forever.ts", import.meta.url));
  const child = spawn(process.execPath, [script, folder], { stdio: ["ignore", "pipe", "inherit"] });
  const { closed, output } = watchChild(child);
  child.stdout.on("data", () => {
    if (output().split("\n").length > count) child.kill("SIGKILL");
  });
  expect(await closed()).toMatchObject({ signal: "SIGKILL" });
  return output().split("\n").slice(0, -1);
}
