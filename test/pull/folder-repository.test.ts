import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ObjectOf, RepositorySpec } from "../../src/apis/index.ts";
import { folderRepository } from "../../src/pull/folder-repository.ts";
import { openFolder } from "../../src/pull/open-folder.ts";
import { originUrl } from "../../src/pull/origin-url.ts";
import { isSameRemote, parseAddress } from "../../src/pull/repository-address.ts";
import { gitRepository, runGit } from "../support/git-repository.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { openGit } from "../sync/sync-world.ts";

const same: [string, string][] = [
  ["https://github.com/a/b", "https://github.com/a/b.git"],
  ["https://github.com/a/b/", "https://user:pass@GitHub.com/a/b.git"],
  ["https://github.com:443/a/b", "https://github.com/a/b"],
  ["https://github.com/a/b", "git@github.com:a/b.git"],
  ["ssh://git@host:2222/a/b", "https://host/a/b"],
  ["git+ssh://host/a/b", "host:a/b"],
  ["https://host/a%20b", "ssh://host/a b"],
];
it.each(same)("%s and %s are one repository", (a, b) => {
  expect(isSameRemote(parseAddress(a), parseAddress(b))).toBe(true);
});

const different: [string, string][] = [
  ["https://github.com/a/b", "https://github.com/a/c"],
  ["https://github.com/a/b", "https://gitlab.com/a/b"],
  ["https://host:8443/a/b", "https://host/a/b"],
  ["/a/b", "/a/b"],
  ["https://github.com/a/b", "/a/b"],
  ["C:/a/b", "https://c/a/b"],
];
it.each(different)("%s and %s are not told to be one remote", (a, b) => {
  expect(isSameRemote(parseAddress(a), parseAddress(b))).toBe(false);
});

it.each([
  ["file:///srv/a%20b.git", "/srv/a b.git"],
  ["../up", "../up"],
  ["/srv/x", "/srv/x"],
])("%s is a path of this machine", (url, path) => {
  expect(parseAddress(url)).toEqual({ kind: "local", path });
});

it.each([
  ['[remote "origin"]\n\turl = https://h/a\n', "https://h/a"],
  ['[core]\n\turl = no\n[remote "other"]\nurl = no\n[REMOTE "origin"] url = "a b" # c\n', "a b"],
  ['[remote "origin"]\n\tfetch = x\n\turl = a\\\\b\n\turl = second', "a\\b"],
  ['[remote "origin"]\n[branch "main"]\nurl = no', undefined],
  ["", undefined],
])("the origin of %j is %s", (config, url) => {
  expect(originUrl(config)).toBe(url);
});

function repository(name: string, spec: Partial<RepositorySpec>): ObjectOf<"Repository"> {
  return { kind: "Repository", metadata: { name, namespace: "demo", uid: name }, spec } as ObjectOf<"Repository">;
}

async function folderAt(into: string, top: string | undefined) {
  return openFolder({ into, top, openGit });
}

describe("the repository of a folder", () => {
  it("is the one that the folder was cloned from, or that is the folder itself", async () => {
    const git = await gitRepository({ "a/x": "1" }, { bare: true });
    const all = [repository("other", { url: "/other" }), repository("mine", { url: git.dir })];
    const clone = await folderAt(git.work, git.work);
    expect((await folderRepository(all, clone, undefined))?.metadata.name).toBe("mine");
    const itself = [repository("itself", { url: git.work })];
    expect((await folderRepository(itself, clone, undefined))?.metadata.name).toBe("itself");
    expect(await folderRepository([all[0]!], clone, undefined)).toBeUndefined();
  });

  it("is found from a linked work tree too", async () => {
    const git = await gitRepository({ "a/x": "1" });
    const linked = join(await temporaryFolder(), "linked");
    await runGit(git.work, "worktree", "add", "--quiet", "-b", "side", linked);
    const folder = await folderAt(linked, linked);
    expect(folder.checkout?.branch).toBe("side");
    const found = await folderRepository([repository("mine", { url: git.work })], folder, undefined);
    expect(found?.metadata.name).toBe("mine");
  });

  it("is chosen by branch and path among several, and asked for when they remain", async () => {
    const git = await gitRepository({ "staging/x": "1", "prod/x": "1" });
    const url = git.work;
    const branches = [
      repository("main", { url, ref: { branch: "main" } }),
      repository("next", { url, ref: { branch: "next" } }),
    ];
    const root = await folderAt(git.work, git.work);
    expect((await folderRepository(branches, root, undefined))?.metadata.name).toBe("main");
    const paths = [repository("prod", { url, path: "prod" }), repository("staging", { url, path: "./staging/" })];
    const below = await folderAt(join(git.work, "staging"), git.work);
    expect((await folderRepository(paths, below, undefined))?.metadata.name).toBe("staging");
    await expect(folderRepository(paths, root, undefined)).rejects.toThrow("choose one with --repository");
    expect((await folderRepository(paths, root, "prod"))?.metadata.name).toBe("prod");
    await expect(folderRepository(paths, root, "nope")).rejects.toThrow("known here: prod, staging");
  });
});

describe("a place of Git itself is refused", () => {
  it.each(["", "hooks"])("a bare repository, %j in it", async (inner) => {
    const git = await gitRepository({ x: "1" }, { bare: true });
    await expect(folderAt(join(git.dir, inner), git.dir)).rejects.toMatchObject({ code: "usage_invalid" });
  });

  it(".git of a checkout", async () => {
    const git = await gitRepository({ x: "1" });
    await mkdir(join(git.work, ".git/x"));
    await expect(folderAt(join(git.work, ".git/x"), git.work)).rejects.toMatchObject({ code: "usage_invalid" });
  });
});
