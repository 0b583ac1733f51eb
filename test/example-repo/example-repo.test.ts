import { execFile } from "node:child_process";
import { cp } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { refOf, refText } from "../../src/apis/index.ts";
import { makeExampleRepository } from "../../src/cli/example-repository.ts";
import { NOTHING_KNOWN, openDesiredReader } from "../../src/desired/index.ts";
import { loadRuntimes } from "../../src/runtimes/index.ts";
import { openIsomorphicReader } from "../../src/source/isomorphic/index.ts";
import { runGit } from "../support/git-repository.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const execFileAsync = promisify(execFile);
const ROOT = resolve(import.meta.dirname, "../..");
const EXAMPLE = join(ROOT, "example-repo");

async function desired() {
  const bare = join(await temporaryFolder(), "example.git");
  await makeExampleRepository(bare, EXAMPLE);
  const git = await openIsomorphicReader({ repository: bare });
  const runtimes = await loadRuntimes(join(ROOT, "runtimes"));
  const reader = openDesiredReader({ git, path: "", namespace: "default", runtimes });
  try {
    return await reader.read(await git.resolve({ branch: "main" }), NOTHING_KNOWN);
  } finally {
    await git.close();
  }
}

it("the example has no fault and holds what its README lists", async () => {
  const { objects, diagnostics } = await desired();
  expect(diagnostics).toEqual([]);
  const names = objects.map(({ intent }) => refText(refOf(intent)).replace("/default", "")).sort();
  expect(names).toEqual([
    "Function/checksum",
    "Function/csv-summary",
    "Function/hello",
    "Function/qr",
    "Function/reading-time",
    "Function/slugify",
    "Function/word-count",
    "FunctionJob/report",
    "Service/visits",
    "Trigger/checksum-http",
    "Trigger/csv-summary-http",
    "Trigger/hello-http",
    "Trigger/qr-http",
    "Trigger/reading-time-http",
    "Trigger/slugify-http",
    "Trigger/word-count-http",
  ]);
});

it("every language and a shared folder are in it", async () => {
  const { objects } = await desired();
  const runtimes = new Set(objects.map(({ intent }) => (intent.spec as { runtime?: string }).runtime));
  for (const runtime of ["python3.11", "nodejs20", "go1.23"]) expect(runtimes).toContain(runtime);
  const digestOf = (name: string) => objects.find(({ intent }) => intent.metadata.name === name)?.source?.digest;
  expect(digestOf("word-count")).toBe(digestOf("reading-time"));
});

it("tests and notes are not deployed", async () => {
  const { objects } = await desired();
  const deployed = objects.flatMap(({ source }) => source?.files.map(({ path }) => path) ?? []);
  expect(deployed).toContain("handler.py");
  expect(deployed.filter((path) => /test|README/.test(path))).toEqual([]);
});

it("the repository is made once, is bare and clones with the files of the folder", async () => {
  const folder = await temporaryFolder();
  const bare = join(folder, "data", "example.git");
  expect(await makeExampleRepository(bare, EXAMPLE)).toBe(true);
  const head = await runGit(bare, "rev-parse", "refs/heads/main");
  expect(await makeExampleRepository(bare, EXAMPLE)).toBe(false);
  expect(await runGit(bare, "rev-parse", "HEAD")).toBe(head);
  expect(await runGit(bare, "fsck", "--strict")).toBe("");
  await runGit(folder, "clone", "--quiet", bare, "my");
  const listed = await runGit(join(folder, "my"), "ls-files");
  const kept = await runGit(EXAMPLE, "ls-files", "--cached", "--others", "--exclude-standard", ".");
  expect(listed.split("\n").sort()).toEqual(kept.split("\n").sort());
});

it("a push into the repository that was made is accepted", async () => {
  const folder = await temporaryFolder();
  const bare = join(folder, "example.git");
  await makeExampleRepository(bare, EXAMPLE);
  const my = join(folder, "my");
  await runGit(folder, "clone", "--quiet", bare, "my");
  await runGit(my, "commit", "--quiet", "--allow-empty", "--message", "next");
  await runGit(my, "push", "--quiet");
  expect(await runGit(bare, "rev-parse", "main")).toBe(await runGit(my, "rev-parse", "HEAD"));
});

it("the two starts that make it at the same time agree", async () => {
  const bare = join(await temporaryFolder(), "example.git");
  const made = await Promise.all([1, 2].map(() => makeExampleRepository(bare, EXAMPLE)));
  expect(made.filter(Boolean)).toHaveLength(1);
  expect(await runGit(bare, "fsck", "--strict")).toBe("");
});

it("its own tests pass", async () => {
  // A copy: inside this checkout the package around it would make its CommonJS modules ESM.
  const copy = join(await temporaryFolder(), "example");
  await cp(EXAMPLE, copy, { recursive: true });
  await execFileAsync(process.execPath, ["--test", "functions/text/src/words.test.js"], { cwd: copy });
  await execFileAsync("python3", ["-B", "-m", "unittest", "test_handler"], { cwd: join(copy, "functions/hello") });
});
