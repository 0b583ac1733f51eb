import { chmod, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openLocalReader } from "../../src/app/open-git-reader.ts";
import { checkoutGit, type RollbackResult, rollBack } from "../../src/rollback/index.ts";
import { findGit, sourceDigest } from "../../src/source/index.ts";
import { answering, pythonFunction } from "../support/embedded.ts";
import { type Files, type GitRepository, gitRepository, isolatedGitEnvironment } from "../support/git-repository.ts";

const git = (await findGit(process.env.PATH))!;
const ref = { kind: "Function", namespace: "default", name: "hello" } as const;

interface Options {
  readonly dryRun?: boolean;
  readonly digest?: string;
  readonly path?: string;
  readonly revision?: string;
}

/** Rolls hello back to a commit in the checkout. */
async function back(repository: GitRepository, commit: string, options: Options = {}): Promise<RollbackResult> {
  const reader = await openLocalReader({ repository: repository.work, git });
  try {
    return await rollBack({
      ref,
      target: {
        number: 1,
        sourceDigest: options.digest ?? "a".repeat(64),
        revision: options.revision ?? `main@sha1:${commit}`,
      },
      root: repository.work,
      path: options.path ?? "",
      runtimes: new Set(["python3.11"]),
      reader,
      git: checkoutGit({ git, root: repository.work, env: isolatedGitEnvironment(repository.work) }),
      dryRun: options.dryRun ?? false,
    });
  } finally {
    await reader.close();
  }
}

const hello = (value: unknown, spec: Record<string, unknown> = {}) => pythonFunction("hello", answering(value), spec);
const other = (value: unknown) => pythonFunction("other", answering(value));

/** Nothing is staged, changed or left over. */
async function expectClean({ git: run, work }: GitRepository): Promise<void> {
  expect(await run("-C", work, "status", "--porcelain")).toBe("");
}

const changed = ({ git: run }: GitRepository) => run("diff", "--name-status", "--no-renames", "HEAD~1", "HEAD");

describe("a roll-back", () => {
  it("commits source and manifest as they were, and leaves every other file alone", async () => {
    const repository = await gitRepository({ ...hello(1), ...other(1), "functions/hello/old.py": "x = 1\n" });
    await repository.commit("two", {
      ...hello(2, { memoryMB: 256 }),
      ...other(2),
      "functions/hello/old.py": null,
      "functions/hello/lib/new.py": "y = 2\n",
      "README.md": "more\n",
    });
    const result = await back(repository, repository.head);
    expect(result.commit).toBe(await repository.git("rev-parse", "HEAD"));
    expect(result).toMatchObject({ branch: "main", from: repository.head, places: ["functions/hello"] });
    expect(result.changes).toEqual([
      { path: "functions/hello/function.yaml", change: "modified", added: 0, deleted: 1 },
      { path: "functions/hello/handler.py", change: "modified", added: 1, deleted: 1 },
      { path: "functions/hello/lib/new.py", change: "deleted", added: 0, deleted: 1 },
      { path: "functions/hello/old.py", change: "added", added: 1, deleted: 0 },
    ]);
    expect((await changed(repository)).split("\n")).toHaveLength(4);
    expect(await repository.git("diff", repository.head, "HEAD", "--", "functions/hello")).toBe("");
    expect(await readFile(join(repository.work, "functions/hello/handler.py"), "utf8")).toBe(answering(1));
    expect(await repository.git("log", "-1", "--format=%s%n%an")).toBe(
      `Roll hello back to ${repository.head.slice(0, 7)}\nAda`,
    );
    await expectClean(repository);
  });

  it("leaves folders of other functions within the folder, and manifests of others, as they are now", async () => {
    const nested = (value: unknown) => ({
      "functions/hello/inner/function.yaml": other(1)["functions/other/function.yaml"]!,
      "functions/hello/inner/handler.py": answering(value),
      "functions/hello/elsewhere.yaml": [
        "apiVersion: sless.kube5s.ru/v1alpha1",
        "kind: Trigger",
        `metadata: {name: other-cron, annotations: {at: "${value}"}}`,
        "spec: {type: http, functionRef: other}",
        "",
      ].join("\n"),
    });
    const repository = await gitRepository({ ...hello(1), ...nested(1) });
    await repository.commit("two", { ...hello(2), ...nested(2) });
    await back(repository, repository.head);
    expect(await changed(repository)).toBe("M\tfunctions/hello/handler.py");
  });

  it("takes its triggers in files of their own with it", async () => {
    const cron = (schedule: string) => ({
      "functions/hello/cron.yaml": [
        "apiVersion: sless.kube5s.ru/v1alpha1",
        "kind: Trigger",
        "metadata: {name: hello-cron}",
        `spec: {type: cron, functionRef: hello, schedule: "${schedule}"}`,
        "",
      ].join("\n"),
    });
    const repository = await gitRepository({ ...hello(1), ...cron("0 1 * * *") });
    await repository.commit("two", { ...hello(2), ...cron("0 2 * * *") });
    await back(repository, repository.head);
    expect(await changed(repository)).toBe("M\tfunctions/hello/cron.yaml\nM\tfunctions/hello/handler.py");
  });

  it("moves a function back to where it was", async () => {
    const files = hello(1);
    const moved = Object.fromEntries(
      Object.entries(hello(2)).map(([path, text]) => [path.replace("functions", "fns"), text]),
    );
    const gone = Object.fromEntries(Object.keys(files).map((path) => [path, null]));
    const repository = await gitRepository(files);
    await repository.commit("moved", { ...moved, ...gone });
    const { places } = await back(repository, repository.head);
    expect(places).toEqual(["functions/hello", "fns/hello"]);
    expect(await repository.git("rev-parse", "HEAD^{tree}")).toBe(
      await repository.git("rev-parse", `${repository.head}^{tree}`),
    );
    await expectClean(repository);
  });

  it("brings back a function that was deleted, and one whose manifest is faulty now", async () => {
    const files = hello(1);
    const repository = await gitRepository({ ...files, ...other(1) });
    await repository.commit("gone", Object.fromEntries(Object.keys(files).map((path) => [path, null])));
    expect((await back(repository, repository.head)).changes).toHaveLength(2);
    await repository.commit("faulty", { "functions/hello/function.yaml": "kind: Function\n  oops: [" });
    expect((await back(repository, repository.head)).changes).toMatchObject([
      { path: "functions/hello/function.yaml", change: "modified" },
    ]);
  });

  it("takes a source folder beside the manifest, and nothing else of the manifest's folder", async () => {
    const files = (value: unknown) => ({
      "app/function.yaml": hello(value, { sourceDir: "src" })["functions/hello/function.yaml"]!,
      "app/src/handler.py": answering(value),
      "app/notes.txt": `${value}\n`,
    });
    const repository = await gitRepository(files(1));
    await repository.commit("two", files(2));
    const { places } = await back(repository, repository.head);
    expect(places).toEqual(["app/src", "app/function.yaml"]);
    expect(await changed(repository)).toBe("M\tapp/src/handler.py");
  });

  it("keeps modes, links and folders that took the place of files", async () => {
    const repository = await gitRepository({
      ...hello(1),
      "functions/hello/run.sh": { mode: "755", content: "#!/bin/sh\n" },
      "functions/hello/link": { symlink: "run.sh" },
      "functions/hello/data": "a file\n",
      "functions/hello/folder/part": "a folder\n",
    });
    await repository.commit("two", {
      "functions/hello/folder/part": null,
      "functions/hello/folder": "a file\n",
      "functions/hello/run.sh": "#!/bin/sh\n",
      "functions/hello/link": "no link\n",
      "functions/hello/data": null,
      "functions/hello/data/part": "a folder\n",
    });
    await back(repository, repository.head);
    expect(await repository.git("diff", repository.head, "HEAD")).toBe("");
    await expectClean(repository);
  });

  it("takes names as they are, whatever git's patterns make of them", async () => {
    const names = ["*.txt", ":(top)x", "ü\n1", "[a]", "-n"];
    const files = (value: string) =>
      Object.fromEntries(names.map((name) => [`functions/hello/${name}`, value] as const));
    const repository = await gitRepository({ ...hello(1), ...files("1\n"), "functions/hello/a.txt": "1\n" });
    await repository.commit("two", { ...files("2\n"), "x.txt": "2\n" });
    expect((await back(repository, repository.head)).changes).toHaveLength(names.length);
    expect(await repository.git("diff", repository.head, "HEAD", "--", "functions")).toBe("");
  });

  it("knows whether the source is the one that served", async () => {
    const repository = await gitRepository({ ...hello(1), ".slessignore": "*.md\n", "functions/hello/a.md": "1\n" });
    const blob = (path: string) => repository.git("rev-parse", `${repository.head}:functions/hello/${path}`);
    const file = { path: "handler.py", mode: "100644", id: await blob("handler.py") } as const;
    const digest = sourceDigest([file]);
    await repository.commit("two", hello(2));
    expect(await back(repository, repository.head, { digest, dryRun: true })).toMatchObject({ isSameSource: true });
    expect(await back(repository, repository.head, { digest })).toMatchObject({ isSameSource: true });
    await repository.commit("three", { ...hello(3), ".slessignore": "" });
    expect(await back(repository, repository.head, { digest })).toMatchObject({ isSameSource: false });
  });

  it("shows in a dry run what it would do, and does nothing", async () => {
    const repository = await gitRepository(hello(1));
    const head = await repository.commit("two", hello(2));
    const result = await back(repository, repository.head, { dryRun: true });
    expect(result.commit).toBeUndefined();
    expect(result.changes).toEqual([{ path: "functions/hello/handler.py", change: "modified", added: 1, deleted: 1 }]);
    expect(await repository.git("rev-parse", "HEAD")).toBe(head);
    await expectClean(repository);
  });

  it("works on repositories with sha256 ids", async () => {
    const repository = await gitRepository(hello(1), { objectFormat: "sha256" });
    await repository.commit("two", hello(2));
    await back(repository, repository.head, { revision: `main@sha256:${repository.head}` });
    expect(await repository.git("diff", repository.head, "HEAD")).toBe("");
  });

  it("leaves what another repository object follows of the same checkout", async () => {
    const below = (folder: string, value: unknown) =>
      Object.fromEntries(Object.entries(hello(value)).map(([path, text]) => [`${folder}/${path}`, text]));
    const repository = await gitRepository({ ...below("staging", 1), ...below("production", 1) });
    await repository.commit("two", { ...below("staging", 2), ...below("production", 2) });
    await back(repository, repository.head, { path: "production" });
    expect(await changed(repository)).toBe("M\tproduction/functions/hello/handler.py");
  });
});

interface Refusal {
  readonly first?: Files;
  readonly second?: Files;
  readonly prepare?: (repository: GitRepository) => Promise<unknown>;
  readonly code: string;
  readonly says: RegExp;
}

const at = ({ work }: GitRepository, path: string) => join(work, "functions/hello", path);
const shared = (value: unknown) => ({
  "functions/hello/second.yaml": [
    "apiVersion: sless.kube5s.ru/v1alpha1",
    "kind: Function",
    "metadata: {name: second}",
    `spec: {runtime: python3.11, memoryMB: ${value}}`,
    "",
  ].join("\n"),
});
const mixed = (value: unknown) => ({
  "functions/hello/function.yaml": `${hello(1)["functions/hello/function.yaml"]}---
apiVersion: sless.kube5s.ru/v1alpha1
kind: Trigger
metadata: {name: another}
spec: {type: cron, functionRef: another, schedule: "0 ${value} * * *"}
`,
});

const refusals: Record<string, Refusal> = {
  "a changed file of the folder": {
    prepare: (repository) => writeFile(at(repository, "handler.py"), "edited"),
    code: "rollback_unsaved",
    says: /functions\/hello\/handler\.py would be lost/,
  },
  "a deleted file of the folder": {
    prepare: (repository) => rm(at(repository, "handler.py")),
    code: "rollback_unsaved",
    says: /handler\.py/,
  },
  "a file of the folder that git does not know": {
    prepare: (repository) => writeFile(at(repository, "notes.txt"), "mine"),
    code: "rollback_unsaved",
    says: /notes\.txt/,
  },
  "an ignored file where one comes back": {
    first: { ...hello(1), "functions/hello/out.log": "1\n" },
    second: { "functions/hello/out.log": null, ".gitignore": "*.log\n" },
    prepare: (repository) => writeFile(at(repository, "out.log"), "mine"),
    code: "rollback_unsaved",
    says: /out\.log/,
  },
  "an ignored file where a folder comes back": {
    first: { ...hello(1), "functions/hello/log/a": "1\n" },
    second: { "functions/hello/log/a": null, ".gitignore": "log\n" },
    prepare: async (repository) => {
      await rm(at(repository, "log"), { recursive: true, force: true });
      await writeFile(at(repository, "log"), "mine");
    },
    code: "rollback_unsaved",
    says: /functions\/hello\/log would/,
  },
  "something staged anywhere": {
    prepare: async (repository) => {
      await writeFile(join(repository.work, "elsewhere.txt"), "mine");
      await repository.git("add", "elsewhere.txt");
    },
    code: "rollback_unsaved",
    says: /elsewhere\.txt/,
  },
  "a merge that has not ended": {
    prepare: async (repository) => {
      await repository.git("switch", "--quiet", "-c", "side", "HEAD~1");
      await repository.commit("side", { "README.md": "side" });
      await repository.git("switch", "--quiet", "main");
      await repository.git("merge", "--quiet", "--no-commit", "--no-ff", "side");
    },
    code: "rollback_refused",
    says: /a merge has begun/,
  },
  "a checkout on no branch": {
    prepare: (repository) => repository.git("checkout", "--quiet", "--detach"),
    code: "rollback_refused",
    says: /no branch is checked out/,
  },
  "a commit that is not there": {
    prepare: async (repository) => {
      await repository.git("checkout", "--quiet", "--orphan", "fresh");
      await repository.git("commit", "--quiet", "-m", "fresh");
      await repository.git("branch", "-D", "main");
      await repository.git("reflog", "expire", "--expire=now", "--all");
      await repository.git("gc", "--quiet", "--prune=now");
    },
    code: "rollback_commit_missing",
    says: /commit [0-9a-f]{40} is not in .*\n?.*git fetch/,
  },
  "files that are as they were already": {
    second: { "README.md": "only this" },
    code: "rollback_refused",
    says: /nothing to go back to.*git push/,
  },
  "a commit without the function": {
    first: { "README.md": "nothing yet" },
    second: hello(1),
    code: "rollback_refused",
    says: /that commit has no manifest of it/,
  },
  "a commit in which its manifest was faulty": {
    first: { ...hello(1), "functions/hello/function.yaml": "apiVersion: sless.kube5s.ru/v1alpha1\nkind: [" },
    second: hello(1),
    code: "rollback_refused",
    says: /no manifest of it|faulty there/,
  },
  "a folder that another function runs too": {
    first: { ...hello(1), ...shared(128) },
    second: { ...hello(2), ...shared(128) },
    code: "rollback_refused",
    says: /Function\/default\/second runs the files of functions\/hello too/,
  },
  "a manifest that holds another object which changed": {
    first: { ...hello(1), ...mixed(1) },
    second: { ...hello(2), ...mixed(2) },
    code: "rollback_refused",
    says: /function\.yaml also holds Trigger\/default\/another/,
  },
  "a manifest in the folder that nobody can read": {
    second: { ...hello(2), "functions/hello/x/function.yaml": "apiVersion: sless.kube5s.ru/v1alpha1\nkind: [" },
    code: "rollback_refused",
    says: /x\/function\.yaml cannot be read/,
  },
  "a submodule in the folder": {
    first: { ...hello(1), "functions/hello/sub": { submodule: "1".repeat(40) } },
    second: { ...hello(2), "functions/hello/sub": null },
    code: "rollback_refused",
    says: /sub is a submodule/,
  },
};

describe("a roll-back is refused, and nothing changes, with", () => {
  it.each(Object.entries(refusals))("%s", async (_name, refusal) => {
    const { first = hello(1), second = hello(2), prepare, code, says } = refusal;
    const repository = await gitRepository(first);
    await repository.commit("two", second);
    await prepare?.(repository);
    const state = async () => [
      await repository.git("rev-parse", "HEAD"),
      await repository.git("-C", repository.work, "status", "--porcelain"),
    ];
    const before = await state();
    const refused = await back(repository, repository.head).then(
      () => undefined,
      (error: unknown) => error as { code: string; message: string },
    );
    expect(refused).toMatchObject({ code, message: expect.stringMatching(says) });
    expect(await state()).toEqual(before);
  });
});

it("a manifest that holds another object which did not change goes back with it", async () => {
  const repository = await gitRepository({ ...hello(1), ...mixed(1) });
  await repository.commit("two", { ...hello(2), ...mixed(1), "functions/hello/handler.py": answering(2) });
  await back(repository, repository.head);
  expect(await changed(repository)).toBe("M\tfunctions/hello/handler.py");
});

it("unsaved files elsewhere stay as they are, and out of the commit", async () => {
  const repository = await gitRepository({ ...hello(1), "README.md": "1" });
  await repository.commit("two", hello(2));
  await writeFile(join(repository.work, "README.md"), "edited");
  await writeFile(join(repository.work, "new.txt"), "new");
  await back(repository, repository.head);
  expect(await changed(repository)).toBe("M\tfunctions/hello/handler.py");
  expect(await repository.git("-C", repository.work, "status", "--porcelain")).toBe("M README.md\n?? new.txt");
});

it("a hook that refuses the commit leaves the checkout as it was", async () => {
  const repository = await gitRepository({ ...hello(1), "functions/hello/old.py": "1\n" });
  const head = await repository.commit("two", { ...hello(2), "functions/hello/old.py": null });
  const hook = join(repository.work, ".git/hooks/pre-commit");
  await mkdir(join(repository.work, ".git/hooks"), { recursive: true });
  await writeFile(hook, "#!/bin/sh\necho 'no commits on Fridays' >&2\nexit 1\n");
  await chmod(hook, 0o755);
  await expect(back(repository, repository.head)).rejects.toMatchObject({
    code: "rollback_failed",
    message: expect.stringContaining("no commits on Fridays"),
  });
  expect(await repository.git("rev-parse", "HEAD")).toBe(head);
  expect(await readFile(at(repository, "handler.py"), "utf8")).toBe(answering(2));
  await expectClean(repository);
});

it("in a linked work tree the commit goes on the branch of that tree", async () => {
  const repository = await gitRepository(hello(1));
  await repository.commit("two", hello(2));
  const work = join(repository.work, "../linked");
  await repository.git("worktree", "add", "--quiet", "-b", "fix", work);
  const { branch } = await back({ ...repository, work }, repository.head);
  expect(branch).toBe("fix");
  expect(await repository.git("diff", repository.head, "fix")).toBe("");
  await expectClean(repository);
});
