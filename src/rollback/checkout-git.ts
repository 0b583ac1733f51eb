import { spawn } from "node:child_process";
import { access, lstat } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { SlessError } from "../errors/index.ts";
import { findGitDirectory } from "../source/index.ts";

export interface CheckoutOptions {
  /** Absolute path of git. */
  readonly git: string;
  /** Top folder of the checkout. */
  readonly root: string;
  /** The user's own: the commit is his, with his name, hooks and signature. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A path that is not as the commit has it. */
export interface UnsavedPath {
  readonly path: string;
  readonly isStaged: boolean;
}

export interface FileLines {
  /** undefined: not a text. */
  readonly added: number | undefined;
  readonly deleted: number | undefined;
}

/** What is done to a checkout with git itself, as its user would do it. @throws SlessError `rollback_failed` */
export interface CheckoutGit {
  /** What was begun and has not ended, as git calls it: "merge", "rebase". */
  operation(): Promise<string | undefined>;
  /** Files that are changed, staged, or there without belonging to the commit; not those that git ignores. */
  unsaved(): Promise<UnsavedPath[]>;
  /** A file or link is at the path, whether the commit has it or not. */
  isFile(path: string): Promise<boolean>;
  /** Lines that differ between two commits, by path. */
  lines(from: string, to: string): Promise<ReadonlyMap<string, FileLines>>;
  /** Makes paths in the index and the folder what they are in a commit, which has the `present` ones and not the others. */
  restore(
    commit: string,
    paths: { readonly present: readonly string[]; readonly absent: readonly string[] },
  ): Promise<void>;
  /** Commits what is staged. @returns the commit */
  commit(message: string): Promise<string>;
}

const OPERATIONS: readonly (readonly [string, string])[] = [
  ["MERGE_HEAD", "merge"],
  ["CHERRY_PICK_HEAD", "cherry-pick"],
  ["REVERT_HEAD", "revert"],
  ["rebase-merge", "rebase"],
  ["rebase-apply", "rebase"],
];
/** They would point git at another repository or index than the one that was looked at. */
const NOT_PASSED = ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_PREFIX"];

export function checkoutGit({ git, root, env }: CheckoutOptions): CheckoutGit {
  const passed = Object.fromEntries(Object.entries(env).filter(([name]) => !NOT_PASSED.includes(name)));
  const own = { ...passed, LC_ALL: "C", GIT_LITERAL_PATHSPECS: "1" };
  const run = (args: readonly string[], input = "") => runGit(git, ["-C", root, ...args], own, input);
  return {
    async operation() {
      const { gitDir } = await findGitDirectory(root);
      for (const [name, operation] of OPERATIONS) if (await exists(join(gitDir, name))) return operation;
      return undefined;
    },
    async unsaved() {
      const told = await run(["status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames"]);
      return records(told).map((record) => ({ path: record.slice(3), isStaged: !" ?".includes(record[0]!) }));
    },
    isFile: (path) =>
      lstat(join(root, path)).then(
        (found) => !found.isDirectory(),
        () => false,
      ),
    async lines(from, to) {
      const told = await run(["diff-tree", "-r", "-z", "--numstat", "--no-renames", from, to]);
      return new Map(records(told).map(toLines));
    },
    async restore(commit, { present, absent }) {
      const args = ["restore", `--source=${commit}`, "--staged", "--worktree"];
      const from = ["--pathspec-from-file=-", "--pathspec-file-nul"];
      // First what goes: a folder may come in the place of a file.
      for (const paths of [absent, present]) if (paths.length > 0) await run([...args, ...from], paths.join("\0"));
    },
    async commit(message) {
      await run(["commit", "--quiet", "--file=-"], message);
      return (await run(["rev-parse", "--verify", "HEAD"])).trim();
    },
  };
}

function records(output: string): string[] {
  return output.split("\0").filter((record) => record !== "");
}

function toLines(record: string): [string, FileLines] {
  const [added = "", deleted = "", ...path] = record.split("\t");
  const count = (number: string) => (/^\d+$/.test(number) ? Number(number) : undefined);
  return [path.join("\t"), { added: count(added), deleted: count(deleted) }];
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

const ERROR_MAX = 2_000;

async function runGit(
  git: string,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  input: string,
): Promise<string> {
  const child = spawn(git, args, { env: { ...env }, stdio: ["pipe", "pipe", "pipe"] });
  const ended = new Promise<number | null>((resolve, reject) => child.once("error", reject).once("close", resolve));
  // Git may end before it has read all of it.
  child.stdin.on("error", () => undefined).end(input);
  try {
    const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
    if (code === 0) return stdout;
    const said = (stderr.trim() || stdout.trim()).slice(-ERROR_MAX);
    throw new SlessError("rollback_failed", { cause: said || `git ${args[2]} ended with ${code}` });
  } catch (error) {
    if (error instanceof SlessError) throw error;
    throw new SlessError("rollback_failed", { cause: (error as Error).message }, { cause: error });
  }
}
