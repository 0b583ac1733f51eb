import { execFile } from "node:child_process";
import { chmod, chown, mkdir, readFile, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { findGit } from "../../../src/source/index.ts";
import { openNativeReader } from "../../../src/source/native/index.ts";
import { eventually } from "../../support/eventually.ts";
import { gitRepository, runGit } from "../../support/git-repository.ts";
import { killThose } from "../../support/process-tree.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const git = (await findGit(process.env.PATH))!;
const many = Object.fromEntries(Array.from({ length: 400 }, (_, index) => [`f${index}`, `${index}`.repeat(100)]));

async function opened(files: Record<string, string> = many, options: { git?: string; silenceMaxMs?: number } = {}) {
  const repository = await gitRepository(files);
  const reader = await openNativeReader({ repository: repository.dir, git, ...options });
  onTestFinished(() => reader.close());
  return { repository, reader };
}

/** Ids of the `git cat-file` processes that this process started for a repository. */
async function processesOf(dir: string): Promise<number[]> {
  const { stdout } = await promisify(execFile)("ps", ["-e", "-o", "pid=,ppid=,args="]);
  return stdout
    .split("\n")
    .filter((line) => line.includes(`--git-dir=${dir}/`) && Number(line.trim().split(/\s+/)[1]) === process.pid)
    .map((line) => Number(line.trim().split(/\s+/)[0]));
}

/** One that has just been ended may be seen a moment longer. */
function untilProcesses(dir: string, count: number) {
  return eventually(
    `${count} processes`,
    () => processesOf(dir),
    (pids) => pids.length === count,
  );
}

/** A git that is a script of our own, with the real one at hand as `$REAL`. */
async function fakeGit(script: string): Promise<string> {
  const file = join(await temporaryFolder(), "git");
  await writeFile(file, `#!/bin/sh\nREAL=${git}\nPATH=/usr/bin:/bin\n${script}\n`);
  await chmod(file, 0o755);
  return file;
}

async function blobsOf({ repository, reader }: Awaited<ReturnType<typeof opened>>) {
  const { tree } = await reader.resolve({});
  const ids = (await reader.trees([tree])).get(tree)!.map(({ id }) => id);
  expect((await reader.blobs(ids)).size).toBe(ids.length);
  expect((await reader.sizes(ids)).size).toBe(ids.length);
  return repository;
}

describe("processes", () => {
  it("are one per repository however much is read, and end with the reader", async () => {
    const both = await opened();
    for (let round = 0; round < 3; round++) await blobsOf(both);
    await untilProcesses(both.repository.dir, 1);
    await both.reader.close();
    await untilProcesses(both.repository.dir, 0);
  });

  it("of a git before 2.36 are two, and answer the same", async () => {
    const old = '[ "$1" = version ] && exec echo git version 2.30.2; exec "$REAL" "$@"';
    const both = await opened(many, { git: await fakeGit(old) });
    for (let round = 0; round < 2; round++) await blobsOf(both);
    await untilProcesses(both.repository.dir, 2);
    const missing = expect.objectContaining({ code: "object_missing" });
    await expect(both.reader.sizes(["3".repeat(40)])).rejects.toThrow(missing);
    await expect(both.reader.blobs(["3".repeat(40)])).rejects.toThrow(missing);
  });

  it("that are killed between requests are started anew", async () => {
    const both = await opened();
    await blobsOf(both);
    killThose(await processesOf(both.repository.dir));
    await blobsOf(both);
  });

  it("that are killed again and again in the middle lose and repeat nothing", async () => {
    const both = await opened();
    await blobsOf(both);
    let isKilling = true;
    const killing = (async () => {
      for (let round = 0; round < 10; round++) killThose(await processesOf(both.repository.dir));
    })().finally(() => {
      isKilling = false;
    });
    while (isKilling) {
      // Two deaths without an answer in between are told, never an answer too few.
      await blobsOf(both).catch((error) => expect(error).toMatchObject({ code: "repository_unreachable" }));
    }
    await killing;
    await blobsOf(both);
  });

  it("that die at every start make the repository unreachable", async () => {
    const dying = await fakeGit('case "$*" in *cat-file*) kill -9 $$;; esac; exec "$REAL" "$@"');
    const { reader } = await opened({ a: "1" }, { git: dying });
    await expect(reader.resolve({})).rejects.toThrow(expect.objectContaining({ code: "repository_unreachable" }));
  });

  it("that say nothing are ended, and the next request is answered", async () => {
    const flag = join(await temporaryFolder(), "answered");
    const hanging = await fakeGit(
      `[ "$1" = version -o -e ${flag} ] || { touch ${flag}; exec sleep 1000; }; exec "$REAL" "$@"`,
    );
    const { reader, repository } = await opened({ a: "1" }, { git: hanging, silenceMaxMs: 200 });
    const silent = expect.objectContaining({ code: "repository_unreachable", message: expect.stringMatching("0.2 s") });
    await expect(reader.resolve({})).rejects.toThrow(silent);
    // On a busy machine the real one, too, may be silent for so long.
    const answered = () => reader.resolve({}).catch(() => undefined);
    await eventually("it is answered", answered, (resolved) => resolved?.commit === repository.head);
  });

  it("that write what no git writes are not believed", async () => {
    const { reader } = await opened({ a: "1" }, { git: await fakeGit("yes | tr -d '\\n'") });
    await expect(reader.resolve({})).rejects.toThrow(expect.objectContaining({ code: "repository_unreachable" }));
  });

  it("that fail by themselves do not make an object corrupt", async () => {
    const { reader } = await opened({ a: "1" }, { git: await fakeGit("echo no such library >&2; exit 127") });
    const error = { code: "repository_unreachable", message: expect.stringMatching("no such library") };
    await expect(reader.resolve({})).rejects.toThrow(expect.objectContaining(error));
  });

  it("that cannot be started are told", async () => {
    const { reader } = await opened({ a: "1" }, { git: "/nowhere/git" });
    const error = { code: "repository_unreachable", message: expect.stringMatching("git cannot be started") };
    await expect(reader.resolve({})).rejects.toThrow(expect.objectContaining(error));
  });
});

describe("the environment", () => {
  it("of git holds nothing of ours", async () => {
    const seen = join(await temporaryFolder(), "environment");
    process.env.SLESS_TEST_SECRET = "secret";
    onTestFinished(() => {
      delete process.env.SLESS_TEST_SECRET;
    });
    const { reader } = await opened({ a: "1" }, { git: await fakeGit(`env > ${seen}; exec "$REAL" "$@"`) });
    await reader.resolve({});
    const names = (await readFile(seen, "utf8")).split("\n").map((line) => line.split("=")[0]);
    expect(names.filter((name) => name && !/^(GIT_\w+|PATH|HOME|LC_ALL|PWD|_|SHLVL|OLDPWD)$/.test(name))).toEqual([]);
  });

  it.runIf(process.getuid?.() === 0)("lets a repository of another user be read", async () => {
    const both = await opened({ a: "1" });
    await chown(both.repository.dir, 12345, 12345);
    await chown(join(both.repository.dir, ".git"), 12345, 12345);
    await blobsOf(both);
    expect(await both.reader.resolveExpression("HEAD~0")).toMatchObject({ commit: both.repository.head });
  });

  it("keeps a partial clone from fetching by a command of its own", async () => {
    const { repository, reader } = await opened({ a: "1" });
    const trap = join(await temporaryFolder(), "trap");
    await repository.git("config", "core.repositoryFormatVersion", "1");
    await repository.git("config", "extensions.partialClone", "origin");
    await repository.git("config", "remote.origin.url", `ext::touch ${trap}`);
    await repository.git("config", "remote.origin.promisor", "true");
    await repository.git("config", "protocol.allow", "always");
    const missing = expect.objectContaining({
      code: "object_missing",
      details: expect.objectContaining({ id: "3".repeat(40) }),
    });
    await expect(reader.blobs(["3".repeat(40)])).rejects.toThrow(missing);
    await expect(readFile(trap)).rejects.toThrow("ENOENT");
    expect(await reader.resolve({})).toMatchObject({ commit: repository.head });
  });

  it("of a repository form that this git does not know is a clear refusal", async () => {
    const { repository, reader } = await opened({ a: "1" });
    await repository.git("config", "core.repositoryFormatVersion", "1");
    await writeFile(
      join(repository.dir, ".git", "config"),
      "[core]\nrepositoryformatversion = 1\n[extensions]\nfuture = 1\n",
    );
    await expect(reader.resolve({})).rejects.toThrow(expect.objectContaining({ code: "repository_unsupported" }));
  });
});

it("alternates that are added later are found", async () => {
  const { repository, reader } = await opened({ a: "1" });
  const other = await gitRepository({ b: "2" });
  await reader.resolve({});
  await writeFile(join(repository.dir, ".git/objects/info/alternates"), `${other.dir}/.git/objects\n`);
  expect(await reader.resolve({ commit: other.head })).toMatchObject({ commit: other.head });
});

it("a worktree that another one is put in place of is read in its new place", async () => {
  const { repository, reader } = await opened({ a: "1" });
  await reader.resolve({});
  const gitDir = join(await temporaryFolder(), "moved");
  await runGit(repository.dir, "init", "--quiet", `--separate-git-dir=${gitDir}`);
  const commit = await repository.commit("second", { a: "2" });
  expect(await reader.resolve({})).toMatchObject({ commit });
  await untilProcesses(repository.dir, 0);
});

describe("finding git", () => {
  it("takes the first that runs, from absolute entries alone", async () => {
    const good = await fakeGit('exec "$REAL" "$@"');
    const broken = await fakeGit("exit 1");
    const old = await fakeGit("echo git version 1.8.3.1");
    const notExecutable = await fakeGit("");
    await chmod(notExecutable, 0o644);
    const folder = join(await temporaryFolder(), "git");
    await mkdir(folder);
    const path = (...entries: string[]) => entries.join(delimiter);
    const bad = [broken, old, notExecutable, folder].map((file) => dirname(file));
    expect(await findGit(path("", ".", "bin", ...bad, dirname(good), dirname(git)))).toBe(good);
    expect(await findGit(path(...bad, "/nowhere"))).toBeUndefined();
    expect(await findGit("")).toBeUndefined();
    expect(await findGit(undefined)).toBeUndefined();
  });
});
