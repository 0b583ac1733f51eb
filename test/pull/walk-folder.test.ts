import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openFolder } from "../../src/pull/open-folder.ts";
import { walkFolder } from "../../src/pull/walk-folder.ts";
import { type Files, gitRepository } from "../support/git-repository.ts";
import { openGit } from "../sync/sync-world.ts";
import { put } from "./pull-world.ts";

/** What the walk finds of a checkout: path, mode and id, as `git add --all` would stage it. */
async function walked(work: string): Promise<string[]> {
  const { root, folder, checkout, format } = await openFolder({ into: work, top: work, openGit });
  const files = walkFolder({ root, folder, tracked: checkout!.tracked, format, exclude: checkout!.exclude });
  return [...files].map(([path, { mode, id }]) => `${mode} ${id} ${path}`).sort();
}

async function staged(git: Awaited<ReturnType<typeof gitRepository>>): Promise<string[]> {
  await git.git("add", "--all");
  const lines = await git.git("ls-files", "--stage", "-z");
  const entries = lines.split("\0").filter(Boolean);
  return entries.map((line) => line.replace(/^(\d+) (\w+) \d\t/, "$1 $2 ")).sort();
}

const NAMES = ["a", "b.log", "c", "node_modules", "keep.log", ".hidden"];
const path = fc.array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 3 }).map((parts) => parts.join("/"));
const patterns = fc
  .array(fc.constantFrom("*.log", "!keep.log", "node_modules/", "/a", "a/c", "c/", "**/b.log", "!c", "*", "!*/"), {
    maxLength: 3,
  })
  .map((lines) => `${lines.join("\n")}\n`);
const ignoreFile = fc.tuple(fc.constantFrom("", "a/", "c/", "a/c/"), patterns);

/** Paths that fit together: none is a folder of another. */
function fitting(files: readonly (readonly [string, string])[]): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [one, text] of files) {
    const clashes = Object.keys(kept).some((other) => other.startsWith(`${one}/`) || one.startsWith(`${other}/`));
    if (!clashes) kept[one] = text;
  }
  return kept;
}

const tree = fc
  .tuple(
    fc.array(fc.tuple(path, fc.constantFrom("1", "2\r\n")), { maxLength: 8 }),
    fc.array(ignoreFile, { maxLength: 2 }),
  )
  .map(([files, ignores]) =>
    fitting([...ignores.map(([folder, text]) => [`${folder}.gitignore`, text] as const), ...files]),
  );

it("finds what git add would stage, whatever is committed and ignored", async () => {
  await fc.assert(
    fc.asyncProperty(tree, tree, patterns, async (committed, edited, exclude) => {
      const git = await gitRepository({ "x/y": "1", ...committed });
      await put(git.work, { ".git/info/exclude": exclude });
      for (const [file, text] of Object.entries(fitting([...Object.entries(committed), ...Object.entries(edited)])))
        await put(git.work, { [file]: text });
      const found = await walked(git.work);
      expect(found).toEqual(await staged(git));
    }),
    { numRuns: 40 },
  );
});

describe("like git", () => {
  it.each<[string, Files]>([
    [
      "executable files and links have their modes",
      { run: { mode: "755", content: "x" }, link: { symlink: "run" }, "to/folder": { symlink: ".." } },
    ],
    ["names of any script are names", { "日本/語": "1", ünï: "2", "a b": "3", "-": "4" }],
    ["empty files are files", { empty: "" }],
  ])("%s", async (_what, files) => {
    const git = await gitRepository(files);
    expect(await walked(git.work)).toEqual(await staged(git));
  });

  it("a file whose line ends were converted is the committed one", async () => {
    const git = await gitRepository({ x: "a\nb\n" });
    const before = await walked(git.work);
    await put(git.work, { x: "a\r\nb\r\n" });
    expect(await walked(git.work)).toEqual(before);
  });
});
