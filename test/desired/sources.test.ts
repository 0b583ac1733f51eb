import { describe, expect, it } from "vitest";
import { document, functionFolder, functionYaml, handler, triggerYaml } from "../support/function-files.ts";
import type { Files } from "../support/git-repository.ts";
import { desiredFrom, faultsIn, objectsIn, sourceOf } from "./open-reader.ts";

const YAML = "functions/hello/function.yaml";

describe("what belongs to a source", () => {
  const cases: Record<string, { files: Files; sources: Record<string, string[]> }> = {
    "its folder, with all folders in it": {
      files: { ...functionFolder("hello"), "functions/hello/lib/util.py": "", "README.md": "" },
      sources: { hello: ["handler.py", "lib/util.py"] },
    },
    "no manifest, but other YAML": {
      files: {
        ...functionFolder("hello"),
        "functions/hello/data.yaml": "a: 1",
        "functions/hello/t/trigger.yaml": triggerYaml("t", "hello"),
      },
      sources: { hello: ["data.yaml", "handler.py"] },
    },
    "the folder that sourceDir names": {
      files: {
        [YAML]: functionYaml("hello", { sourceDir: "./src/" }),
        "functions/hello/src/handler.py": "",
        "functions/hello/README.md": "",
      },
      sources: { hello: ["handler.py"] },
    },
    "the same files for two workloads that share a folder": {
      files: {
        ...functionFolder("hello"),
        "functions/hello/job.yaml": document("FunctionJob", "once", { runtime: "python3.11" }),
      },
      sources: { hello: ["handler.py"], once: ["handler.py"] },
    },
    "not the folder of another workload": {
      files: {
        "function.yaml": functionYaml("outer"),
        "handler.py": handler(),
        ...functionFolder("inner"),
        "functions/shared.py": "",
      },
      sources: { outer: ["functions/shared.py", "handler.py"], inner: ["handler.py"] },
    },
    "nothing that .slessignore names, here or above, but the ignore file itself": {
      files: {
        ...functionFolder("hello"),
        ".slessignore": "*.log\n",
        "functions/hello/.slessignore": "tests/\n*.yaml\n",
        "functions/hello/a.log": "",
        "functions/hello/tests/a.py": "",
        "functions/hello/keep.txt": "",
      },
      sources: { hello: [".slessignore", "handler.py", "keep.txt"] },
    },
    "links that stay within": {
      files: { ...functionFolder("hello"), "functions/hello/lib/alias.py": { symlink: "../handler.py" } },
      sources: { hello: ["handler.py", "lib/alias.py"] },
    },
    executables: {
      files: { ...functionFolder("hello"), "functions/hello/run.sh": { mode: "755", content: "#!/bin/sh\n" } },
      sources: { hello: ["handler.py", "run.sh"] },
    },
  };
  it.each(Object.entries(cases))("%s", async (_name, { files, sources }) => {
    const state = await (await desiredFrom(files)).read();
    expect(faultsIn(state)).toEqual([]);
    for (const [name, expected] of Object.entries(sources)) expect(sourceOf(state, name)).toEqual(expected);
  });

  it("a workload whose manifest breaks keeps its folder, so that the source around it does not change", async () => {
    const { repository, read } = await desiredFrom({
      "function.yaml": functionYaml("outer"),
      "handler.py": handler(),
      ...functionFolder("inner"),
    });
    const before = (await read()).objects.find(({ intent }) => intent.metadata.name === "outer");
    await repository.commit("break", { "functions/inner/function.yaml": ":\n- [" });
    const after = (await read()).objects.find(({ intent }) => intent.metadata.name === "outer");
    expect(after?.source?.digest).toBe(before?.source?.digest);
  });

  it("a manifest hidden by .slessignore still counts", async () => {
    const { read } = await desiredFrom({ ...functionFolder("hello"), ".slessignore": "*.yaml\n" });
    expect(objectsIn(await read())).toHaveLength(2);
  });

  it("a commit elsewhere, another place and another memory leave the digest as it is", async () => {
    const { repository, read } = await desiredFrom(functionFolder("hello"));
    const digest = async () => (await read()).objects.find(({ source }) => source)?.source?.digest;
    const first = await digest();
    await repository.commit("elsewhere", { "README.md": "more" });
    await repository.commit("configuration", { [YAML]: functionYaml("hello", { memoryMB: 256 }) });
    await repository.git("mv", "functions/hello", "moved");
    await repository.commit("move", {});
    expect(await digest()).toBe(first);
    await repository.commit("code", { "moved/handler.py": handler("other") });
    expect(await digest()).not.toBe(first);
  });

  it("a change of dependency files alone is told apart from one of code", async () => {
    const { repository, read } = await desiredFrom(functionFolder("hello"));
    const dependencies = async () => (await read()).objects.find(({ source }) => source)?.source?.dependenciesDigest;
    const first = await dependencies();
    await repository.commit("code", { "functions/hello/handler.py": handler("other") });
    expect(await dependencies()).toBe(first);
    await repository.commit("dependencies", { "functions/hello/requirements.txt": "idna==3.7\n" });
    expect(await dependencies()).not.toBe(first);
  });
});

describe("a faulty source blocks its workload alone and no pruning", () => {
  const folder = "functions/hello";
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${"a".repeat(64)}\nsize 12345\n`;
  const cases: Record<string, { files: Files; fault: string; says: string }> = {
    "a link to /etc/passwd": {
      files: { [`${folder}/passwd`]: { symlink: "/etc/passwd" } },
      fault: `source_escapes ${YAML}:3:1`,
      says: `${folder}/passwd`,
    },
    "a link that climbs out (lesson 13)": {
      files: { [`${folder}/up`]: { symlink: "../../other/secret" } },
      fault: `source_escapes ${YAML}:3:1`,
      says: `${folder}/up`,
    },
    "a link that climbs out through another link": {
      files: { [`${folder}/a/b/c`]: { symlink: "../.." }, [`${folder}/x`]: { symlink: "a/b/c/../../secret" } },
      fault: `source_escapes ${YAML}:3:1`,
      says: `${folder}/x`,
    },
    "links in a circle": {
      files: { [`${folder}/a`]: { symlink: "b" }, [`${folder}/b`]: { symlink: "a" } },
      fault: `source_unsupported ${YAML}:3:1`,
      says: `${folder}/a is a link that leads in a circle`,
    },
    "a submodule": {
      files: { [`${folder}/vendor`]: { submodule: "1".repeat(40) } },
      fault: `source_unsupported ${YAML}:3:1`,
      says: `${folder}/vendor is a submodule`,
    },
    "a Git LFS pointer": {
      files: { [`${folder}/model.bin`]: pointer },
      fault: `source_unsupported ${YAML}:3:1`,
      says: `${folder}/model.bin is a Git LFS pointer`,
    },
    "names that differ in case alone": {
      files: { [`${folder}/Readme`]: "", [`${folder}/README`]: "" },
      fault: `source_name_refused ${YAML}:3:1`,
      says: `${folder}/Readme differs from "README" in case alone`,
    },
    "a name that could not be unpacked": {
      files: { [`${folder}/a\\b`]: "" },
      fault: `source_name_refused ${YAML}:3:1`,
      says: "holds a backslash",
    },
    "a missing handler file": {
      files: { [`${folder}/handler.py`]: null },
      fault: `source_missing ${YAML}:5:1`,
      says: "needs handler.py",
    },
    "a missing handler of an entry point": {
      files: { [YAML]: functionYaml("hello", { entrypoint: "app.main.run" }) },
      fault: `source_missing ${YAML}:7:3`,
      says: "needs app.main.py",
    },
    "a missing sourceDir": {
      files: { [YAML]: functionYaml("hello", { sourceDir: "src" }) },
      fault: `source_missing ${YAML}:7:3`,
      says: `${folder}/src`,
    },
    "an ignore file too large to be one": {
      files: { ".slessignore": `# ${"x".repeat(70_000)}\n` },
      fault: `source_unsupported ${YAML}:3:1`,
      says: ".slessignore is an ignore file of more than 64 KiB",
    },
  };
  it.each(Object.entries(cases))("%s", async (_name, { files, fault, says }) => {
    const { repository, read } = await desiredFrom({ ...functionFolder("hello"), ...functionFolder("other") });
    await repository.commit("fault", files);
    const state = await read();
    const own = state.diagnostics.filter(({ file }) => file === YAML);
    expect(faultsIn(state)).toContain(fault);
    expect(own[0]?.message).toContain(says);
    expect(state.blocked).toContain("Function/demo/hello");
    expect(state.blocksPruning).toBe(false);
    if (!(".slessignore" in files)) expect(sourceOf(state, "other")).toEqual(["handler.py"]);
  });

  it("more files than the limit", async () => {
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`${folder}/data/${at}.txt`, `${at}`]));
    const { read } = await desiredFrom(
      { ...functionFolder("hello"), ...functionFolder("other"), ...many },
      { limits: { maxSourceFiles: 20 } },
    );
    const state = await read();
    expect(state.diagnostics[0]?.message).toContain(`The source of ${folder}/ has more than 20 files. Name`);
    expect([...state.blocked]).toEqual(["Function/demo/hello"]);
  });

  it("more bytes than the limit, which .slessignore can lower", async () => {
    const { repository, read } = await desiredFrom(
      { ...functionFolder("hello"), [`${folder}/big.bin`]: Buffer.alloc(3 * 1024 * 1024) },
      { limits: { maxSourceBytes: 1024 * 1024 } },
    );
    expect((await read()).diagnostics[0]?.message).toContain("has 3.0 MiB, more than 1.0 MiB. Name");
    await repository.commit("ignore it", { [`${folder}/.slessignore`]: "*.bin\n" });
    expect(faultsIn(await read())).toEqual([]);
  });

  it("a .git folder that somebody forged is not looked into", async () => {
    const { repository, read } = await desiredFrom(functionFolder("hello"));
    const { execFileSync } = await import("node:child_process");
    const mktree = (input: string) =>
      execFileSync("git", ["-C", repository.work, "mktree"], { input, encoding: "utf8" }).trim();
    const inner = await repository.git("rev-parse", "HEAD:functions");
    const own = (await repository.git("ls-tree", "HEAD:functions/hello")).concat("\n");
    const hello = mktree(`${own}040000 tree ${inner}\t.git\n`);
    const root = mktree(`040000 tree ${mktree(`040000 tree ${hello}\thello\n`)}\tfunctions\n`);
    await repository.git("reset", "--quiet", "--soft", await repository.git("commit-tree", root, "-m", "forged"));
    const state = await read();
    expect(faultsIn(state)).toEqual([`source_name_refused ${YAML}:3:1`]);
    expect(objectsIn(state)).toEqual([`Trigger/hello-http ${YAML}:9`]);
  });
});
