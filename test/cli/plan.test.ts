import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parse } from "yaml";
import type { PlanDocumentAction } from "../../src/plan/index.ts";
import { openIsomorphicReader } from "../../src/source/isomorphic/index.ts";
import { type Files, type GitRepository, gitRepository } from "../support/git-repository.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { testCli } from "../support/test-cli.ts";

const functionYaml = (name: string, spec = "") => `apiVersion: sless.kube5s.ru/v1alpha1
kind: Function
metadata: {name: ${name}}
spec:
  runtime: python3.11
${spec}`;
const HANDLER = "def handle(event, context): return 1\n";
const FUNCTIONS: Files = {
  "functions/a/function.yaml": functionYaml("a"),
  "functions/a/handler.py": HANDLER,
  "functions/a/requirements.txt": "one==1.0\n",
  "functions/b/function.yaml": functionYaml("b"),
  "functions/b/handler.py": HANDLER,
};
const deps = { openGitReader: (repository: string) => openIsomorphicReader({ repository }) };

const planOf = (repository: Pick<GitRepository, "dir">, ...argv: string[]) =>
  testCli(["plan", "--repo", repository.dir, ...argv], { deps });

/** A repository whose branch `change` differs from `main` by `files`. */
async function changed(files: Files): Promise<GitRepository> {
  const repository = await gitRepository(FUNCTIONS);
  await repository.git("switch", "--quiet", "--create", "change");
  await repository.commit("change", files);
  return repository;
}

it("without a base everything is new, and the exit code is 1", async () => {
  const { code, stdout } = await planOf(await gitRepository(FUNCTIONS));
  expect(code).toBe(1);
  expect(stdout).toMatchInlineSnapshot(`
    "+ Function/default/a   deps + append: requirements.txt is new   (functions/a/function.yaml:2)
    + Function/default/b   append: nothing is to be installed   (functions/b/function.yaml:2)
    2 to create; builds: 1 append, 1 deps + append
    "
  `);
});

it("the same on both sides is nothing to do, and the exit code is 0", async () => {
  const { code, stdout } = await planOf(await gitRepository(FUNCTIONS), "--base", "main");
  expect(code).toBe(0);
  expect(stdout).toMatchInlineSnapshot(`
    "2 unchanged
    "
  `);
});

const changes: Record<string, [Files, RegExp]> = {
  "a changed handler is code": [
    { "functions/a/handler.py": "def handle(event): return 2\n" },
    /~ Function\/default\/a +code/,
  ],
  "a changed requirements.txt is dependencies": [
    { "functions/a/requirements.txt": "one==1.1\n" },
    /~ Function\/default\/a +dependencies/,
  ],
  "a changed field is configuration": [
    { "functions/a/function.yaml": functionYaml("a", "  memoryMB: 256\n") },
    /memoryMB (unset|128) → 256/,
  ],
  "a removed folder is a deletion": [
    { "functions/b/function.yaml": null, "functions/b/handler.py": null },
    /- Function\/default\/b/,
  ],
  "a new folder is a creation": [
    { "functions/c/function.yaml": functionYaml("c"), "functions/c/handler.py": HANDLER },
    /\+ Function\/default\/c/,
  ],
};
it.each(Object.entries(changes))("%s", async (_name, [files, expected]) => {
  const { code, stdout } = await planOf(await changed(files), "--base", "main");
  expect(code).toBe(1);
  expect(stdout).toMatch(expected);
  expect(stdout.match(/^[+~-] /gm)).toHaveLength(1);
});

it("what the base gained since the branch left it is no change of the branch", async () => {
  const repository = await changed({ "functions/a/handler.py": "def handle(event): return 2\n" });
  await repository.git("switch", "--quiet", "main");
  await repository.commit("meanwhile", { "functions/b/handler.py": "def handle(event): return 3\n" });
  const { stdout } = await planOf(repository, "--base", "main", "--head", "change");
  expect(stdout).toContain("Function/default/a");
  expect(stdout).not.toContain("Function/default/b");
});

it("every fault is told with file, line and column, and the exit code is 2", async () => {
  const { code, stdout } = await planOf(
    await changed({
      "functions/a/function.yaml": functionYaml("a", "  memoryMB: lots\n"),
      "functions/b/handler.py": null,
      "functions/c/function.yaml": "apiVersion: sless.kube5s.ru/v1alpha1\nkind: [\n",
    }),
    "--base",
    "main",
  );
  expect(code).toBe(2);
  expect(stdout).toMatch(/functions\/a\/function\.yaml:6:\d+/);
  expect(stdout).toMatch(/functions\/b\/function\.yaml:\d+:\d+/);
  expect(stdout).toMatch(/functions\/c\/function\.yaml:\d+:\d+/);
  expect(stdout).not.toMatch(/^- /m);
});

it("faults of the base alone do not count", async () => {
  const repository = await gitRepository({
    ...FUNCTIONS,
    "functions/a/function.yaml": "apiVersion: sless.kube5s.ru/v1alpha1\nkind: [\n",
  });
  await repository.git("branch", "broken");
  await repository.commit("mended", { "functions/a/function.yaml": functionYaml("a") });
  const { code } = await planOf(repository, "--base", "broken");
  expect(code).toBe(1);
});

it("a manifest that no longer looks like one is a fault, not a deletion", async () => {
  const { code, stdout } = await planOf(
    await changed({ "functions/a/function.yaml": "greeting: hello\n" }),
    "--base",
    "main",
  );
  expect(code).toBe(2);
  expect(stdout).not.toMatch(/^- /m);
});

it("json is one document, markdown a table for a pull request", async () => {
  const repository = await changed({ "functions/a/handler.py": "def handle(event): return 2\n" });
  const json = await planOf(repository, "--base", "main", "-o", "json");
  expect(json.code).toBe(1);
  expect(JSON.parse(json.stdout)).toMatchObject({ revision: expect.stringContaining("sha1:") });
  const markdown = await planOf(repository, "--base", "main", "-o", "markdown");
  expect(markdown.stdout).toContain("|");
});

it("a folder that the branch adds is new as a whole", async () => {
  const repository = await changed({ "team/c/function.yaml": functionYaml("c"), "team/c/handler.py": HANDLER });
  const { code, stdout } = await planOf(repository, "--base", "main", "--path", "team");
  expect(code).toBe(1);
  expect(stdout).toContain("+ Function/default/c");
  expect(stdout).not.toContain("Function/default/a");
});

it("the namespace is that of the option", async () => {
  const { stdout } = await planOf(await gitRepository(FUNCTIONS), "-n", "team");
  expect(stdout).toContain("Function/team/a");
});

it("a folder below the top finds its repository", async () => {
  const { dir } = await gitRepository(FUNCTIONS);
  const { code, stdout } = await testCli(["plan"], { deps, cwd: join(dir, "functions/a") });
  expect(code).toBe(1);
  expect(stdout).toContain("Function/default/b");
});

it("a bare repository is read in place", async () => {
  const { code, stdout } = await planOf(await gitRepository(FUNCTIONS, { bare: true }), "--head", "main");
  expect(code).toBe(1);
  expect(stdout).toContain("Function/default/a");
});

const PACKAGE = '{"name":"a","dependencies":{"one":"1.0.0"}}';
const node = (name: string) => functionYaml(name).replace("python3.11", "nodejs24");
const JS = "exports.handle = () => 1;\n";
const builds: Record<string, [Files, string]> = {
  "code alone is appended": [
    { "functions/a/handler.py": "def handle(event): return 2\n" },
    "append: only code changed",
  ],
  "a changed requirements.txt is installed": [
    { "functions/a/requirements.txt": "two==1.0\n" },
    "deps + append: requirements.txt changed",
  ],
  "the dependencies of another function are there": [
    { "functions/b/requirements.txt": "one==1.0\n" },
    "append: its dependencies are those of Function/default/a",
  ],
  "requirements that reach into the source are built with it": [
    { "functions/a/requirements.txt": "one\n-e .\n" },
    "full: requirements.txt line 2 (-e .) installs the source itself",
  ],
  "so is a package with a script": [
    {
      "functions/c/function.yaml": node("c"),
      "functions/c/handler.js": JS,
      "functions/c/package.json": '{"scripts":{"install":"make"}}',
    },
    "full: package.json has an install script (install)",
  ],
  "a lock file beside a package.json is installed from": [
    {
      "functions/c/function.yaml": node("c"),
      "functions/c/handler.js": JS,
      "functions/c/package.json": PACKAGE,
      "functions/c/package-lock.json": "{}",
    },
    "deps + append: package-lock.json and package.json are new",
  ],
  "a compiled language is built": [
    {
      "functions/c/function.yaml": functionYaml("c").replace("python3.11", "go1.26"),
      "functions/c/handler.go": "package c\n",
    },
    "full: go is compiled",
  ],
  "another field needs no build": [
    { "functions/a/function.yaml": functionYaml("a", "  memoryMB: 256\n") },
    "no build: source unchanged",
  ],
  "a job is built as a function is": [
    {
      "jobs/c/job.yaml": functionYaml("c").replace("kind: Function", "kind: FunctionJob"),
      "jobs/c/handler.py": HANDLER,
      "jobs/c/requirements.txt": "three\n",
    },
    "deps + append: requirements.txt is new",
  ],
};
it.each(Object.entries(builds))("how it is built is told: %s", async (_name, [files, expected]) => {
  const repository = await changed(files);
  const { stdout } = await planOf(repository, "--base", "main");
  expect(stdout).toContain(`   ${expected}   (`);
  const { actions } = JSON.parse((await planOf(repository, "--base", "main", "-o", "json")).stdout);
  const told = actions.flatMap(({ build }: PlanDocumentAction) => (build ? [build] : []));
  expect(told).toHaveLength(1);
  expect(expected).toContain(`: ${told[0].reason}`);
  expect((await planOf(repository, "--base", "main", "-o", "markdown")).stdout).toContain(`| \`${expected}\` |`);
});

it("what installs the dependencies could not read is a fault at its place, and no build is guessed at", async () => {
  const repository = await changed({
    "functions/a/requirements.txt": Buffer.from("one\n# caf\u00e9\n", "latin1"),
    "functions/c/function.yaml": node("c"),
    "functions/c/handler.js": JS,
    "functions/c/package.json": '{\n  "name": "c",\n}\n',
  });
  const { code, stdout } = await planOf(repository, "--base", "main");
  expect(code).toBe(2);
  expect(stdout).toContain('functions/c/package.json:3:1: package.json cannot be read: it is no JSON: unexpected "}"');
  expect(stdout).toContain("functions/a/requirements.txt:2:6: requirements.txt cannot be read: it is no UTF-8 text");
  expect(stdout).toMatch(/\+ Function\/default\/c {3}build unknown: package\.json cannot be read/);
  expect(stdout).toContain("2 faults");
});

const refused: Record<string, [string[], string]> = {
  "a head that does not exist": [["--head", "gone"], "gone does not exist"],
  "a base that does not exist": [["--base", "gone"], "gone does not exist"],
  "a folder that does not exist": [["--path", "gone"], "gone does not exist"],
};
it.each(Object.entries(refused))("%s is told with exit code 2", async (_name, [argv, expected]) => {
  const { code, stdout, stderr } = await planOf(await gitRepository(FUNCTIONS), ...argv);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain(expected);
  // Advice for a Repository object would be none here.
  expect(stderr).toContain("sless plan --help");
  expect(stderr).not.toContain("spec.");
});

it("histories without a common commit cannot be compared", async () => {
  const repository = await gitRepository(FUNCTIONS);
  await repository.git("switch", "--quiet", "--orphan", "other");
  await repository.commit("other", { a: "1" });
  const { code, stderr } = await planOf(repository, "--base", "main");
  expect(code).toBe(2);
  expect(stderr).toContain("main and HEAD have no common history");
});

it("a folder outside of any repository is told", async () => {
  const folder = join(await temporaryFolder(), "plain");
  await mkdir(folder);
  const { code, stderr } = await testCli(["plan"], { deps, cwd: folder });
  expect(code).toBe(2);
  expect(stderr).toContain("is no Git repository");
});

it("YAML holds what JSON does, and names are those of what does not stay as it is", async () => {
  const repository = await changed({ "functions/b/handler.py": "def handle(event): return 2\n" });
  const line = ["--base", "main", "--head", "change", "-o"];
  const json = await planOf(repository, ...line, "json");
  expect(parse((await planOf(repository, ...line, "yaml")).stdout)).toEqual(JSON.parse(json.stdout));
  expect(await planOf(repository, ...line, "name")).toEqual({ code: 1, stdout: "function/b\n", stderr: "" });
  const faulty = await changed({
    "functions/b/function.yaml": "kind: Function\napiVersion: sless.kube5s.ru/v1alpha1\n",
  });
  const { code, stderr } = await planOf(faulty, ...line, "name");
  expect(code).toBe(2);
  expect(stderr).toContain("functions/b/function.yaml");
});

it.each([
  [["--server", "--base", "main"], "leave out --base"],
  [["--server", "--path", "functions"], "leave out --path"],
  [["--repository", "site"], "--repository is for --server"],
])("%j is refused", async (argv, cause) => {
  const { code, stderr } = await testCli(["plan", ...argv]);
  expect(code).toBe(2);
  expect(stderr).toContain(cause);
});

it("a trigger without a function is warned of, and the exit code stays", async () => {
  const trigger = `apiVersion: sless.kube5s.ru/v1alpha1
kind: Trigger
metadata: {name: c-http}
spec: {type: http, functionRef: c}
`;
  const repository = await gitRepository({ ...FUNCTIONS, "functions/c/trigger.yaml": trigger });
  const asText = await planOf(repository);
  expect(asText.code).toBe(1);
  expect(asText.stdout).toContain("warning: functions/c/trigger.yaml:2:1: Trigger c-http calls Function or Service c");
  const byName = await planOf(repository, "-o", "name");
  expect(byName.stderr).toContain("warning: functions/c/trigger.yaml");
});
