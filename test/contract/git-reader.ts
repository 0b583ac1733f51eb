import { chmod, cp, readdir, rename, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { ErrorCode } from "../../src/errors/index.ts";
import type { GitReader, ObjectId, TreeEntry } from "../../src/source/index.ts";
import { type GitRepository, gitRepository, runGit } from "../support/git-repository.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

export type OpenReader = (repository: string) => Promise<GitReader>;

/** What a repository may be that an adapter need not read, but must then refuse. */
type Form = "worktree" | "alternates" | "sha256";

/** `bare`: what has no work tree. `damage`: the adapter has contents that the repository lost. */
export type Unsupported = Form | "bare" | "damage";

/** The rules of port GitReader. */
export function gitReaderContract(
  open: OpenReader,
  { unsupported }: { readonly unsupported: readonly Unsupported[] },
): void {
  const opened: OpenReader = async (repository) => {
    const reader = await open(repository);
    onTestFinished(() => reader.close());
    return reader;
  };
  const bare = it.skipIf(unsupported.includes("bare"));
  describe("resolving", () => resolving(opened, bare));
  describe("expressions", () => expressions(opened));
  describe("merge bases", () => mergeBases(opened));
  describe("objects", () => objects(opened));
  describe.skipIf(unsupported.includes("damage"))("damage", () => damage(opened));
  describe("changes while a reader is open", () => changes(opened, bare));
  describe("forms of repositories", () => forms(opened, unsupported));
}

const failsWith = (code: ErrorCode, details: object = {}) =>
  expect.objectContaining({ code, details: expect.objectContaining(details) });

function resolving(open: OpenReader, bare: typeof it.skip): void {
  bare("without a request answers the branch that HEAD names, whatever it is called", async () => {
    const repository = await gitRepository({ a: "1" }, { branch: "trunk", bare: true });
    const reader = await open(repository.dir);
    expect(await reader.resolve({})).toEqual({
      commit: repository.head,
      tree: await repository.git("rev-parse", "HEAD^{tree}"),
      name: "trunk",
      revision: `trunk@sha1:${repository.head}`,
    });
    await repository.git("branch", "--move", "trunk", "main");
    expect(await reader.resolve({})).toMatchObject({ name: "main", commit: repository.head });
  });

  const kinds: Record<string, { make: string[][]; ask: object; name: string | undefined }> = {
    "a branch": { make: [["branch", "x"]], ask: { branch: "x" }, name: "x" },
    "a branch with slashes": { make: [["branch", "team/a/b"]], ask: { branch: "team/a/b" }, name: "team/a/b" },
    "a branch that begins with a dash": {
      make: [["update-ref", "refs/heads/--help", "HEAD"]],
      ask: { branch: "--help" },
      name: "--help",
    },
    "a tag": { make: [["tag", "v1"]], ask: { tag: "v1" }, name: "v1" },
    "an annotated tag": { make: [["tag", "-m", "x", "v2"]], ask: { tag: "v2" }, name: "v2" },
    "a tag of a tag": {
      make: [
        ["tag", "-m", "x", "inner"],
        ["tag", "-m", "x", "outer", "inner"],
      ],
      ask: { tag: "outer" },
      name: "outer",
    },
    "packed refs": {
      make: [
        ["branch", "p"],
        ["pack-refs", "--all", "--prune"],
      ],
      ask: { branch: "p" },
      name: "p",
    },
    "a packed annotated tag": {
      make: [
        ["tag", "-m", "x", "t"],
        ["pack-refs", "--all", "--prune"],
      ],
      ask: { tag: "t" },
      name: "t",
    },
    "a symbolic ref": { make: [["symbolic-ref", "refs/heads/s", "refs/heads/main"]], ask: { branch: "s" }, name: "s" },
    "a detached HEAD": { make: [["checkout", "--quiet", "--detach"]], ask: {}, name: undefined },
    "a tag before a branch of that name": {
      make: [
        ["tag", "same"],
        ["branch", "same"],
      ],
      ask: { tag: "same", branch: "none" },
      name: "same",
    },
  };
  it.each(Object.entries(kinds))("finds %s", async (_, { make, ask, name }) => {
    const repository = await gitRepository({ a: "1" });
    for (const command of make) await repository.git(...command);
    const { head } = repository;
    const revision = name === undefined ? `sha1:${head}` : `${name}@sha1:${head}`;
    expect(await (await open(repository.dir)).resolve(ask)).toMatchObject({ commit: head, name, revision });
  });

  it("finds a commit by its id in either case, also one that no branch has", async () => {
    const repository = await gitRepository({ a: "1" });
    const tree = await repository.git("rev-parse", "HEAD^{tree}");
    const orphan = await repository.git("commit-tree", tree, "-m", "orphan");
    const reader = await open(repository.dir);
    const expected = { commit: orphan, tree, name: undefined, revision: `sha1:${orphan}` };
    expect(await reader.resolve({ commit: orphan })).toEqual(expected);
    expect(await reader.resolve({ commit: orphan.toUpperCase(), branch: "main" })).toEqual(expected);
  });

  it.each<[string, object]>([
    ["a branch that is not there", { branch: "none" }],
    ["a tag that is not there", { tag: "none" }],
    ["a tag of a file", { tag: "of-a-file" }],
    ["an unknown commit", { commit: "1".repeat(40) }],
    ["a tree's id", { commit: "4b825dc642cb6eb9a060e54bf8d69288fbee4904" }],
    ["a short id", { commit: "1234567" }],
    ["a folder of branches", { branch: "team" }],
    ["revision syntax", { branch: "main~0" }],
    ["a path behind a branch", { branch: "main:a" }],
    ["a way out of refs", { branch: "../../HEAD" }],
    ["a line feed", { branch: "main\nmain" }],
    ["a NUL", { branch: "main\0" }],
    ["an option", { branch: "--all" }],
    ["an empty name", { branch: "" }],
    ["a very long name", { branch: "x".repeat(5000) }],
  ])("answers that %s does not exist", async (_, ref) => {
    const repository = await gitRepository({ a: "1" });
    await repository.git("branch", "team/x");
    await repository.git("tag", "of-a-file", "HEAD:a");
    await expect((await open(repository.dir)).resolve(ref)).rejects.toThrow(failsWith("ref_not_found"));
  });

  it("does not take another branch for a deleted one", async () => {
    const repository = await gitRepository({ a: "1" });
    await repository.git("branch", "x");
    await repository.git("update-ref", "refs/heads/refs/heads/x", "HEAD");
    await repository.git("update-ref", "refs/tags/heads/x", "HEAD");
    const reader = await open(repository.dir);
    await reader.resolve({ branch: "x" });
    await repository.git("branch", "-D", "x");
    await expect(reader.resolve({ branch: "x" })).rejects.toThrow(failsWith("ref_not_found", { ref: "branch x" }));
  });

  bare("tells an empty repository from a missing branch, and sees its first push", async () => {
    const repository = await gitRepository({}, { bare: true });
    const reader = await open(repository.dir);
    await expect(reader.resolve({})).rejects.toThrow(failsWith("repository_empty"));
    await expect(reader.resolve({ branch: "main" })).rejects.toThrow(failsWith("repository_empty"));
    const commit = await repository.commit("first", { a: "1" });
    expect(await reader.resolve({})).toMatchObject({ commit, name: "main" });
  });

  bare("says so when HEAD names a branch that is not there, though others are", async () => {
    const repository = await gitRepository({ a: "1" }, { bare: true });
    await repository.git("symbolic-ref", "HEAD", "refs/heads/master");
    const missing = failsWith("ref_not_found", { ref: expect.stringContaining("master") });
    await expect((await open(repository.dir)).resolve({})).rejects.toThrow(missing);
  });

  bare("follows a branch that was force-pushed", async () => {
    const repository = await gitRepository({ a: "1" }, { bare: true });
    const reader = await open(repository.dir);
    await repository.commit("second", { a: "2" });
    await reader.resolve({ branch: "main" });
    await runGit(repository.work, "commit", "--quiet", "--amend", "-m", "rewritten");
    await runGit(repository.work, "push", "--quiet", "--force", "origin", "main");
    const commit = await runGit(repository.work, "rev-parse", "HEAD");
    expect(await reader.resolve({ branch: "main" })).toMatchObject({ commit });
  });
}

function expressions(open: OpenReader): void {
  it.each<[string, (commits: string[]) => unknown, number, string | undefined]>([
    ["HEAD", () => "HEAD", 2, "main"],
    ["a branch", () => "main", 2, "main"],
    ["a full ref", () => "refs/heads/main", 2, "main"],
    ["a tag", () => "v1", 0, "v1"],
    ["a remote branch", () => "origin/main", 1, "origin/main"],
    ["an ancestor of HEAD", () => "HEAD~2", 0, undefined],
    ["steps", () => "main^~1", 0, undefined],
    ["a tag's commit", () => "v1^0", 0, undefined],
    ["a full id", (commits) => commits[1], 1, undefined],
    ["a short id", (commits) => commits[1]?.slice(0, 8), 1, undefined],
    ["a short id's parent", (commits) => `${commits[1]?.slice(0, 8)}^`, 0, undefined],
  ])("understand %s", async (_, write, index, name) => {
    const repository = await gitRepository({ a: "1" });
    const commits = [
      repository.head,
      await repository.commit("second", { a: "2" }),
      await repository.commit("third", { a: "3" }),
    ];
    await repository.git("tag", "-m", "x", "v1", commits[0]!);
    await repository.git("update-ref", "refs/remotes/origin/main", commits[1]!);
    const reader = await open(repository.dir);
    expect(await reader.resolveExpression(String(write(commits)))).toMatchObject({ commit: commits[index], name });
  });

  it.each([
    "none",
    "HEAD~7",
    "HEAD^2",
    "--help",
    "-h",
    "main:a",
    "",
    "main\0",
    "main\nmain",
    "fffffff",
    "x".repeat(9999),
  ])("refuse %j", async (expression) => {
    const repository = await gitRepository({ a: "1" });
    const reader = await open(repository.dir);
    await expect(reader.resolveExpression(expression)).rejects.toThrow(failsWith("ref_not_found"));
  });

  it("tell an empty repository", async () => {
    const reader = await open((await gitRepository({})).dir);
    await expect(reader.resolveExpression("HEAD~1")).rejects.toThrow(failsWith("repository_empty"));
  });
}

function mergeBases(open: OpenReader): void {
  it("are where two branches parted, or the older of two commits in a line", async () => {
    const repository = await gitRepository({ a: "1" });
    const parted = await repository.commit("second", { a: "2" });
    await repository.git("checkout", "--quiet", "-b", "side");
    const side = await repository.commit("side", { b: "1" });
    await repository.git("checkout", "--quiet", "main");
    const main = await repository.commit("main", { a: "3" });
    const reader = await open(repository.dir);
    expect(await reader.mergeBase(main, side)).toBe(parted);
    expect(await reader.mergeBase(side, repository.head)).toBe(repository.head);
    expect(await reader.mergeBase(main, main)).toBe(main);
  });

  it("are the best common ancestor, also where a merge leads to an older one by fewer steps", async () => {
    const repository = await gitRepository({ a: "1" });
    const tree = await repository.git("rev-parse", "HEAD^{tree}");
    const commit = (message: string, ...parents: string[]) =>
      repository.git("commit-tree", tree, "-m", message, ...parents.flatMap((parent) => ["-p", parent]));
    const old = repository.head;
    const best = await commit("best", await commit("between", old));
    const left = await commit("left", await commit("l1", best), old);
    const right = await commit("right", await commit("r1", best), old);
    expect(await (await open(repository.dir)).mergeBase(left, right)).toBe(best);
  });

  it("do not exist between unrelated histories", async () => {
    const repository = await gitRepository({ a: "1" });
    const other = await repository.git("commit-tree", `${repository.head}^{tree}`, "-m", "other");
    expect(await (await open(repository.dir)).mergeBase(repository.head, other)).toBeUndefined();
  });

  it("need both commits", async () => {
    const repository = await gitRepository({ a: "1" });
    const reader = await open(repository.dir);
    for (const id of ["1".repeat(40), "--all"]) {
      await expect(reader.mergeBase(repository.head, id)).rejects.toThrow(failsWith("object_missing"));
    }
  });
}

function objects(open: OpenReader): void {
  it("have all modes and names as Git has them, in Git's order", async () => {
    const repository = await gitRepository({
      "a.txt": "1",
      "a/x": "2",
      a0: "3",
      "ünïcode ☃.py": "4",
      "line\nfeed": "5",
      run: { mode: "755", content: "6" },
      link: { symlink: "a/x" },
      module: { submodule: "1".repeat(40) },
    });
    const reader = await open(repository.dir);
    const { tree } = await reader.resolve({});
    const entries = (await reader.trees([tree])).get(tree)!;
    const id = (path: string) => repository.git("rev-parse", `HEAD:${path}`);
    expect(entries).toEqual([
      { name: "a.txt", mode: "100644", id: await id("a.txt") },
      { name: "a", mode: "40000", id: await id("a") },
      { name: "a0", mode: "100644", id: await id("a0") },
      { name: "line\nfeed", mode: "100644", id: await id("line\nfeed") },
      { name: "link", mode: "120000", id: await id("link") },
      { name: "module", mode: "160000", id: "1".repeat(40) },
      { name: "run", mode: "100755", id: await id("run") },
      { name: "ünïcode ☃.py", mode: "100644", id: await id("ünïcode ☃.py") },
    ]);
  });

  it("come byte for byte with their sizes, loose and packed", async () => {
    const contents: Record<string, Uint8Array> = {
      empty: new Uint8Array(),
      newlines: Buffer.from("\n\n\n"),
      looksLikeAnAnswer: Buffer.from(`${"1".repeat(40)} missing\n${"2".repeat(40)} blob 3\nabc\n`),
      binary: Uint8Array.from({ length: 70_000 }, (_, index) => (index * 7) % 256),
      big: Buffer.alloc(5_000_000, "0123456789abcdef"),
    };
    const repository = await gitRepository(contents);
    const reader = await open(repository.dir);
    for (const pack of [false, true]) {
      if (pack) await repository.git("gc", "--quiet");
      const byName = await entriesByName(reader);
      const ids = [...byName.values()].map((entry) => entry.id);
      const sizes = await reader.sizes(ids);
      const blobs = await reader.blobs([...ids, ...ids]);
      for (const [name, content] of Object.entries(contents)) {
        const { id } = byName.get(name)!;
        expect(sizes.get(id), name).toBe(content.length);
        expect(Buffer.compare(blobs.get(id)!, content), name).toBe(0);
      }
    }
  });

  it("come in bulk, and to many callers at once", async () => {
    const files = Object.fromEntries(
      Array.from({ length: 2500 }, (_, index) => [`d${index % 50}/f${index}`, `${index}`]),
    );
    const repository = await gitRepository(files);
    await repository.git("gc", "--quiet");
    const reader = await open(repository.dir);
    const seen = await Promise.all(Array.from({ length: 4 }, () => readEverything(reader)));
    for (const one of seen) expect(one).toEqual(new Map(Object.entries(files)));
  });

  it("may be none: an empty tree, an empty request", async () => {
    const repository = await gitRepository({});
    await repository.commit("nothing", {});
    const reader = await open(repository.dir);
    const { tree } = await reader.resolve({});
    expect(await reader.trees([tree])).toEqual(new Map([[tree, []]]));
    expect(await reader.trees([])).toEqual(new Map());
    expect(await reader.blobs([])).toEqual(new Map());
  });

  it("are what their id says, not what `git replace` made of them", async () => {
    const repository = await gitRepository({ a: "true", b: "false" });
    await repository.git("replace", "HEAD:a", "HEAD:b");
    expect(await readEverything(await open(repository.dir))).toEqual(
      new Map([
        ["a", "true"],
        ["b", "false"],
      ]),
    );
  });

  it("of another kind, and what is no id, are missing", async () => {
    const repository = await gitRepository({ a: "1" });
    const reader = await open(repository.dir);
    const { tree, commit } = await reader.resolve({});
    const blob = (await entriesByName(reader)).get("a")!.id;
    await expect(reader.trees([blob])).rejects.toThrow(failsWith("object_missing", { id: blob }));
    await expect(reader.blobs([tree])).rejects.toThrow(failsWith("object_missing", { id: tree }));
    await expect(reader.sizes([commit])).rejects.toThrow(failsWith("object_missing", { id: commit }));
    for (const id of ["HEAD", "--all", `${blob}\n${blob}`, `${blob.slice(0, 20)}`, ""]) {
      await expect(reader.blobs([id])).rejects.toThrow(failsWith("object_missing"));
    }
    expect((await reader.blobs([blob])).size).toBe(1);
  });
}

function damage(open: OpenReader): void {
  const loose = (repository: GitRepository, id: ObjectId) =>
    join(repository.dir, ".git", "objects", id.slice(0, 2), id.slice(2));

  it.each<[string, (file: string) => Promise<void>]>([
    ["is gone", (file) => rm(file)],
    ["is garbage", (file) => chmod(file, 0o644).then(() => writeFile(file, "no object"))],
    ["is cut off", (file) => chmod(file, 0o644).then(() => truncate(file, 12))],
    ["is an empty file", (file) => chmod(file, 0o644).then(() => truncate(file, 0))],
  ])("an object that %s fails the request that needs it, and no other", async (_, harm) => {
    const repository = await gitRepository({ "a/good": "good", "b/bad": "some text that is bad" });
    const reader = await open(repository.dir);
    const tree = (await reader.resolve({})).tree;
    const id = (path: string) => repository.git("rev-parse", `HEAD:${path}`);
    const [good, bad, folderA, folderB] = await Promise.all(["a/good", "b/bad", "a", "b"].map(id));
    await harm(loose(repository, bad!));
    await expect(reader.blobs([good!, bad!])).rejects.toThrow(failsWith("object_missing", { id: bad }));
    expect((await reader.blobs([good!])).size).toBe(1);

    await harm(loose(repository, folderB!));
    await expect(reader.trees([tree, folderA!, folderB!])).rejects.toThrow(
      failsWith("object_missing", { id: folderB }),
    );
    expect((await reader.trees([tree, folderA!])).size).toBe(2);

    await harm(loose(repository, repository.head));
    await expect(reader.resolve({})).rejects.toThrow(failsWith("object_missing", { id: repository.head }));
  });

  it("a blob that is gone has no size", async () => {
    const repository = await gitRepository({ good: "good", bad: "bad" });
    const [good, bad] = [await repository.git("rev-parse", "HEAD:good"), await repository.git("rev-parse", "HEAD:bad")];
    await rm(loose(repository, bad));
    const reader = await open(repository.dir);
    await expect(reader.sizes([good, bad])).rejects.toThrow(failsWith("object_missing", { id: bad }));
    expect(await reader.sizes([good])).toEqual(new Map([[good, 4]]));
  });

  it("a broken pack fails its objects", async () => {
    const repository = await gitRepository({ a: "1", b: "2".repeat(1000) });
    const { head } = repository;
    await repository.git("gc", "--quiet");
    const packs = join(repository.dir, ".git", "objects", "pack");
    for (const name of await readdir(packs)) {
      await chmod(join(packs, name), 0o644);
      if (name.endsWith(".pack")) await truncate(join(packs, name), 40);
    }
    const reader = await open(repository.dir);
    await expect(reader.resolve({})).rejects.toThrow(failsWith("object_missing", { id: head }));
  });

  it.each([
    ["an empty ref", ""],
    ["a ref of garbage", "garbage\n"],
    ["a ref that leads to itself", "ref: refs/heads/x\n"],
  ])("%s is no deleted branch", async (_, text) => {
    const repository = await gitRepository({ a: "1" });
    await writeFile(join(repository.dir, ".git", "refs", "heads", "x"), text);
    const reader = await open(repository.dir);
    await expect(reader.resolve({ branch: "x" })).rejects.toThrow(failsWith("repository_unreachable"));
  });
}

function changes(open: OpenReader, bare: typeof it.skip): void {
  bare("new pushes are seen at once, as packs, loose objects and after gc", async () => {
    const repository = await gitRepository({ a: "0" }, { bare: true });
    await repository.git("config", "receive.unpackLimit", "1");
    const reader = await open(repository.dir);
    for (const [index, gc] of [false, true, false, true].entries()) {
      const commit = await repository.commit(`push ${index}`, { a: `${index}`, [`d${index}/f`]: `${index}` });
      if (gc) await repository.git("gc", "--quiet", "--prune=now");
      expect(await reader.resolve({})).toMatchObject({ commit });
      expect((await readEverything(reader)).get("a")).toBe(`${index}`);
    }
  });

  bare("an index that is on its way to its name, or whose pack is, hides no object of another pack", async () => {
    const repository = await gitRepository({ a: "0" }, { bare: true });
    await repository.git("gc", "--quiet");
    const packs = join(repository.dir, "objects", "pack");
    const index = (await readdir(packs)).find((name) => name.endsWith(".idx"))!;
    for (const copy of [`.tmp-1-${index}`, `pack-${"0".repeat(40)}.idx`])
      await cp(join(packs, index), join(packs, copy));
    expect((await readEverything(await open(repository.dir))).get("a")).toBe("0");
  });

  bare("a repository that is pushed to and repacked is read whole every time", async () => {
    const repository = await gitRepository({ "a/n": "0", "b/n": "0" }, { bare: true });
    await repository.git("config", "receive.unpackLimit", "1");
    const reader = await open(repository.dir);
    let isWriting = true;
    const writing = (async () => {
      for (let round = 1; round <= 8; round++) {
        await repository.commit(`${round}`, { "a/n": `${round}`, "b/n": `${round}`, [`c${round}/f`]: `${round}` });
        if (round % 2 === 0) await repository.git("gc", "--quiet");
      }
    })().finally(() => {
      isWriting = false;
    });
    while (isWriting) {
      const files = await readEverything(reader);
      const round = Number(files.get("a/n"));
      expect(files.get("b/n")).toBe(`${round}`);
      expect(files.size).toBe(2 + round);
    }
    await writing;
    expect((await readEverything(reader)).get("a/n")).toBe("8");
  });

  bare("a repository that disappears is unreachable, not empty, and is read again when it is back", async () => {
    const repository = await gitRepository({ a: "1" }, { bare: true });
    const reader = await open(repository.dir);
    const { tree } = await reader.resolve({});
    await rename(repository.dir, `${repository.dir}.away`);
    const unreachable = failsWith("repository_unreachable", { url: repository.dir });
    await expect(reader.resolve({})).rejects.toThrow(unreachable);
    await expect(reader.sizes(["3".repeat(40)])).rejects.toThrow(unreachable);
    const other = await gitRepository({ b: "2" }, { bare: true });
    await rename(other.dir, repository.dir);
    expect(await readEverything(reader)).toEqual(new Map([["b", "2"]]));
    expect((await reader.resolve({})).tree).not.toBe(tree);
  });

  it("a closed reader refuses, and closing twice does no harm", async () => {
    const repository = await gitRepository({ a: "1" });
    const reader = await open(repository.dir);
    const { tree } = await reader.resolve({});
    await reader.close();
    await reader.close();
    await expect(reader.resolve({})).rejects.toThrow(failsWith("repository_unreachable"));
    await expect(reader.trees([tree])).rejects.toThrow(failsWith("repository_unreachable"));
  });
}

function forms(open: OpenReader, unsupported: readonly Unsupported[]): void {
  it("a folder that is not there, or is no repository, is unreachable", async () => {
    const folder = await temporaryFolder();
    const repository = await gitRepository({ "sub/a": "1" });
    for (const path of [folder, join(folder, "none"), join(repository.dir, "sub"), join(repository.dir, "sub/a")]) {
      await expect(open(path)).rejects.toThrow(failsWith("repository_unreachable", { url: path }));
    }
  });

  it("a Git directory that stands elsewhere is followed", async () => {
    const repository = await gitRepository({ a: "1" });
    const gitDir = join(await temporaryFolder(), "elsewhere");
    await repository.git("init", "--quiet", `--separate-git-dir=${gitDir}`);
    expect(await readEverything(await open(repository.dir))).toEqual(new Map([["a", "1"]]));
  });

  it("a shallow clone is read as far as it goes", async () => {
    const repository = await gitRepository({ a: "1" });
    const head = await repository.commit("second", { a: "2" });
    const path = join(await temporaryFolder(), "shallow");
    await repository.git("clone", "--quiet", "--depth=1", `file://${repository.dir}`, path);
    const reader = await open(path);
    expect(await readEverything(reader)).toEqual(new Map([["a", "2"]]));
    await expect(reader.resolveExpression("HEAD~1")).rejects.toThrow(failsWith("ref_not_found"));
    expect(await reader.mergeBase(head, head)).toBe(head);
  });

  const make: Record<Form, () => Promise<{ path: string; hash: string }>> = {
    async worktree() {
      const repository = await gitRepository({ a: "0" });
      const path = join(await temporaryFolder(), "linked");
      await repository.git("worktree", "add", "--quiet", "-b", "linked", path);
      await writeFile(join(path, "a"), "1");
      await runGit(path, "commit", "--quiet", "--all", "-m", "in the worktree");
      return { path, hash: "linked@sha1" };
    },
    async alternates() {
      const repository = await gitRepository({ a: "1" });
      const path = join(await temporaryFolder(), "borrowed");
      await repository.git("clone", "--quiet", "--shared", repository.dir, path);
      return { path, hash: "main@sha1" };
    },
    async sha256() {
      return { path: (await gitRepository({ a: "1" }, { objectFormat: "sha256" })).dir, hash: "main@sha256" };
    },
  };
  it.each(Object.entries(make))("%s is read, or refused in clear words", async (form, made) => {
    const { path, hash } = await made();
    if (unsupported.includes(form as Form)) {
      await expect(open(path)).rejects.toThrow(failsWith("repository_unsupported", { url: path }));
      return;
    }
    const reader = await open(path);
    const { revision, commit } = await reader.resolve({});
    expect(revision).toBe(`${hash}:${commit}`);
    expect(commit).toBe(await runGit(path, "rev-parse", "HEAD"));
    expect(await readEverything(reader)).toEqual(new Map([["a", "1"]]));
  });
}

async function entriesByName(reader: GitReader): Promise<Map<string, TreeEntry>> {
  const { tree } = await reader.resolve({});
  return new Map((await reader.trees([tree])).get(tree)!.map((entry) => [entry.name, entry]));
}

/** Path → text of all files at HEAD. */
async function readEverything(reader: GitReader): Promise<Map<string, string>> {
  const { tree } = await reader.resolve({});
  const files: { path: string; id: ObjectId }[] = [];
  let level = [{ path: "", id: tree }];
  while (level.length > 0) {
    const trees = await reader.trees(level.map(({ id }) => id));
    const below = level.flatMap(({ path, id }) =>
      trees.get(id)!.map((entry) => ({ mode: entry.mode, path: `${path}${entry.name}`, id: entry.id })),
    );
    files.push(...below.filter(({ mode }) => mode !== "40000"));
    level = below.filter(({ mode }) => mode === "40000").map(({ path, id }) => ({ path: `${path}/`, id }));
  }
  const ids = files.map(({ id }) => id);
  const sizes = await reader.sizes(ids);
  const blobs = await reader.blobs(ids);
  return new Map(
    files.map(({ path, id }) => {
      expect(sizes.get(id)).toBe(blobs.get(id)!.length);
      return [path, Buffer.from(blobs.get(id)!).toString()];
    }),
  );
}
