import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { isKind, manifestFaults } from "../../src/apis/index.ts";
import { parseManifest } from "../../src/manifest/index.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { testCli } from "../support/test-cli.ts";

const files: [string, string[]][] = [
  ["python3.11", ["function.yaml", "handler.py", "requirements.txt"]],
  ["nodejs20", ["function.yaml", "handler.js", "package.json"]],
  ["go1.23", ["function.yaml", "go.mod", "handler.go"]],
  ["python3.13", ["function.yaml", "handler.py", "requirements.txt"]],
  ["nodejs24", ["function.yaml", "handler.js", "package.json"]],
  ["go1.26", ["function.yaml", "go.mod", "handler.go"]],
];
it.each(files)("init for %s writes manifest, handler and dependency file", async (runtime, expected) => {
  const cwd = await temporaryFolder();
  const { code, stdout } = await testCli(["init", "hello", "--runtime", runtime], { cwd });
  expect(code).toBe(0);
  expect((await readdir(join(cwd, "functions/hello"))).sort()).toEqual(expected);
  for (const file of expected) expect(stdout).toContain(`functions/hello/${file}`);
});

it("the manifest is a valid function with an http trigger", async () => {
  const cwd = await temporaryFolder();
  await testCli(["init", "hello", "-r", "nodejs20", "--into", "."], { cwd });
  const documents = parseAllDocuments(await readFile(join(cwd, "hello/function.yaml"), "utf8")).map((one) =>
    one.toJS(),
  );
  expect(documents.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
    "Function hello",
    "Trigger hello-http",
  ]);
  for (const document of documents)
    expect(isKind(document.kind) && manifestFaults(document.kind, document)).toEqual([]);
});

it.each(["y", "n", "yes", "no", "on", "off", "true", "null", "hello"])("a function may be named %s", async (name) => {
  const cwd = await temporaryFolder();
  expect((await testCli(["init", name, "-r", "python3.11", "--into", "."], { cwd })).code).toBe(0);
  const file = `${name}/function.yaml`;
  const text = await readFile(join(cwd, file), "utf8");
  const { objects, diagnostics } = parseManifest({ file, text, namespace: "default", runtimes: ["python3.11"] });
  expect(diagnostics).toEqual([]);
  expect(objects.map(({ object }) => object.metadata.name)).toEqual([name, `${name}-http`]);
});

it("the line that commits it can be pasted into a shell, whatever the folder is called", async () => {
  const cwd = await temporaryFolder();
  const { stdout } = await testCli(["init", "hello", "-r", "python3.11", "--into", "it's mine"], { cwd });
  expect(stdout).toContain(`git add 'it'\\''s mine/hello' && git commit`);
});

it("a go.mod names the version of its runtime", async () => {
  const cwd = await temporaryFolder();
  await testCli(["init", "old", "-r", "go1.23"], { cwd });
  await testCli(["init", "young", "-r", "go1.26"], { cwd });
  expect(await readFile(join(cwd, "functions/old/go.mod"), "utf8")).toBe("module old\n\ngo 1.23\n");
  expect(await readFile(join(cwd, "functions/young/go.mod"), "utf8")).toBe("module young\n\ngo 1.26\n");
});

it("init --runtime without a value lists the runtimes and writes nothing", async () => {
  const cwd = await temporaryFolder();
  const run = await testCli(["init", "--runtime"], { cwd });
  expect(run).toMatchObject({ code: 0, stdout: "go1.23\ngo1.26\nnodejs20\nnodejs24\npython3.11\npython3.13\n" });
  expect(await readdir(cwd)).toEqual([]);
});

it("what exists is left as it is", async () => {
  const cwd = await temporaryFolder();
  await testCli(["init", "hello", "-r", "python3.11"], { cwd });
  const before = await readFile(join(cwd, "functions/hello/function.yaml"), "utf8");
  const { code, stderr } = await testCli(["init", "hello", "-r", "go1.23"], { cwd });
  expect(code).toBe(2);
  expect(stderr).toContain("functions/hello exists already");
  expect(await readFile(join(cwd, "functions/hello/function.yaml"), "utf8")).toBe(before);
});

const refused: [string[], RegExp][] = [
  [["Hello", "-r", "python3.11"], /"Hello" is no name/],
  [["../x", "-r", "python3.11"], /"\.\.\/x" is no name/],
  [["a".repeat(48), "-r", "python3.11"], /at most 47/],
  [["a", "-r", "python3.12"], /did you mean python3\.11\?/],
  [["a", "-r", "rust"], /known: go1\.23, go1\.26, nodejs20, nodejs24, python3\.11, python3\.13/],
  [["A", "-r", "rust"], /"A" is no name.*"rust" is no runtime/],
  [["a"], /--runtime is missing; known: go1\.23/],
  [[], /"" is no name.*--runtime is missing/],
];
it.each(refused)("init %j is refused and writes nothing", async (argv, expected) => {
  const cwd = await temporaryFolder();
  const { code, stderr } = await testCli(["init", ...argv], { cwd });
  expect(code).toBe(2);
  expect(stderr).toMatch(expected);
  expect(await readdir(cwd)).toEqual([]);
});
