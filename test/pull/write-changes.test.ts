import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fileInMemory } from "../../src/pull/folder-files.ts";
import { type FileChange, seen } from "../../src/pull/pull-request.ts";
import { lookAt, type WalkOptions } from "../../src/pull/walk-folder.ts";
import { writeChanges } from "../../src/pull/write-changes.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { filesBelow, put } from "./pull-world.ts";

async function writerIn(files: Parameters<typeof put>[1], scope = "") {
  const outer = await temporaryFolder();
  const root = join(outer, "root");
  await mkdir(root);
  await put(root, files);
  const walking: WalkOptions = { root, folder: scope, tracked: undefined, format: "sha1", exclude: "" };
  const look = (path: string) => lookAt(path, walking);
  const change = (path: string, text: string | null, fields: Partial<FileChange> = {}): FileChange => ({
    path,
    file: text === null ? null : fileInMemory(Buffer.from(text), "100644", "sha1"),
    isManifest: false,
    before: seen(look(path)),
    objects: ["Function/demo/hello"],
    ...fields,
  });
  const write = async (changes: readonly FileChange[], signal = new AbortController().signal) => {
    const { failed, isInterrupted } = await writeChanges(changes, { root, scope, signal, lookAt: look });
    return { failed: Object.fromEntries(failed), isInterrupted };
  };
  return { root, outer, change, write };
}

const DONE = { failed: {}, isInterrupted: false };

it("writes, replaces and removes files, makes folders and takes empty ones away", async () => {
  const { root, change, write } = await writerIn({ "a/old": "1", "b/gone/x": "1", "b/stays": "1" });
  expect(await write([change("a/old", "2"), change("b/gone/x", null), change("c/d/new", "3")])).toEqual(DONE);
  expect(await filesBelow(root)).toEqual({
    "a/old": Buffer.from("2"),
    "b/stays": Buffer.from("1"),
    "c/d/new": Buffer.from("3"),
  });
  expect(await readdir(join(root, "b"))).toEqual(["stays"]);
});

describe("nothing is written", () => {
  it.each([
    ["outside of the folder", "../x"],
    ["to an absolute path", "/tmp/x"],
    ["into Git's own files", ".git/hooks/post-checkout"],
    ["into a repository within", "sub/.GIT/config"],
    ["into what Windows takes for .git", "git~1/config"],
    ["into what macOS takes for .git", ".g\u200cit/config"],
    ["into what Windows takes for .git, with a dot", "x/.git./config"],
    ["under an alternate name of .git", ".git::$INDEX_ALLOCATION/config"],
    ["through a link to a folder", "link/x"],
    ["through a link out of the folder", "out/x"],
    ["where a file stands on the way", "file/x"],
    ["over a folder", "full"],
  ])("%s", async (_where, path) => {
    const files = {
      "real/y": "1",
      link: { symlink: "real" },
      out: { symlink: "../outside" },
      file: "1",
      "full/x": "1",
    };
    const { root, outer, change, write } = await writerIn(files);
    await mkdir(join(outer, "outside"));
    const before = await filesBelow(outer);
    const { failed } = await write([change(path, "bad", { before: undefined })]);
    expect(failed["Function/demo/hello"]).toContain("cannot be written");
    expect(await filesBelow(outer)).toEqual(before);
    expect(await readdir(root)).not.toContain(".git");
  });

  it("beside the folder that is pulled into", async () => {
    const { root, change, write } = await writerIn({ "in/x": "1", "beside/x": "1" }, "in");
    expect(Object.keys((await write([change("beside/x", "bad")])).failed)).toHaveLength(1);
    expect(Object.keys((await write([change("inner/x", "bad")])).failed)).toHaveLength(1);
    expect(await readFile(join(root, "beside/x"), "utf8")).toBe("1");
  });

  it("over what was changed since the plan was made", async () => {
    const { root, change, write } = await writerIn({ a: "1" });
    const planned = [change("a", "2"), change("b", "2")];
    await put(root, { a: "mine", b: "mine" });
    const { failed } = await write(planned);
    expect(failed["Function/demo/hello"]).toContain("was changed while this pull was under way");
    expect(await filesBelow(root)).toEqual({ a: Buffer.from("mine"), b: Buffer.from("mine") });
  });
});

it("a link that stands there is replaced, not followed", async () => {
  const { root, outer, change, write } = await writerIn({ x: { symlink: "../target" } });
  await writeFile(join(outer, "target"), "untouched");
  expect(await write([change("x", "new")])).toEqual(DONE);
  expect(await readFile(join(outer, "target"), "utf8")).toBe("untouched");
  expect(await filesBelow(root)).toEqual({ x: Buffer.from("new") });
});

it("executable files can be run, others cannot", async () => {
  const { root, change, write } = await writerIn({});
  const run = fileInMemory(Buffer.from("x"), "100755", "sha1");
  await write([change("run", "", { file: run }), change("plain", "x")]);
  expect((await stat(join(root, "run"))).mode & 0o111).not.toBe(0);
  expect((await stat(join(root, "plain"))).mode & 0o111).toBe(0);
});

it("a manifest is not written when the source of one of its objects could not be", async () => {
  const { root, change, write } = await writerIn({ file: "1" });
  const { failed } = await write([
    change("m.yaml", "manifest", { isManifest: true, objects: ["Function/demo/a", "Trigger/demo/t"] }),
    change("file/x", "code", { objects: ["Function/demo/a"], before: undefined }),
    change("other", "code", { objects: ["Function/demo/b"] }),
  ]);
  expect(Object.keys(failed).sort()).toEqual(["Function/demo/a", "Trigger/demo/t"]);
  expect(Object.keys(await filesBelow(root))).toEqual(["file", "other"]);
});

it("a signal ends it between two files, and nothing half-written is left", async () => {
  const { root, change, write } = await writerIn({});
  const abort = new AbortController();
  const reading = {
    ...fileInMemory(Buffer.from("1"), "100644", "sha1"),
    read() {
      abort.abort();
      return Buffer.from("1");
    },
  };
  const result = await write([change("a", "1", { file: reading }), change("b", "2")], abort.signal);
  expect(result.isInterrupted).toBe(true);
  expect(await readdir(root)).toEqual(["a"]);
});

it("what a killed pull left is taken away, what another one is using is not", async () => {
  const { root, change, write } = await writerIn({
    ".sless-pull-2147483646-0123abcd/1": "half",
    [`.sless-pull-${process.ppid}-0123abcd/1`]: "half",
  });
  await write([change("a", "1")]);
  expect((await readdir(root)).sort()).toEqual([`.sless-pull-${process.ppid}-0123abcd`, "a"]);
});
