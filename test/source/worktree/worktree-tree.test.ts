import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import { type Files, gitRepository } from "../../support/git-repository.ts";
import { openedWorktree } from "./open-worktree.ts";
import { treeOfGit } from "./tree-of-git.ts";

async function treeOf(folder: string): Promise<string> {
  return (await (await openedWorktree(folder)).worktree.atRest()).tree;
}

const name = fc.constantFrom("a", "b", "a.txt", "a0", "B", "ü", "☃ x", "build", "x.log", "line\nfeed", "[a]", "𝒳", "ﬀ");
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join("/"));
const content = fc.oneof(
  fc.string().map((text): Files[string] => text),
  fc.uint8Array({ maxLength: 300 }).map((bytes): Files[string] => bytes),
  fc.string().map((text): Files[string] => ({ mode: "755", content: text })),
  fc.constantFrom("a", "../b", "/nowhere", "ü").map((target): Files[string] => ({ symlink: target })),
);
const ignoreLine = fc.constantFrom(
  "build",
  "build/",
  "*.log",
  "!x.log",
  "/a",
  "a/b",
  "**/a0",
  "☃*",
  "a*",
  "!a.txt",
  "#",
);
const ignoreFile = fc.array(ignoreLine, { maxLength: 4 }).map((lines): Files[string] => lines.join("\n"));
const ignorePath = fc.constantFrom(".gitignore", "a/.gitignore", "build/.gitignore", "a/b/.gitignore");

/** Without a file where another path wants a folder. */
function consistent(entries: readonly (readonly [string, Files[string]])[]): Files {
  const kept = new Map<string, Files[string]>();
  for (const [path, change] of entries) {
    const taken = [...kept.keys()];
    const clashes = taken.some((other) => other.startsWith(`${path}/`) || path.startsWith(`${other}/`));
    if (!clashes) kept.set(path, change);
  }
  return Object.fromEntries(kept);
}

const files = fc.array(fc.tuple(path, content), { maxLength: 12 });
const ignores = fc.array(fc.tuple(ignorePath, ignoreFile), { maxLength: 2 });

it("the tree is the one that git would commit, whatever is edited, new, deleted, ignored or tracked though ignored", async () => {
  const cases = fc.record({ committed: files, committedIgnores: ignores, edited: files, ignores });
  await fc.assert(
    fc.asyncProperty(cases, async ({ committed, committedIgnores, edited, ignores: newIgnores }) => {
      const { dir } = await gitRepository({ first: "1", ...consistent([...committedIgnores, ...committed]) });
      const changes = consistent([...newIgnores, ...edited]);
      for (const [path, change] of Object.entries(changes)) await put(dir, path, change);
      if (committed.length > 1) await rm(join(dir, committed[0]![0]), { recursive: true, force: true }).catch(() => {});
      expect(await treeOf(dir)).toBe(await treeOfGit(dir));
    }),
    { numRuns: 25 },
  );
});

async function put(folder: string, path: string, change: Files[string]): Promise<void> {
  const file = join(folder, path);
  for (let at = path; at.includes("/"); ) {
    at = dirname(at);
    await rm(join(folder, at), { force: true }).catch(() => {}); // a file where a folder is wanted
  }
  await rm(file, { recursive: true, force: true });
  await mkdir(dirname(file), { recursive: true });
  if (change instanceof Uint8Array || typeof change === "string") await writeFile(file, change);
  else if (change && "symlink" in change) await symlink(change.symlink, file);
  else if (change && "mode" in change) await writeFile(file, change.content, { mode: 0o755 });
}
