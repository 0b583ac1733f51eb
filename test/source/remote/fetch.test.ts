import { readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runGit } from "../../support/git-repository.ts";
import { ADAPTERS } from "./adapters.ts";
import { filesOf, remoteWorld } from "./remote-world.ts";

const failsWith = (code: string, text?: string) =>
  expect.objectContaining({ code, ...(text === undefined ? {} : { message: expect.stringContaining(text) }) });
const linesOf = (requests: readonly { line: string }[]) =>
  requests.map(({ line }) => line.replace(/\/[^/ ]*\.git/, ""));
const LISTING = ["GET /info/refs?service=git-upload-pack", "POST /git-upload-pack"];

describe.each(ADAPTERS)("with $name", (adapter) => {
  it("a repository is read as it is, and a push is followed", async () => {
    const world = await remoteWorld(adapter, { "a/one": "1", two: "2" });
    const reader = await world.reader();
    const first = await reader.resolve({});
    expect(first).toMatchObject({ commit: world.repository.head, revision: `main@sha1:${world.repository.head}` });
    expect(await filesOf(reader, first.tree)).toEqual({ "a/one": "1", two: "2" });
    const next = await world.repository.commit("next", { "a/one": "one" });
    const second = await reader.resolve({ branch: "main" });
    expect(second.commit).toBe(next);
    expect(await filesOf(reader, second.tree)).toEqual({ "a/one": "one", two: "2" });
  });

  it("while nothing moves the server is asked for its refs and nothing else", async () => {
    const world = await remoteWorld(adapter, { a: "1" });
    const reader = await world.reader();
    await reader.resolve({ branch: "main" });
    world.server.requests();
    await reader.resolve({ branch: "main" });
    const requests = world.server.requests();
    expect(linesOf(requests)).toEqual(LISTING);
    expect(requests[1]!.body).toContain("ref-prefix refs/heads/main");
    // A pinned commit cannot move.
    await reader.resolve({ commit: world.repository.head });
    expect(world.server.requests()).toEqual([]);
  });

  it("a restart fetches nothing that the mirror has, and is not stopped by what was left in it", async () => {
    const world = await remoteWorld(adapter, { a: "1" });
    const reader = await world.reader();
    await reader.resolve({});
    await reader.close();
    world.server.requests();
    const [name] = await readdir(world.folder);
    const left = ["shallow.lock", "config.lock", "refs/sless/0.lock", "objects/pack/tmp_pack_x", "gc.pid"];
    for (const file of left) await writeFile(join(world.folder, name!, file), "");
    const next = await (await world.reopen()).open({ namespace: "demo", url: world.server.url });
    const { tree } = await next.resolve({});
    expect(await filesOf(next, tree)).toEqual({ a: "1" });
    expect(linesOf(world.server.requests())).toEqual(LISTING);
    const commit = await world.repository.commit("next", { a: "2" });
    expect(await next.resolve({})).toMatchObject({ commit });
    await next.close();
    const there = await readdir(join(world.folder, name!), { recursive: true });
    expect(there.filter((file) => left.includes(file))).toEqual([]);
  });

  it("only what differs is sent, without history", async () => {
    const random = () => Buffer.from(Array.from({ length: 50_000 }, () => Math.floor(Math.random() * 256)));
    const world = await remoteWorld(adapter, { a: random(), b: "1" });
    for (let round = 0; round < 3; round += 1) await world.repository.commit(`${round}`, { a: random() });
    const reader = await world.reader();
    await reader.resolve({});
    expect(world.server.lastSize()).toBeLessThan(70_000);
    await world.repository.commit("small", { b: "2" });
    await reader.resolve({});
    // isomorphic-git sends for all of it every time.
    expect(world.server.lastSize()).toBeLessThan(adapter.name === "native" ? 5_000 : 70_000);
  });

  it("tags, commits and ranges are found, annotated tags as what they name", async () => {
    const world = await remoteWorld(adapter, { a: "1" });
    const { repository } = world;
    await repository.git("tag", "--annotate", "--message=it", "v1.2.0");
    const next = await repository.commit("next", { a: "2" });
    await repository.git("tag", "v1.3.0-rc.1");
    await repository.git("tag", "light/one");
    const reader = await world.reader();
    const first = { commit: repository.head, revision: `v1.2.0@sha1:${repository.head}` };
    expect(await reader.resolve({ tag: "v1.2.0" })).toMatchObject(first);
    expect(await reader.resolve({ semver: "1.x" })).toMatchObject(first);
    expect(await reader.resolve({ semver: ">=1.3.0-0" })).toMatchObject({ commit: next, name: "v1.3.0-rc.1" });
    expect(await reader.resolve({ tag: "light/one" })).toMatchObject({ commit: next });
    const pinned = { commit: repository.head, revision: `sha1:${repository.head}` };
    expect(await reader.resolve({ commit: repository.head })).toMatchObject(pinned);
    await expect(reader.resolve({ semver: "2.x" })).rejects.toThrow(failsWith("ref_not_found", "range 2.x"));
    await expect(reader.resolve({ semver: "two" })).rejects.toThrow(failsWith("semver_invalid"));
    await expect(reader.resolve({ tag: "v9" })).rejects.toThrow(failsWith("ref_not_found", "tag v9"));
    await expect(reader.resolve({ branch: "mai" })).rejects.toThrow(failsWith("ref_not_found", "branch mai"));
    await expect(reader.resolve({ branch: "--x\n" })).rejects.toThrow(failsWith("ref_not_found"));
    const code = adapter.name === "native" ? "ref_not_found" : "repository_unreachable";
    await expect(reader.resolve({ commit: "3".repeat(40) })).rejects.toThrow(failsWith(code));
  });

  it("a rewritten history is followed, a deleted branch is told, and a folder may take its name", async () => {
    const world = await remoteWorld(adapter, { a: "1" });
    const { repository } = world;
    await repository.git("branch", "live");
    const reader = await world.reader();
    await reader.resolve({ branch: "live" });
    await runGit(repository.work, "checkout", "--quiet", "--orphan", "other");
    const rewritten = await repository.commit("another beginning", { b: "2", a: null });
    await repository.git("branch", "--force", "live", rewritten);
    await repository.git("gc", "--quiet", "--prune=now");
    const { commit, tree } = await reader.resolve({ branch: "live" });
    expect(commit).toBe(rewritten);
    expect(await filesOf(reader, tree)).toEqual({ b: "2" });
    await repository.git("branch", "--delete", "--force", "live");
    await expect(reader.resolve({ branch: "live" })).rejects.toThrow(failsWith("ref_not_found", "branch live"));
    await repository.git("branch", "live/next", rewritten);
    expect(await reader.resolve({ branch: "live/next" })).toMatchObject({ commit: rewritten });
  });

  it("an empty repository waits for its first commit", async () => {
    const world = await remoteWorld(adapter, {});
    const reader = await world.reader();
    await expect(reader.resolve({})).rejects.toThrow(failsWith("repository_empty"));
    await expect(reader.resolve({ branch: "main" })).rejects.toThrow(failsWith("repository_empty"));
    const commit = await world.repository.commit("first", { a: "1" });
    expect(await reader.resolve({})).toMatchObject({ commit, name: "main" });
  });

  it("a default branch that is not there is no empty repository", async () => {
    const world = await remoteWorld(adapter, { a: "1" });
    await world.repository.git("symbolic-ref", "HEAD", "refs/heads/gone");
    await expect((await world.reader()).resolve({})).rejects.toThrow(failsWith("ref_not_found", "default branch"));
  });

  it("a server that knows only the first protocol is followed too", async () => {
    const world = await remoteWorld(adapter, { a: "1" }, { isOld: true });
    await world.repository.git("tag", "--annotate", "--message=it", "v1.0.0");
    const reader = await world.reader();
    expect(await reader.resolve({})).toMatchObject({ commit: world.repository.head, name: "main" });
    expect(await reader.resolve({ semver: "1" })).toMatchObject({ commit: world.repository.head, name: "v1.0.0" });
    const next = await world.repository.commit("next", { a: "2" });
    expect(await filesOf(reader, (await reader.resolve({ branch: "main" })).tree)).toEqual({ a: "2" });
    expect((await reader.resolve({ branch: "main" })).commit).toBe(next);
  });

  it("two readers of one repository share a mirror, also while both fetch", async () => {
    const world = await remoteWorld(adapter, { a: "1" });
    await world.repository.git("branch", "old");
    const next = await world.repository.commit("next", { a: "2" });
    const readers = [await world.reader(), await world.reader(), await world.reader({ url: `${world.server.url}/` })];
    const found = await Promise.all(readers.map((reader, n) => reader.resolve({ branch: n === 1 ? "old" : "main" })));
    expect(found.map(({ commit }) => commit)).toEqual([next, world.repository.head, next]);
    expect(await filesOf(readers[0]!, found[0]!.tree)).toEqual({ a: "2" });
    expect(await filesOf(readers[1]!, found[1]!.tree)).toEqual({ a: "1" });
    expect(await readdir(world.folder)).toHaveLength(1);
    const other = await world.reader({ namespace: "other" });
    await other.resolve({});
    expect(await readdir(world.folder)).toHaveLength(2);
  });

  it("mirrors that nobody wants are removed, once nobody uses them", async () => {
    const world = await remoteWorld(adapter, { a: "1" });
    const { repositories } = world;
    const kept = { namespace: "kept", url: world.server.url };
    for (const namespace of ["kept", "used", "gone"]) {
      const reader = await world.reader({ namespace });
      await reader.resolve({});
      if (namespace !== "used") await reader.close();
    }
    const used = await world.reader({ namespace: "used" });
    await used.resolve({});
    await repositories.keepOnly([kept]);
    expect(await readdir(world.folder)).toHaveLength(2);
    expect(await filesOf(used, (await used.resolve({})).tree)).toEqual({ a: "1" });
    await used.close();
    expect(await readdir(world.folder)).toHaveLength(2);
  });

  it("a mirror that lost an object is fetched anew", async () => {
    const world = await remoteWorld(adapter, { a: "1" });
    const reader = await world.reader();
    await reader.resolve({});
    const [mirror] = await readdir(world.folder);
    const packs = join(world.folder, mirror!, "objects", "pack");
    for (const name of await readdir(packs)) await rm(join(packs, name));
    await reader.close();
    const again = await world.reader();
    await expect(again.resolve({})).rejects.toThrow(failsWith("object_missing", world.server.url));
    expect(await filesOf(again, (await again.resolve({})).tree)).toEqual({ a: "1" });
  });
});

it("a repository of sha256 is followed with git, and refused in clear words without", async () => {
  const [native, isomorphic] = ADAPTERS;
  const options = { repository: { objectFormat: "sha256" } } as const;
  const world = await remoteWorld(native!, { a: "1" }, options);
  const reader = await world.reader();
  const { revision, tree } = await reader.resolve({});
  expect(revision).toBe(`main@sha256:${world.repository.head}`);
  expect(await filesOf(reader, tree)).toEqual({ a: "1" });
  const other = await remoteWorld(isomorphic!, { a: "1" }, options);
  await expect((await other.reader()).resolve({})).rejects.toThrow(failsWith("repository_unsupported", "sha256"));
});
