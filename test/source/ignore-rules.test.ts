import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import { IGNORE_FILE, ignoreRules } from "../../src/source/index.ts";
import { runGit } from "../support/git-repository.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

function ignored(texts: Record<string, string>, paths: readonly string[]): string[] {
  const isIgnored = ignoreRules(new Map(Object.entries(texts)));
  return paths.filter((path) => (path.endsWith("/") ? isIgnored(path.slice(0, -1), true) : isIgnored(path, false)));
}

const cases: Record<string, { texts: Record<string, string>; ignored: string[]; kept: string[] }> = {
  "a name holds at any depth": {
    texts: { [IGNORE_FILE]: "*.pyc\nnode_modules/" },
    ignored: ["x.pyc", "a/b/x.pyc", "node_modules/", "a/node_modules/", "a/node_modules/x/y.js"],
    kept: ["x.py", "node_modules", "a/x.pyc.txt"],
  },
  "a slash ties a pattern to its folder": {
    texts: { [IGNORE_FILE]: "/top\ndocs/*.md" },
    ignored: ["top", "top/x", "docs/a.md"],
    kept: ["a/top", "a/docs/a.md", "docs/b/a.md"],
  },
  "two stars cross folders": {
    texts: { [IGNORE_FILE]: "**/gen\na/**/z\nlogs/**" },
    ignored: ["gen", "x/y/gen", "a/z", "a/b/c/z", "logs/x", "logs/x/y"],
    kept: ["logs/", "b/z"],
  },
  "a later line takes back, but not from an ignored folder": {
    texts: { [IGNORE_FILE]: "*.log\n!keep.log\nbuild/\n!build/keep.txt" },
    ignored: ["a.log", "build/keep.txt"],
    kept: ["keep.log", "a/keep.log"],
  },
  "a folder's own rules go before those of its parents, and hold nowhere else": {
    texts: { [IGNORE_FILE]: "*.txt\ndata/", [`a/${IGNORE_FILE}`]: "!*.txt\n!data/\n/only" },
    ignored: ["x.txt", "data/x", "b/x.txt", "a/only"],
    kept: ["a/x.txt", "a/b/x.txt", "a/data/x", "b/a/only", "only", "a/b/only"],
  },
  "an escaped slash is a slash": {
    texts: { [IGNORE_FILE]: "a\\/b\nx\\\\/y\n**\\/deep\nfolder\\/" },
    ignored: ["a/b", "x\\/y", "c/deep", "c/d/deep"],
    kept: ["c/a/b", "x/y", "deep", "folder/"],
  },
  "comments, escapes, spaces, CRLF and a byte order mark": {
    texts: { [IGNORE_FILE]: "\uFEFFfirst\r\n# comment\r\n\\#hash\r\n\\!bang\r\nspaces  \r\nkept\\ \r\n\r\n" },
    ignored: ["first", "#hash", "!bang", "spaces", "kept "],
    kept: ["# comment", "comment", "kept", "hash"],
  },
  brackets: {
    texts: { [IGNORE_FILE]: "[abc]1\n[!x-z]2\n[[:digit:]]3\n[]]4\nopen[" },
    ignored: ["a1", "w2", "93", "]4"],
    kept: ["d1", "y2", "a3", "open["],
  },
  "upper and lower case differ": { texts: { [IGNORE_FILE]: "README" }, ignored: ["README"], kept: ["readme"] },
  "folders with names like globs": {
    texts: { [`[a]*/${IGNORE_FILE}`]: "x" },
    ignored: ["[a]*/x", "[a]*/b/x"],
    kept: ["a/x", "x"],
  },
  "nothing is said": { texts: { [IGNORE_FILE]: "\n/\n!\n   \n" }, ignored: [], kept: ["a", "a/"] },
};
it.each(Object.entries(cases))("%s", (_, { texts, ignored: expected, kept }) => {
  expect(ignored(texts, [...expected, ...kept])).toEqual(expected);
});

it("many stars cost no more than time", () => {
  const isIgnored = ignoreRules(new Map([[IGNORE_FILE, `${"*a".repeat(100)}*b\n${"**/a/".repeat(100)}b`]]));
  expect(isIgnored("a".repeat(250), false)).toBe(false);
  expect(isIgnored(`${"a/".repeat(250)}c`, false)).toBe(false);
});

it("agrees with git on any rules", async () => {
  const root = await temporaryFolder();
  await runGit(root, "init", "--quiet");
  const names = ["a", "b", "ab", "a.b", "!a", "#b", "a b"];
  const name = fc.constantFrom(...names);
  const piece = fc.constantFrom("a", "b", "*", "?", "**", "[ab]", "[!a]", ".", "/", "/", "!", "#", "\\", " ", "[", "]");
  const line = fc
    .array(piece, { minLength: 1, maxLength: 6 })
    .map((pieces) => pieces.join(""))
    // Git takes a slash in brackets for a member of the set, though it matches none; here it separates folders.
    .filter((glob) => !/\[.*\//.test(glob))
    // Git forgets a name before stars (`a**/b`) when it looks whether they are a folder's; its manual says otherwise.
    .filter((glob) => !/[^/*]\*\*/.test(glob));
  const text = fc.array(line, { minLength: 1, maxLength: 4 }).map((lines) => lines.join("\n"));
  const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("/"));
  const folder = fc.constantFrom("", "a/", "a/b/", "ab/");
  let round = 0;
  const agrees = fc.asyncProperty(
    fc.uniqueArray(fc.tuple(folder, text), { minLength: 1, maxLength: 3, selector: ([at]) => at }),
    fc.uniqueArray(path, { minLength: 1, maxLength: 12 }),
    async (files, paths) => {
      const dir = join(root, `${round++}`);
      await mkdir(dir);
      const texts = files.map(([at, content]): [string, string] => [`${at}${IGNORE_FILE}`, content]);
      // A path that is a folder of another one cannot be a file beside it.
      const leaves = paths.filter((one) => !paths.some((other) => other.startsWith(`${one}/`)));
      const written = [...texts.map(([at]) => at), ...leaves].filter(
        (one, _, all) => !all.some((other) => one.startsWith(`${other}/`)),
      );
      for (const file of written) {
        await mkdir(dirname(join(dir, file)), { recursive: true });
        await writeFile(join(dir, file), texts.find(([at]) => at === file)?.[1] ?? "").catch(() => {});
      }
      const flags = ["ls-files", "-z", "--others", `--exclude-per-directory=${IGNORE_FILE}`];
      const shown = new Set((await runGit(dir, ...flags)).split("\0"));
      const isIgnored = ignoreRules(new Map(texts));
      const all = (await runGit(dir, "ls-files", "-z", "--others")).split("\0").filter(Boolean);
      expect(all.filter((one) => !isIgnored(one, false))).toEqual(all.filter((one) => shown.has(one)));
    },
  );
  await fc.assert(agrees, { numRuns: 150 });
});

// A tenant's file is read by the process that serves all of them.
it.each([" ", "\\", "\\ ", "*", "**/", "[", "a/", "!", "#"])(
  "a line of a megabyte of %j is read while nobody waits",
  (part) => {
    const line = part.repeat(1_000_000 / part.length);
    for (const text of [`${line}x`, `x${line}x`, `x${line}`])
      expect(ignored({ [IGNORE_FILE]: text }, ["y/y"])).toEqual([]);
  },
);
