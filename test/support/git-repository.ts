import { execFile } from "node:child_process";
import { chmod, mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { temporaryFolder } from "./temporary-folder.ts";

const execFileAsync = promisify(execFile);

/** What a path becomes: text or bytes (mode 644), an executable, a symlink, a submodule's commit; null deletes. */
export type FileChange =
  | string
  | Uint8Array
  | { readonly mode: "644" | "755"; readonly content: string | Uint8Array }
  | { readonly symlink: string }
  | { readonly submodule: string }
  | null;
export type Files = Readonly<Record<string, FileChange>>;

export interface GitRepositoryOptions {
  /** `dir` is a bare repository, and every `commit` is pushed to it. */
  readonly bare?: boolean;
  readonly objectFormat?: "sha1" | "sha256";
  /** Default `main`. */
  readonly branch?: string;
}

export interface BareRepository {
  /** The bare repository. */
  readonly dir: string;
  /** Runs git in `dir` and answers what it printed, trimmed. */
  git(...args: string[]): Promise<string>;
  /** `git push` into it from the work tree that it was made of; without arguments all branches. */
  push(...args: string[]): Promise<void>;
}

export interface GitRepository {
  /** The repository as a reader opens it. */
  readonly dir: string;
  /** The work tree where `commit` writes; the same as `dir` unless bare. */
  readonly work: string;
  /** Commit of the first commit; empty when made without files. */
  readonly head: string;
  /** Runs git in `dir` and answers what it printed, trimmed. */
  git(...args: string[]): Promise<string>;
  /** Writes (null deletes), commits all, pushes if bare. Answers the commit's id. Dates are fixed, so ids are too. */
  commit(message: string, changes: Files): Promise<string>;
  /** A bare clone that goes with the test. */
  bareClone(): Promise<BareRepository>;
}

const WHO = { NAME: "Ada", EMAIL: "ada@example.com", DATE: "2024-01-01T00:00:00Z" };

/** An environment in which git reads no configuration of the machine or the user, and never asks or goes out. */
export function isolatedGitEnvironment(home: string): Record<string, string> {
  return {
    PATH: process.env.PATH ?? "",
    HOME: home,
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_SYSTEM: "/dev/null",
    GIT_TERMINAL_PROMPT: "0",
    GIT_ALLOW_PROTOCOL: "file",
    ...Object.fromEntries(
      Object.entries(WHO).flatMap(([key, value]) => [
        [`GIT_AUTHOR_${key}`, value],
        [`GIT_COMMITTER_${key}`, value],
      ]),
    ),
  };
}

/** Runs git in a folder, isolated; automatic gc is off, for it races with the test's clean-up. */
export async function runGit(folder: string, ...args: string[]): Promise<string> {
  const quiet = ["-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "receive.autogc=false"];
  const env = isolatedGitEnvironment(folder);
  const { stdout } = await execFileAsync("git", ["-C", folder, ...quiet, ...args], { env, maxBuffer: 1 << 28 });
  return stdout.trim();
}

/** A real repository with one commit of `files` (none for `{}`) in a folder that goes when the test ends. */
export async function gitRepository(files: Files, options: GitRepositoryOptions = {}): Promise<GitRepository> {
  const root = await temporaryFolder();
  const work = join(root, "work");
  const dir = options.bare ? join(root, "repository.git") : work;
  const init = ["init", "--quiet", `--initial-branch=${options.branch ?? "main"}`];
  if (options.objectFormat) init.push(`--object-format=${options.objectFormat}`);
  await runGit(root, ...init, work);
  if (options.bare) {
    await runGit(root, ...init, "--bare", dir);
    await runGit(work, "remote", "add", "origin", dir);
  }
  const commit = async (message: string, changes: Files): Promise<string> => {
    await writeChanges(work, changes);
    await runGit(work, "commit", "--quiet", "--allow-empty", "--message", message);
    if (options.bare) await runGit(work, "push", "--quiet", "origin", "HEAD");
    return runGit(work, "rev-parse", "HEAD");
  };
  const head = Object.keys(files).length > 0 ? await commit("first", files) : "";
  return {
    dir,
    work,
    head,
    commit,
    git: (...args) => runGit(dir, ...args),
    bareClone: () => bareClone(work),
  };
}

async function bareClone(work: string): Promise<BareRepository> {
  const dir = join(await temporaryFolder(), "clone.git");
  await runGit(work, "clone", "--quiet", "--bare", "--no-local", work, dir);
  return {
    dir,
    git: (...args) => runGit(dir, ...args),
    push: async (...args) => void (await runGit(work, "push", "--quiet", dir, ...(args.length > 0 ? args : ["--all"]))),
  };
}

async function writeChanges(work: string, changes: Files): Promise<void> {
  const submodules: string[] = [];
  for (const [path, change] of Object.entries(changes)) {
    const file = join(work, path);
    await rm(file, { recursive: true, force: true });
    if (change === null) continue;
    await mkdir(dirname(file), { recursive: true });
    if (typeof change === "string" || change instanceof Uint8Array) await writeFile(file, change);
    else if ("symlink" in change) await symlink(change.symlink, file);
    else if ("submodule" in change) {
      await mkdir(file);
      submodules.push("--cacheinfo", `160000,${change.submodule},${path}`);
    } else {
      await writeFile(file, change.content);
      await chmod(file, change.mode === "755" ? 0o755 : 0o644);
    }
  }
  await runGit(work, "add", "--all", "--force");
  if (submodules.length > 0) await runGit(work, "update-index", "--add", ...submodules);
}
