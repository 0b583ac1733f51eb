import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { secretFiles } from "../../src/app/secret-files.ts";
import { secretStoreContract } from "../contract/secret-store.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const API = { namespace: "demo", name: "api" };
const MERGE = { replace: false };

async function openFiles() {
  const folder = join(await temporaryFolder(), "secrets");
  const files = secretFiles(folder);
  return { folder, files, store: files, read: files.read };
}

describe("secrets in files", () => {
  secretStoreContract(openFiles);

  it("a key is a file for this user alone, in folders for this user alone", async () => {
    const { folder, files } = await openFiles();
    await files.write(API, new Map([["token", "t-1"]]), MERGE);
    expect(await readFile(join(folder, "demo/api/token"), "utf8")).toBe("t-1");
    const modes = ["", "demo", "demo/api", "demo/api/token"].map(async (path) => (await stat(join(folder, path))).mode);
    expect((await Promise.all(modes)).map((mode) => (mode & 0o777).toString(8))).toEqual(["700", "700", "700", "600"]);
  });

  it("no draft is left behind, also not one of a write that a crash ended", async () => {
    const { folder, files } = await openFiles();
    await mkdir(join(folder, "demo"), { recursive: true });
    await writeFile(join(folder, "demo/.draft"), "half a val");
    await files.write(API, new Map([["token", "t-1"]]), MERGE);
    expect((await readdir(folder, { recursive: true })).sort()).toEqual(["demo", "demo/api", "demo/api/token"]);
  });

  it("listeners hear of what differs, and of nothing else", async () => {
    const { files } = await openFiles();
    const heard: string[] = [];
    const stop = files.onChange(({ namespace, name }) => heard.push(`${namespace}/${name}`));
    const write = (token: string) => files.write(API, new Map([["token", token]]), MERGE);
    await write("1");
    await write("1");
    await write("2");
    await files.write(API, new Map([["none", null]]), MERGE);
    await files.delete(API);
    await files.delete(API);
    stop();
    await write("3");
    expect(heard).toEqual(["demo/api", "demo/api", "demo/api"]);
  });

  it("a namespace that none can be has no secrets, though no file system takes its name", async () => {
    const { files } = await openFiles();
    const namespace = "n".repeat(300);
    expect(await files.list(namespace)).toEqual([]);
    expect(await files.get({ namespace, name: "api" })).toBeUndefined();
    expect(await files.read(namespace, "api", "token")).toBeUndefined();
  });

  it("what the file system refuses is told without a value", async () => {
    const { folder, files } = await openFiles();
    await writeFile(folder, "in the way");
    const refused = files.write(API, new Map([["token", "geheim"]]), MERGE);
    await expect(refused).rejects.toMatchObject({ code: "storage_unavailable" });
    await expect(refused).rejects.not.toThrow(/geheim/);
  });
});
