import { mkdir, readFile, symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { functionFolder, functionYaml, handler, triggerYaml } from "../support/function-files.ts";
import { gitRepository } from "../support/git-repository.ts";
import { emptyFolder, filesBelow, pullWorld, put } from "./pull-world.ts";

const PYTHON = { runtime: "python3.11" };
const CODE = { "handler.py": handler("rest") };
const NOTHING = { "README.md": "nothing yet\n" };
const DATA = "apiVersion: v1\nkind: ConfigMap\n";

describe("a new object", () => {
  it("whose source has a file of the manifest's name gets a manifest of another name", async () => {
    const world = await pullWorld(NOTHING);
    await world.write("Function", "a", PYTHON, { ...CODE, "function.yaml": DATA });
    await world.write("Function", "b", PYTHON, { ...CODE, "Function.YAML": DATA, "SLESS.yaml": DATA });
    const { objects } = await world.pulled();
    expect(objects).toMatchObject([{ path: "functions/a/sless.yaml" }, { path: "functions/b/sless-2.yaml" }]);
    await world.git.commit("pulled", {});
    await world.sync();
    expect(await world.ready()).toBe("True ReconciliationSucceeded");
  });

  it("does not go where something else stands", async () => {
    const world = await pullWorld({
      "functions/a/notes.txt": "mine",
      "functions/b": { symlink: "../elsewhere" },
      "functions/c": "a file",
      ...functionFolder("d"),
      "functions/d/function.yaml": functionYaml("renamed") + triggerYaml("t", "renamed"),
    });
    for (const name of ["a", "b", "c", "d"]) await world.write("Function", name, PYTHON, CODE);
    const { objects } = await world.pulled("--only", "functions");
    expect(objects.map(({ name, path }) => [name, path])).toEqual([
      ["a", "functions/a-2/function.yaml"],
      ["b", "functions/b-2/function.yaml"],
      ["c", "functions/c-2/function.yaml"],
      ["d", "functions/d-2/function.yaml"],
      ["renamed", "functions/d/function.yaml"],
    ]);
  });

  it("finds no place when the folder of its kind is a link, and nothing is written through it", async () => {
    const world = await pullWorld({ functions: { symlink: "elsewhere" }, "elsewhere/x": "1" });
    await world.write("Function", "a", PYTHON, CODE);
    const { code, objects } = await world.pulled();
    expect(code).toBe(1);
    expect(objects).toMatchObject([{ action: "skipped", reason: expect.stringContaining("no free place") }]);
    expect(await world.git.git("status", "--porcelain")).toBe("");
  });

  it("goes on where a pull was cut short", async () => {
    const world = await pullWorld(NOTHING);
    const source = { ...CODE, "b.txt": "b" };
    await world.write("Function", "a", PYTHON, source);
    await put(world.git.work, { "functions/a/b.txt": "b" });
    expect((await world.pulled()).objects).toMatchObject([
      { path: "functions/a/function.yaml", written: ["functions/a/handler.py"] },
    ]);
  });

  it("with the name that a function of another kind has here waits until that one is gone", async () => {
    const world = await pullWorld(functionFolder("a"));
    await world.remove("Function", "a");
    await world.write("Service", "a", PYTHON, CODE);
    const { code, objects } = await world.pulled();
    expect(code).toBe(1);
    expect(objects.find(({ kind }) => kind === "Service")).toMatchObject({ action: "skipped" });
    expect((await world.pulled("--prune")).lines).toEqual([
      "Function/a deleted",
      "Service/a created",
      "Trigger/a-http unchanged",
    ]);
  });

  it("in a repository without a commit is written too", async () => {
    const world = await pullWorld({});
    await world.write("Function", "a", PYTHON, CODE);
    expect((await world.pulled()).lines).toEqual(["Function/a created"]);
    await world.write("Function", "a", { memoryMB: 64 });
    expect((await world.pulled()).objects).toMatchObject([
      { action: "skipped", reason: expect.stringContaining("unsaved changes in functions/a/function.yaml") },
    ]);
  });
});

describe("a source", () => {
  it("that holds a manifest is not written, for it would define objects here", async () => {
    const world = await pullWorld(NOTHING);
    await world.write("Function", "a", PYTHON, { ...CODE, "x/trigger.yaml": triggerYaml("evil", "a") });
    const { code, objects } = await world.pulled();
    expect(code).toBe(1);
    expect(objects).toMatchObject([{ action: "skipped", reason: expect.stringContaining("x/trigger.yaml") }]);
    expect(Object.keys(await filesBelow(world.git.work))).toEqual(["README.md"]);
  });

  it("that others run too changes when they have the same, and not when they have another", async () => {
    const both = functionYaml("a") + functionYaml("b", { entrypoint: "handler:other" });
    const world = await pullWorld({ "x/function.yaml": both, "x/handler.py": handler() });
    await world.write("Function", "a", {}, { "handler.py": handler("a") });
    const alone = await world.pulled();
    expect(alone.code).toBe(1);
    expect(alone.objects).toMatchObject([
      { action: "skipped", reason: expect.stringContaining("Function/demo/b") },
      { action: "unchanged" },
    ]);
    await world.write("Function", "b", {}, { "handler.py": handler("a") });
    expect((await world.pulled("--only", "function/a")).lines).toEqual(["Function/a configured"]);
    expect((await world.pulled()).lines).toEqual(["Function/a unchanged", "Function/b unchanged"]);
  });

  it("is not written into the folder of another function", async () => {
    const world = await pullWorld({
      "a/function.yaml": functionYaml("a"),
      "a/handler.py": handler(),
      "a/in/function.yaml": functionYaml("in"),
      "a/in/handler.py": handler(),
    });
    await world.write("Function", "a", {}, { "handler.py": handler(), "in/handler.py": "bad" });
    const { code, objects } = await world.pulled();
    expect(code).toBe(1);
    expect(objects[0]).toMatchObject({ action: "skipped", reason: expect.stringContaining("in/handler.py") });
    expect(await world.git.git("status", "--porcelain")).toBe("");
  });

  it("that an ignore file of this folder would take from is not written", async () => {
    const world = await pullWorld({ ...NOTHING, ".slessignore": "*.bin\n" });
    await world.write("Function", "a", PYTHON, { ...CODE, "x.bin": "1" });
    await world.write("Function", "b", PYTHON, CODE);
    const { code, objects } = await world.pulled();
    expect(code).toBe(1);
    expect(objects).toMatchObject([
      { action: "skipped", reason: expect.stringContaining("would lack x.bin") },
      { action: "created" },
    ]);
  });

  it("whose files git ignores is written, and said so", async () => {
    const world = await pullWorld({ ...NOTHING, ".gitignore": "dist/\n" });
    await world.write("Function", "a", PYTHON, { ...CODE, "dist/x.js": "1" });
    const { code, objects } = await world.pulled();
    expect({ code, objects }).toMatchObject({
      code: 0,
      objects: [{ action: "created", reason: expect.stringContaining("git ignores functions/a/dist/x.js") }],
    });
    expect((await world.pulled()).lines).toEqual(["Function/a unchanged"]);
  });

  it("that became another one while it was downloaded is left for the next pull", async () => {
    const world = await pullWorld(NOTHING);
    await world.write("Function", "a", PYTHON, CODE);
    const first = await world.get("Function", "a");
    await world.write("Function", "b", PYTHON, { "handler.py": "other" });
    const other = await world.get("Function", "b");
    const source = world.client.source!;
    world.client.source = async () => {
      const bytes = await world.objects.get(other!.spec.s3Key!);
      return bytes ?? source("functions", first!.metadata.name, { namespace: "demo" });
    };
    const { objects } = await world.pulled("--only", "function/a");
    expect(objects).toMatchObject([{ action: "skipped", reason: expect.stringContaining("pull again") }]);
  });
});

describe("the folder", () => {
  it("may be a part of a repository: what stands elsewhere is skipped, and new objects come into it", async () => {
    const world = await pullWorld({ ...functionFolder("hello"), "part/x": "1", "part/.slessignore": "" });
    await world.write("Function", "fresh", PYTHON, CODE);
    const into = join(world.git.work, "part");
    const { code, objects } = await world.pulled("--into", into);
    expect(code).toBe(0);
    expect(objects).toMatchObject([
      { name: "fresh", action: "created", path: "part/functions/fresh/function.yaml" },
      { name: "hello", action: "skipped", reason: "stands in functions/hello/function.yaml, outside of the folder" },
      { name: "hello-http", action: "skipped" },
    ]);
  });

  it("need not be there", async () => {
    const world = await pullWorld(NOTHING);
    await world.write("Function", "fresh", PYTHON, CODE);
    const { objects } = await world.pulled("--into", join(world.git.work, "new/part"));
    expect(objects).toMatchObject([{ path: "new/part/functions/fresh/function.yaml" }]);
  });

  it("is the part that the repository follows; elsewhere the same names are others' business", async () => {
    const world = await pullWorld(
      {
        "prod/function.yaml": functionYaml("a"),
        "prod/handler.py": handler(),
        "staging/function.yaml": functionYaml("a"),
      },
      { spec: { path: "prod" } },
    );
    await world.write("Function", "a", { memoryMB: 64 });
    await world.write("Function", "fresh", PYTHON, CODE);
    expect((await world.pulled()).objects).toMatchObject([
      { name: "a", action: "configured", path: "prod/function.yaml" },
      { name: "fresh", action: "created", path: "prod/functions/fresh/function.yaml" },
    ]);
    expect(await world.text("staging/function.yaml")).toBe(functionYaml("a"));
    const { code, stderr } = await world.pull("--into", join(world.git.work, "staging"));
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining("follows only prod") });
  });

  it("is not looked into through a link", async () => {
    const world = await pullWorld(
      { ...NOTHING, prod: { symlink: "elsewhere" }, "elsewhere/x": "1" },
      { spec: { path: "prod" } },
    );
    await world.write("Function", "a", PYTHON, CODE);
    const { code, stderr } = await world.pull();
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining("is a link") });
    expect(await world.git.git("status", "--porcelain")).toBe("");
  });

  it("never reaches into repositories within, and not into Git's own files", async () => {
    const world = await pullWorld(NOTHING);
    await mkdir(join(world.git.work, "functions/a/.git"), { recursive: true });
    await put(world.git.work, { "functions/a/function.yaml": functionYaml("inner") });
    await world.write("Function", "a", PYTHON, CODE);
    expect((await world.pulled()).objects).toMatchObject([{ path: "functions/a-2/function.yaml" }]);
    const run = await world.pull("--into", join(world.git.work, ".git"));
    expect(run).toMatchObject({ code: 2, stderr: expect.stringContaining("belongs to Git itself") });
  });

  it.each(["file", "file/below", "link"])("is none when %s is no folder, which is told", async (name) => {
    const world = await pullWorld(NOTHING);
    const folder = await emptyFolder();
    await put(folder, { file: "text" });
    await symlink("file", join(folder, "link"));
    await world.write("Function", "a", PYTHON, CODE);
    const run = await world.pull("--into", join(folder, name));
    expect(run).toMatchObject({ code: 2, stderr: expect.stringContaining("is no folder") });
    expect(run.stderr).not.toContain("    at ");
    expect(await readFile(join(folder, "file"), "utf8")).toBe("text");
  });

  it("of a repository with sha256 ids is compared by those", async () => {
    const git = await gitRepository(functionFolder("hello"), { objectFormat: "sha256" });
    const world = await pullWorld(NOTHING, { spec: { url: git.work } });
    const into = git.work;
    expect((await world.pulled("--into", into)).lines).toEqual([
      "Function/hello unchanged",
      "Trigger/hello-http unchanged",
    ]);
    expect(world.downloads()).toEqual([]);
    await world.write("Function", "rest", PYTHON, CODE);
    expect((await world.pulled("--into", into, "--only", "function/rest")).lines).toEqual(["Function/rest created"]);
    expect((await world.pulled("--into", into, "--only", "function/rest")).lines).toEqual(["Function/rest unchanged"]);
  });
});

it("the summary is a table of what happened, and counts of all", async () => {
  const world = await pullWorld(functionFolder("hello"));
  await world.write("Function", "hello", { memoryMB: 64 }, { "handler.py": handler("new"), "b.txt": "" });
  await world.write("Function", "bare", PYTHON);
  const { code, stdout, stderr } = await world.pull("--into", world.git.work);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toBe(`OBJECT          ACTION      PATH                           WHAT
function/bare   skipped     -                              has no source yet; upload one, then pull
function/hello  configured  functions/hello/function.yaml  spec.memoryMB, 2 files written
${world.git.work}: 1 configured, 1 unchanged, 1 skipped
`);
});

it("what stands on the server in a way that no manifest can say is skipped", async () => {
  const world = await pullWorld(NOTHING);
  await world.write("Function", "long", { ...PYTHON, env: { ["A".repeat(1100)]: "x" } }, CODE);
  await world.write("Function", "fine", PYTHON, CODE);
  expect((await world.pulled("--into", await emptyFolder())).lines).toEqual([
    "Function/fine created",
    "Function/long skipped",
  ]);
});
