import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { functionFolder, functionYaml, handler, triggerYaml } from "../support/function-files.ts";
import { gitRepository } from "../support/git-repository.ts";
import { emptyFolder, filesBelow, pullWorld, put } from "./pull-world.ts";

const PYTHON = { runtime: "python3.11" };
const CODE = { "handler.py": handler("rest") };
const NOTHING = { "README.md": "nothing yet\n" };
const FILE = "functions/hello/function.yaml";

describe("an object that nobody owns", () => {
  it("gets a folder of its own, with what it says and no more", async () => {
    const world = await pullWorld(NOTHING);
    await world.write(
      "Function",
      "hello",
      { ...PYTHON, memoryMB: 256, secretEnv: { T: { secret: "a", key: "b" } } },
      CODE,
    );
    await world.write("Trigger", "hello-http", { type: "http", functionRef: "hello" });
    const { code, lines } = await world.pulled();
    expect({ code, lines }).toEqual({ code: 0, lines: ["Function/hello created", "Trigger/hello-http created"] });
    expect(await world.text(FILE)).toBe(`apiVersion: sless.kube5s.ru/v1alpha1
kind: Function
metadata:
  name: hello
spec:
  runtime: python3.11
  memoryMB: 256
  secretEnv:
    T:
      secret: a
      key: b
---
apiVersion: sless.kube5s.ru/v1alpha1
kind: Trigger
metadata:
  name: hello-http
spec:
  type: http
  functionRef: hello
`);
    expect(await world.text("functions/hello/handler.py")).toBe(handler("rest"));
  });

  it("is unchanged the second time, and its source is not downloaded again", async () => {
    const world = await pullWorld(NOTHING);
    await world.write(
      "Service",
      "chat",
      { ...PYTHON, replicas: 3 },
      { ...CODE, run: { mode: "755", content: "#!/bin/sh\n" } },
    );
    await world.write("FunctionJob", "once", { functionRef: "chat", runID: 2 });
    await world.write("Trigger", "tick", {
      type: "cron",
      functionRef: "elsewhere",
      schedule: "* * * * *",
      enabled: false,
    });
    expect((await world.pulled()).lines).toEqual([
      "FunctionJob/once created",
      "Service/chat created",
      "Trigger/tick created",
    ]);
    expect(world.downloads()).toEqual(["chat"]);
    const before = await filesBelow(world.git.work);
    expect(Object.keys(before)).toEqual([
      "README.md",
      "jobs/once/job.yaml",
      "services/chat/handler.py",
      "services/chat/run",
      "services/chat/service.yaml",
      "triggers/tick/trigger.yaml",
    ]);
    const { code, lines } = await world.pulled();
    expect({ code, lines }).toEqual({
      code: 0,
      lines: ["FunctionJob/once unchanged", "Service/chat unchanged", "Trigger/tick unchanged"],
    });
    expect(world.downloads()).toEqual([]);
    expect(await filesBelow(world.git.work)).toEqual(before);
  });

  it("is adopted without a change once it is pushed", async () => {
    const world = await pullWorld(NOTHING);
    await world.write("Function", "hello", { ...PYTHON, env: { A: "1_0", B: "" } }, CODE);
    await world.write("Trigger", "t", { type: "http", functionRef: "hello" });
    const before = await world.get("Function", "hello");
    await world.pulled();
    await world.git.commit("pulled", {});
    await world.sync();
    expect(await world.ready()).toBe("True ReconciliationSucceeded");
    const after = await world.get("Function", "hello");
    expect(after?.spec).toEqual(before?.spec);
    expect(after?.metadata.annotations).toMatchObject({ "sless.kube5s.ru/path": FILE });
    expect((await world.pulled()).lines).toEqual(["Function/hello unchanged", "Trigger/t unchanged"]);
    expect(await world.git.git("status", "--porcelain")).toBe("");
  });

  it("without a source yet is skipped until it has one", async () => {
    const world = await pullWorld(NOTHING);
    await world.write("Function", "hello", PYTHON);
    const { code, objects } = await world.pulled();
    expect(code).toBe(0);
    expect(objects).toMatchObject([{ action: "skipped", reason: expect.stringContaining("no source yet") }]);
    expect(Object.keys(await filesBelow(world.git.work))).toEqual(["README.md"]);
  });
});

describe("a manifest that is there", () => {
  const MANIFEST = `# mine\r
apiVersion: sless.kube5s.ru/v1alpha1\r
kind: Function\r
metadata: {name: 'hello'}\r
spec:\r
    timeoutSec: 30   # the default, on purpose\r
    memoryMB: 128\r
    # the runtime\r
    runtime: "python3.11"\r
---\r
kind: Trigger\r
apiVersion: sless.kube5s.ru/v1alpha1\r
metadata: {name: t}\r
spec: {type: http, functionRef: hello}`;

  it("is edited where it differs, and nowhere else", async () => {
    const world = await pullWorld({ [FILE]: MANIFEST, "functions/hello/handler.py": handler() });
    await world.store.patch(
      "Function",
      { namespace: "demo", name: "hello" },
      { spec: { memoryMB: 512, env: { A: "b" } } },
      { owner: "api" },
    );
    const { objects } = await world.pulled();
    expect(objects).toMatchObject([
      { action: "configured", path: FILE, changes: ["spec.memoryMB", "spec.env"], written: [] },
      { action: "unchanged" },
    ]);
    expect(await world.text(FILE)).toBe(
      MANIFEST.replace("128", "512").replace(`"python3.11"\r\n`, `"python3.11"\r\n    env:\r\n      A: b\r\n`),
    );
    expect(world.downloads()).toEqual([]);
    expect((await world.pulled()).lines).toEqual(["Function/hello unchanged", "Trigger/t unchanged"]);
  });

  it("loses what the server dropped, and leaves replicas to others", async () => {
    const world = await pullWorld({
      [FILE]: functionYaml("hello", { env: { A: "b" }, memoryMB: 64 }),
      "functions/hello/handler.py": handler(),
    });
    await world.store.patch(
      "Function",
      { namespace: "demo", name: "hello" },
      { spec: { env: null, replicas: 5 } },
      { owner: "api" },
    );
    await world.pulled();
    expect(await world.text(FILE)).toBe(functionYaml("hello", { memoryMB: 64 }));
  });

  it.each([
    [{ memoryMB: 64 }, { memoryMB: 128, timeoutSec: 30 }],
    [{ memoryMB: 128, replicas: 2 }, {}],
    [{}, { replicas: 3 }],
    [{ replicas: 3 }, { replicas: 1 }],
    [{ entrypoint: "handler.handle" }, { env: {} }],
  ])("that says %j says %j as it was pushed since, defaults written out and fields left out", async (before, after) => {
    const world = await pullWorld({ [FILE]: functionYaml("hello", before), "functions/hello/handler.py": handler() });
    await world.git.commit("newer", { [FILE]: functionYaml("hello", after) });
    await world.sync();
    await world.git.commit("as it was", { [FILE]: functionYaml("hello", before) });
    await world.pulled();
    expect(parse(await world.text(FILE))).toMatchObject({ spec: { runtime: "python3.11", ...after } });
    expect(await world.planned()).toMatchObject({ code: 0, actions: [{ action: "unchanged" }] });
    expect((await world.pulled()).lines).toEqual(["Function/hello unchanged"]);
  });

  it("keeps a trigger off that was pushed so, and leaves to PATCH what was turned off there", async () => {
    const trigger = triggerYaml("t", "hello");
    const file = "functions/hello/trigger.yaml";
    const world = await pullWorld({
      [FILE]: functionYaml("hello"),
      [file]: trigger,
      "functions/hello/handler.py": handler(),
    });
    await world.store.patch(
      "Trigger",
      { namespace: "demo", name: "t" },
      { spec: { enabled: false } },
      { owner: "api" },
    );
    expect((await world.pulled()).lines).toEqual(["Function/hello unchanged", "Trigger/t unchanged"]);
    await world.git.commit("off", { [file]: `${trigger}  enabled: false\n` });
    await world.sync();
    await world.git.commit("as it was", { [file]: trigger });
    expect((await world.pulled()).lines).toEqual(["Function/hello unchanged", "Trigger/t configured"]);
    expect(await world.text(file)).toBe(`${trigger}  enabled: false\n`);
    expect(await world.planned()).toMatchObject({ code: 0 });
  });

  it("comes back with the defaults that were written out when the folder is empty", async () => {
    const spec = { entrypoint: "handler.handle", memoryMB: 128, timeoutSec: 30 };
    const world = await pullWorld({ [FILE]: functionYaml("hello", spec), "functions/hello/handler.py": handler() });
    const folder = await emptyFolder();
    await world.pull("--into", folder, "--repository", "site");
    const text = await readFile(join(folder, FILE), "utf8");
    expect(parse(text)).toMatchObject({ spec: { runtime: "python3.11", ...spec } });
  });

  it("anywhere in the folder is the object's", async () => {
    const world = await pullWorld({
      "a/b/all.yaml": functionYaml("hello", { sourceDir: "c" }),
      "a/b/c/handler.py": handler(),
    });
    await world.write("Function", "hello", { memoryMB: 64 }, { "handler.py": handler("new"), "x/y.txt": "y" });
    const { objects } = await world.pulled();
    expect(objects).toMatchObject([{ path: "a/b/all.yaml", written: ["a/b/c/handler.py", "a/b/c/x/y.txt"] }]);
    expect(await world.text("a/b/c/x/y.txt")).toBe("y");
  });

  it("that is not valid is left alone, and its objects are not written anew", async () => {
    const world = await pullWorld(functionFolder("hello"));
    await put(world.git.work, { [FILE]: `${functionYaml("hello")}  oops: 1\n` });
    await world.write("Function", "hello", { memoryMB: 64 });
    const { code, objects } = await world.pulled();
    expect(code).toBe(1);
    expect(objects).toMatchObject([
      { name: "hello", action: "skipped", reason: expect.stringContaining(`${FILE}:7`) },
      { name: "hello-http", action: "skipped" },
    ]);
    await put(world.git.work, { [FILE]: "kind: Function\nname: hello\nname: [" });
    expect((await world.pulled()).lines).toEqual(["Function/hello skipped", "Trigger/hello-http skipped"]);
  });
});

describe("a source", () => {
  it("is downloaded only when it differs, and written where it differs", async () => {
    const world = await pullWorld({
      ...functionFolder("hello"),
      ...functionFolder("other"),
      "functions/hello/old.txt": "old",
    });
    await world.write(
      "Function",
      "hello",
      {},
      { "handler.py": handler(), "new.bin": Uint8Array.from([0, 255, 10, 13]) },
    );
    const { objects } = await world.pulled();
    expect(world.downloads()).toEqual(["hello"]);
    expect(objects[0]).toMatchObject({
      name: "hello",
      action: "configured",
      changes: ["source"],
      written: ["functions/hello/new.bin"],
      removed: ["functions/hello/old.txt"],
    });
    expect(await readFile(join(world.git.work, "functions/hello/new.bin"))).toEqual(Buffer.from([0, 255, 10, 13]));
    expect(Object.keys(await filesBelow(join(world.git.work, "functions/hello")))).toEqual([
      "function.yaml",
      "handler.py",
      "new.bin",
    ]);
    await world.pulled();
    expect(world.downloads()).toEqual([]);
  });

  it("changes modes, links and the kind of what stands there", async () => {
    const world = await pullWorld({
      ...functionFolder("hello"),
      "functions/hello/a": "file",
      "functions/hello/b/c": "folder",
      "functions/hello/run": { mode: "755", content: "x" },
      "functions/hello/link": { symlink: "a" },
    });
    const source = {
      "handler.py": handler(),
      "a/x": "folder",
      b: "file",
      run: "x",
      link: { symlink: "b" },
    };
    await world.write("Function", "hello", {}, source);
    expect((await world.pulled()).lines[0]).toBe("Function/hello configured");
    const { "function.yaml": _manifest, ...files } = await filesBelow(join(world.git.work, "functions/hello"));
    expect(files).toEqual({
      ...source,
      "handler.py": Buffer.from(handler()),
      "a/x": Buffer.from("folder"),
      b: Buffer.from("file"),
      run: Buffer.from("x"),
    });
  });

  it("keeps files that git ignores or does not have, and says so", async () => {
    const world = await pullWorld({ ...functionFolder("hello"), ".gitignore": "*.pyc\n" });
    await put(world.git.work, { "functions/hello/x.pyc": "cache", "functions/hello/notes.txt": "mine" });
    expect((await world.pulled()).lines).toEqual(["Function/hello unchanged", "Trigger/hello-http unchanged"]);
    expect(world.downloads()).toEqual([]);
    await world.write("Function", "hello", {}, { "handler.py": handler("new") });
    const { objects } = await world.pulled();
    expect(objects[0]).toMatchObject({ action: "configured", kept: ["functions/hello/notes.txt"] });
    expect(await world.text("functions/hello/notes.txt")).toBe("mine");
    expect(await world.text("functions/hello/x.pyc")).toBe("cache");
    expect((await world.pulled("--force")).objects[0]).toMatchObject({ removed: ["functions/hello/notes.txt"] });
  });

  it("that the server cannot give skips its object alone", async () => {
    const world = await pullWorld(NOTHING);
    await world.write("Function", "good", PYTHON, CODE);
    await world.write("Function", "lost", { ...PYTHON, s3Key: `functions/demo/lost/${"a".repeat(64)}.zip` });
    await world.write("Function", "foreign", { ...PYTHON, s3Key: `functions/demo/good/${"a".repeat(64)}.zip` });
    const { code, objects } = await world.pulled();
    expect(code).toBe(1);
    expect(objects).toMatchObject([
      { name: "foreign", action: "skipped", reason: expect.stringContaining("not its own") },
      { name: "good", action: "created" },
      { name: "lost", action: "skipped", reason: expect.stringContaining("It is not there.") },
    ]);
  });
});

describe("what is not committed", () => {
  it("is not overwritten without --force, and the object is left as a whole", async () => {
    const world = await pullWorld(functionFolder("hello"));
    await put(world.git.work, { "functions/hello/handler.py": "mine" });
    await world.write("Function", "hello", { memoryMB: 64 }, { "handler.py": handler("new"), "b.txt": "b" });
    const { code, objects } = await world.pulled();
    expect(code).toBe(1);
    expect(objects[0]).toMatchObject({
      action: "skipped",
      reason: expect.stringContaining("functions/hello/handler.py"),
    });
    expect(await world.git.git("status", "--porcelain")).toBe("M functions/hello/handler.py");
    expect((await world.pulled("--force")).code).toBe(0);
    expect(await world.text("functions/hello/handler.py")).toBe(handler("new"));
  });

  it.each([
    ["an edited manifest", { [FILE]: `# edited\n${functionYaml("hello")}${triggerYaml("hello-http", "hello")}` }],
    ["a deleted file", { "functions/hello/handler.py": null }],
    ["a deleted folder", { "functions/hello": null }],
  ])("%s is a change too", async (_what, change) => {
    const world = await pullWorld(functionFolder("hello"));
    await put(world.git.work, change);
    await world.write("Function", "hello", { memoryMB: 64 }, { "handler.py": handler("new") });
    const status = await world.git.git("status", "--porcelain");
    const { code, objects } = await world.pulled();
    expect(code).toBe(1);
    expect(objects[0]).toMatchObject({ action: "skipped", reason: expect.stringContaining("unsaved changes") });
    expect(await world.git.git("status", "--porcelain")).toBe(status);
    expect((await world.pulled("--force")).code).toBe(0);
    expect((await world.pulled()).lines).toEqual(["Function/hello unchanged", "Trigger/hello-http unchanged"]);
  });

  it("an edit that the server agrees with is none", async () => {
    const world = await pullWorld(functionFolder("hello"));
    await put(world.git.work, { "functions/hello/handler.py": handler("new") });
    await world.write("Function", "hello", {}, { "handler.py": handler("new") });
    expect(await world.pulled()).toMatchObject({
      code: 0,
      lines: ["Function/hello unchanged", "Trigger/hello-http unchanged"],
    });
    expect(world.downloads()).toEqual([]);
  });

  it("of a folder that is no checkout nothing is known, so it is overwritten", async () => {
    const world = await pullWorld(NOTHING);
    await world.write("Function", "hello", PYTHON, CODE);
    const into = await emptyFolder();
    await world.pulled("--into", into);
    await put(into, { "functions/hello/extra.txt": "mine" });
    await world.write("Function", "hello", { memoryMB: 64 }, { "handler.py": handler("new") });
    const { objects } = await world.pulled("--into", into);
    expect(objects).toMatchObject([{ action: "configured", kept: ["functions/hello/extra.txt"] }]);
    expect(await readFile(join(into, "functions/hello/handler.py"), "utf8")).toBe(handler("new"));
  });

  it("line ends that git converts are no change", async () => {
    const world = await pullWorld(functionFolder("hello"));
    await put(world.git.work, { "functions/hello/handler.py": handler().replaceAll("\n", "\r\n") });
    expect((await world.pulled()).lines).toEqual(["Function/hello unchanged", "Trigger/hello-http unchanged"]);
    expect(world.downloads()).toEqual([]);
  });
});

describe("what is gone on the server", () => {
  it("stays without --prune, and goes with it, with its code and no more", async () => {
    const files = { ...functionFolder("hello"), ...functionFolder("other"), ".gitignore": "*.pyc\n" };
    const world = await pullWorld(files);
    await put(world.git.work, { "functions/hello/x.pyc": "cache" });
    for (const [kind, name] of [
      ["Function", "hello"],
      ["Trigger", "hello-http"],
    ] as const)
      await world.remove(kind, name);
    const { code, objects } = await world.pulled();
    expect(code).toBe(0);
    expect(objects.filter(({ action }) => action === "skipped")).toMatchObject([
      { name: "hello", reason: expect.stringContaining("--prune") },
      { name: "hello-http" },
    ]);
    expect((await world.pulled("--prune", "--dry-run")).code).toBe(1);
    expect(await world.git.git("status", "--porcelain")).toBe("");
    expect((await world.pulled("--prune")).lines).toEqual([
      "Function/hello deleted",
      "Function/other unchanged",
      "Trigger/hello-http deleted",
      "Trigger/other-http unchanged",
    ]);
    expect(Object.keys(await filesBelow(world.git.work))).toEqual([
      ".gitignore",
      "functions/hello/x.pyc",
      "functions/other/function.yaml",
      "functions/other/handler.py",
    ]);
    await world.git.commit("pruned", {});
    await world.sync();
    expect(await world.names()).toEqual(["Function/demo/other", "Trigger/demo/other-http"]);
  });

  it("takes only its document out of a manifest", async () => {
    const world = await pullWorld(functionFolder("hello"));
    await world.remove("Trigger", "hello-http");
    await world.pulled("--prune");
    expect(await world.text(FILE)).toBe(functionYaml("hello"));
  });

  it("is not taken for gone when all of it seems to be, and nothing tells that it was ever there", async () => {
    const files = Object.assign({}, ...["a", "b", "c"].map((name) => functionFolder(name)));
    const world = await pullWorld(files, { spec: { url: "https://example.com/other.git" } });
    const { code, objects } = await world.pulled("--prune");
    expect(code).toBe(1);
    expect(objects.map(({ action }) => action)).toEqual(Array(6).fill("skipped"));
    expect(objects[0]!.reason).toContain("6 of 6 objects would go");
    expect((await world.pulled("--prune", "--force")).lines).toHaveLength(6);
    expect(Object.keys(await filesBelow(world.git.work))).toEqual([]);
  });

  it("is not what was never there: an object that is not pushed yet stays", async () => {
    const world = await pullWorld(functionFolder("hello"));
    await world.git.commit("new", functionFolder("fresh"));
    for (const more of [[], ["--prune"]]) {
      const { code, objects } = await world.pulled(...more);
      expect(code).toBe(0);
      expect(objects.filter(({ name }) => name.startsWith("fresh"))).toMatchObject([
        { action: "skipped", reason: "is not deployed yet" },
        { action: "skipped", reason: "is not deployed yet" },
      ]);
    }
    await put(world.git.work, functionFolder("draft"));
    expect((await world.pulled("--prune")).objects.find(({ name }) => name === "draft")).toMatchObject({
      action: "skipped",
    });
  });
});

describe("objects of other repositories", () => {
  it("are skipped and said so; those of a repository that is gone are nobody's", async () => {
    const world = await pullWorld(functionFolder("hello"));
    const { metadata } = await world.repository();
    await world.store.create<"Repository">(
      {
        kind: "Repository",
        metadata: { namespace: "demo", name: "other" },
        spec: { url: "https://example.com/x.git" },
      },
      { owner: "api" },
    );
    const into = await emptyFolder();
    const { code, objects } = await world.pulled("--into", into);
    expect(code).toBe(0);
    expect(objects).toMatchObject([
      { action: "skipped", reason: "belongs to repository site" },
      { action: "skipped", reason: "belongs to repository site" },
    ]);
    expect((await world.pulled("--into", into, "--repository", "other")).lines).toEqual([
      "Function/hello skipped",
      "Trigger/hello-http skipped",
    ]);
    await world.store.delete("Repository", { namespace: "demo", name: "site" }, { uid: metadata.uid });
    await world.sync();
    expect((await world.pulled("--into", into)).lines).toEqual([
      "Function/hello created",
      "Trigger/hello-http created",
    ]);
  });

  it("named by --repository, all of it comes into an empty folder at the places where it stood", async () => {
    const world = await pullWorld({
      "a/b.yaml": functionYaml("hello", { sourceDir: "src" }),
      "a/src/handler.py": handler(),
    });
    const into = await emptyFolder();
    expect((await world.pulled("--into", into, "--repository", "site")).code).toBe(0);
    expect(Object.keys(await filesBelow(into))).toEqual(["a/b.yaml", "a/src/handler.py"]);
  });
});

it("--only takes objects and whole kinds, and knows what is not there", async () => {
  const world = await pullWorld(NOTHING);
  for (const name of ["a", "b"]) {
    await world.write("Function", name, PYTHON, CODE);
    await world.write("Trigger", name, { type: "http", functionRef: name });
  }
  expect((await world.pulled("--only", "function/a")).lines).toEqual(["Function/a created"]);
  expect((await world.pulled("--only", "fn/b", "triggers")).lines).toEqual([
    "Function/b created",
    "Trigger/a skipped",
    "Trigger/b created",
  ]);
  expect(await world.pulled("--only", "function/zzz")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("function/zzz"),
  });
});

it("a dry run says what a pull would do, and writes nothing", async () => {
  const world = await pullWorld(NOTHING);
  await world.write("Function", "hello", PYTHON, CODE);
  const into = await emptyFolder();
  const run = await world.pull("--into", into, "--dry-run");
  expect(run.code).toBe(1);
  expect(run.stdout).toContain("function/hello  created");
  expect(run.stdout).toContain("1 created (dry run: nothing was written)");
  await expect(filesBelow(into)).rejects.toThrow("ENOENT");
});

describe("-o", () => {
  it("tells the same as JSON and YAML, and the names of what changed", async () => {
    const world = await pullWorld({ [FILE]: functionYaml("hello"), "functions/hello/handler.py": handler() });
    await world.write("Function", "new", PYTHON, CODE);
    const run = async (form: string) => (await world.pull("--dry-run", "-o", form)).stdout;
    expect(parse(await run("yaml"))).toEqual(JSON.parse(await run("json")));
    expect(await run("name")).toBe("function/new\n");
  });
});

describe("sless plan --server", () => {
  const FILES = { [FILE]: functionYaml("hello"), "functions/hello/handler.py": handler() };

  it("counts edits that are not committed, unless a head is named", async () => {
    const world = await pullWorld(FILES);
    expect(await world.planned()).toMatchObject({ code: 0, actions: [{ action: "unchanged" }] });
    await put(world.git.work, { "functions/hello/handler.py": handler("edited") });
    expect(await world.planned()).toMatchObject({ code: 1, actions: [{ action: "update", name: "hello" }] });
    const head = await world.sless("plan", "--server", "--repo", world.git.work, "--head", "HEAD");
    expect(head).toMatchObject({ code: 0, stdout: "1 unchanged\n", stderr: "" });
  });

  it("takes over what was pulled of nobody, and has nothing to do once that is pushed", async () => {
    const world = await pullWorld(FILES);
    await world.write("Function", "new", PYTHON, CODE);
    await world.pulled();
    expect(await world.planned()).toMatchObject({
      actions: [{ action: "unchanged" }, { action: "adopt", name: "new", changes: [] }],
    });
    await world.git.commit("pulled", {});
    await world.sync();
    expect(await world.planned()).toMatchObject({ code: 0, counts: { unchanged: 2 } });
  });

  it("changes no field after a pull of what was edited behind the repository's back", async () => {
    const world = await pullWorld({ ...FILES, [FILE]: functionYaml("hello", { memoryMB: 64 }) });
    await world.write("Function", "hello", { memoryMB: 256 });
    expect(await world.planned()).toMatchObject({
      actions: [{ changes: [{ path: "spec.memoryMB", before: 256, after: 64 }] }],
    });
    await world.pulled();
    expect(await world.planned()).toMatchObject({ actions: [{ action: "update", changes: [] }] });
  });

  it("plans a folder that no repository follows as a new one, and takes a named one", async () => {
    const world = await pullWorld(FILES);
    const other = await gitRepository({ "README.md": "" });
    await world.pull("--into", other.work, "--repository", "site");
    const fresh = await world.sless("plan", "--server", "--repo", other.work);
    expect(fresh.code).toBe(2);
    expect(fresh.stderr).toContain("No repository of namespace demo follows this one");
    expect(fresh.stdout).toContain("it belongs to another repository");
    const named = await world.sless("plan", "--server", "--repo", other.work, "--repository", "site");
    expect(named).toMatchObject({ code: 0, stdout: "1 unchanged\n" });
    const unknown = await world.sless("plan", "--server", "--repo", other.work, "--repository", "none");
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining("no repository is named none") });
  });
});
