import { rename } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { SlessError } from "../../src/errors/index.ts";
import { reconcileRepository } from "../../src/sync/index.ts";
import { functionFolder, functionYaml, handler } from "../support/function-files.ts";
import { KEY, openGit, syncWorld } from "./sync-world.ts";

const YAML = "functions/hello/function.yaml";

describe("a repository that cannot be read", () => {
  it("a failed fetch deletes nothing, keeps what is applied, and says why (lesson 1)", async () => {
    let isFailing = false;
    const world = await syncWorld(functionFolder("hello"), {
      git: (git) => ({
        ...git,
        resolve: async (ref) => {
          if (isFailing) throw new SlessError("repository_unreachable", { url: "it", cause: "torn" });
          return git.resolve(ref);
        },
      }),
    });
    await world.sync();
    const applied = (await world.status()).lastAppliedRevision;
    isFailing = true;
    expect(await world.sync()).toEqual({ kind: "backOff" });
    expect(await world.ready()).toBe("False GitOperationFailed");
    expect(await world.status()).toMatchObject({ lastAppliedRevision: applied, inventory: { count: 2 } });
    expect((await world.status()).conditions?.map(({ type }) => type)).toEqual(["Ready", "Reconciling"]);
    expect(await world.names()).toHaveLength(2);
  });

  it("a failure that lasts is told once and written once", async () => {
    const world = await syncWorld(functionFolder("hello"));
    await world.sync();
    await rename(world.git.dir, `${world.git.dir}-away`);
    world.events.length = 0;
    world.writes();
    for (let run = 0; run < 3; run += 1) await world.sync();
    expect(world.writes()).toEqual(["status"]);
    expect(world.events.map(({ step }) => step)).toEqual(["failed"]);
    await rename(`${world.git.dir}-away`, world.git.dir);
    await world.sync();
    expect(await world.ready()).toBe("True ReconciliationSucceeded");
  });

  it("a repository that is replaced by another one at its place is followed", async () => {
    const world = await syncWorld(functionFolder("hello"));
    const other = await syncWorld(functionFolder("other"));
    await world.sync();
    await rename(world.git.dir, `${world.git.dir}-away`);
    await world.sync();
    await rename(other.git.dir, world.git.dir);
    await world.sync();
    expect(await world.names()).toContain("Function/demo/other");
    expect(await world.ready()).toBe("True ReconciliationSucceeded");
  });

  it("a corrupt repository keeps everything as it is, and recovers when it is mended", async () => {
    const world = await syncWorld(functionFolder("hello"));
    await world.sync();
    const commit = await world.git.commit("code", {
      "functions/hello/function.yaml": functionYaml("hello", { memoryMB: 256 }),
    });
    const blob = await world.git.git("rev-parse", `${commit}:${YAML}`);
    const file = join(world.git.dir, ".git/objects", blob.slice(0, 2), blob.slice(2));
    await rename(file, `${file}.away`);
    expect(await world.sync()).toEqual({ kind: "backOff" });
    expect(await world.ready()).toBe("False GitOperationFailed");
    expect(await world.names()).toHaveLength(2);
    await rename(`${file}.away`, file);
    await world.sync();
    expect((await world.get("Function", "hello"))!.spec.memoryMB).toBe(256);
  });

  it("a source file that cannot be read leaves the other functions to be deployed", async () => {
    let torn = "";
    const world = await syncWorld(
      { ...functionFolder("hello", "torn"), ...functionFolder("other", "whole") },
      {
        git: (git) => ({
          ...git,
          blobs: async (ids) => {
            if (ids.includes(torn)) throw new SlessError("object_missing", { id: torn, url: "it" });
            return git.blobs(ids);
          },
        }),
      },
    );
    torn = await world.git.git("rev-parse", "HEAD:functions/hello/handler.py");
    expect(await world.sync()).toEqual({ kind: "backOff" });
    expect(await world.ready()).toBe("False ArtifactFailed");
    expect(await world.names()).toEqual(["Function/demo/other", "Trigger/demo/hello-http", "Trigger/demo/other-http"]);
    expect(await world.status()).not.toHaveProperty("lastAppliedRevision");
    torn = "";
    await world.sync();
    expect(await world.names()).toContain("Function/demo/hello");
    expect(await world.ready()).toBe("True ReconciliationSucceeded");
  });

  it.each([
    ["5s", 5_000, "5s"],
    ["9999h", 900_000, "15m"],
  ])(
    "a repository that does not answer is given up after its timeout of %s, at the latest after 15m",
    async (timeout, ms, told) => {
      const world = await syncWorld(functionFolder("hello"), {
        spec: { timeout },
        git: (git) => ({ ...git, resolve: () => new Promise(() => {}) }),
      });
      const run = world.sync();
      while (world.clock.timers().length === 0) await new Promise(setImmediate);
      world.clock.advance(ms);
      expect(await run).toEqual({ kind: "backOff" });
      expect((await world.status()).conditions?.[0]?.message).toContain(`it did not answer within ${told}`);
    },
  );

  it("a path that is not there deletes nothing", async () => {
    const world = await syncWorld(functionFolder("hello"), { spec: { path: "functions" } });
    await world.sync();
    await world.git.git("mv", "functions", "elsewhere");
    await world.git.commit("move", {});
    await world.sync();
    expect(await world.ready()).toBe("False BuildFailed");
    expect(await world.names()).toHaveLength(2);
  });
});

it("every reader of Git that was opened is closed again", async () => {
  const open = new Set<number>();
  let count = 0;
  const world = await syncWorld(functionFolder("hello"));
  const deps = world.deps({
    openGit: async (repository) => {
      const git = await openGit(repository.spec.url);
      const id = ++count;
      open.add(id);
      const close = async () => {
        open.delete(id);
        await git.close();
      };
      return { ...git, close };
    },
  });
  await reconcileRepository(KEY, deps);
  await reconcileRepository(KEY, deps);
  expect(count).toBe(1);
  await rename(world.git.dir, `${world.git.dir}-away`);
  await reconcileRepository(KEY, deps);
  expect(open.size).toBe(0);
  await rename(`${world.git.dir}-away`, world.git.dir);
  await reconcileRepository(KEY, deps);
  await world.setSpec({ suspend: true });
  await reconcileRepository(KEY, deps);
  expect(open.size).toBe(0);
});

describe("what Git can do to a sync", () => {
  it("a force-push to a rewritten history is followed without the old commit (lesson 8)", async () => {
    const world = await syncWorld(functionFolder("hello"));
    await world.sync();
    await world.git.git("checkout", "--quiet", "--orphan", "rewritten");
    await world.git.commit("another beginning", { "functions/hello/handler.py": handler("rewritten") });
    await world.git.git("branch", "--quiet", "--force", "main", "rewritten");
    await world.git.git("checkout", "--quiet", "main");
    await world.git.git("reflog", "expire", "--expire=now", "--all");
    await world.git.git("gc", "--quiet", "--prune=now");
    await world.sync();
    expect(await world.ready()).toBe("True ReconciliationSucceeded");
    expect((await world.status()).lastAppliedRevision).toBe(`main@sha1:${await world.git.git("rev-parse", "HEAD")}`);
  });

  it("a deleted branch changes nothing, says why, and recovers when it is pushed again", async () => {
    const world = await syncWorld(functionFolder("hello"), { spec: { ref: { branch: "live" } } });
    await world.git.git("branch", "live");
    await world.sync();
    const names = await world.names();
    await world.git.git("branch", "-D", "live");
    expect(await world.sync()).toEqual({ kind: "backOff" });
    expect(await world.ready()).toBe("False GitOperationFailed");
    expect(await world.names()).toEqual(names);
    await world.git.git("branch", "live");
    await world.sync();
    expect(await world.ready()).toBe("True ReconciliationSucceeded");
  });

  it("an empty repository waits for its first commit", async () => {
    const world = await syncWorld({});
    expect(await world.sync()).toEqual({ kind: "after", ms: 60_000 });
    expect(await world.ready()).toBe("False GitOperationFailed");
    await world.git.commit("first", functionFolder("hello"));
    await world.sync();
    expect(await world.names()).toHaveLength(2);
  });

  it("a switch to another branch applies that branch", async () => {
    const world = await syncWorld({ ...functionFolder("hello"), ...functionFolder("other") });
    await world.sync();
    await world.git.git("checkout", "--quiet", "-b", "next");
    const commit = await world.git.commit("next", { "functions/hello/handler.py": handler("next") });
    await world.setSpec({ ref: { branch: "next" } });
    await world.sync();
    expect((await world.status()).lastAppliedRevision).toBe(`next@sha1:${commit}`);
  });

  it("a range of versions follows the newest tag in it, and what is no range stalls with the way out", async () => {
    const world = await syncWorld(functionFolder("hello"), { spec: { ref: { semver: "1.x" } } });
    expect(await world.sync()).toEqual({ kind: "backOff" });
    expect((await world.status()).conditions?.[0]?.message).toContain("a tag in the range 1.x");
    for (const tag of ["v1.2.0", "1.10.0-rc.1", "2.0.0", "not-a-version"]) await world.git.git("tag", tag);
    await world.sync();
    const first = `v1.2.0@sha1:${world.git.head}`;
    expect((await world.status()).lastAppliedRevision).toBe(first);
    const next = await world.git.commit("next", { "functions/hello/handler.py": handler("next") });
    await world.sync();
    expect((await world.status()).lastAppliedRevision).toBe(first);
    await world.git.git("tag", "--annotate", "--message=it", "v1.10.0");
    await world.git.git("pack-refs", "--all");
    await world.sync();
    expect((await world.status()).lastAppliedRevision).toBe(`v1.10.0@sha1:${next}`);
    await world.setSpec({ ref: { semver: "newest please" } });
    expect(await world.sync()).toEqual({ kind: "done" });
    expect((await world.status()).conditions?.map(({ type }) => type)).toEqual(["Ready", "Stalled"]);
  });
});
