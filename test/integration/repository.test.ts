import { readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { answering, callFunction, pythonFunction, startTestApp } from "../support/embedded.ts";
import { eventually } from "../support/eventually.ts";
import { gitRepository } from "../support/git-repository.ts";

const ONE = pythonFunction("one", answering("old"));
const PUSH = { "functions/one/handler.py": answering("new") };

function untilAnswers(url: string, value: unknown) {
  return eventually(
    `it answers ${value}`,
    () => callFunction(url),
    ({ body }) => body === value,
  );
}

describe("a repository that", () => {
  it("disappears leaves what runs running and says so; back again, it is followed", async () => {
    const repository = await gitRepository(ONE);
    const { app, call, client, readyReason, synced } = await startTestApp(repository);
    await app.settled();
    await rename(repository.dir, `${repository.dir}-away`);
    await client.reconcile("test", { namespace: "default" });
    expect(await readyReason("GitOperationFailed")).toContain(repository.dir);
    expect(await call("one")).toEqual({ status: 200, body: "old" });

    await rename(`${repository.dir}-away`, repository.dir);
    await synced(await repository.commit("new", PUSH));
    expect(await call("one")).toEqual({ status: 200, body: "new" });
  });

  it("is replaced by another one at its place is followed there", async () => {
    const repository = await gitRepository(ONE);
    const other = await gitRepository({
      ...pythonFunction("one", answering("other")),
      "README.md": "another history\n",
    });
    const { app, call, synced } = await startTestApp(repository);
    await app.settled();
    await rm(repository.dir, { recursive: true });
    await rename(other.dir, repository.dir);
    await synced(other.head);
    expect(await call("one")).toEqual({ status: 200, body: "other" });
  });

  it.each([
    ["a blob", "HEAD:functions/one/handler.py"],
    ["a tree", "HEAD:functions/one"],
    ["a commit", "HEAD"],
  ])("lost %s says so and deletes nothing; mended, it is followed", async (_, what) => {
    const repository = await gitRepository({ ...ONE, ...pythonFunction("two", answering("2")) });
    const { app, call, client, readyReason, synced } = await startTestApp(repository);
    await app.settled();
    // Made aside, so that no sync sees the commit whole.
    await repository.git("checkout", "--quiet", "-b", "aside");
    const commit = await repository.commit("new", PUSH);
    const id = await repository.git("rev-parse", what);
    const path = join(repository.dir, ".git/objects", id.slice(0, 2), id.slice(2));
    await rename(path, `${path}-lost`);
    await writeFile(join(repository.dir, ".git/refs/heads/main"), `${commit}\n`);
    await client.reconcile("test", { namespace: "default" });
    expect(await readyReason("GitOperationFailed")).toContain(id);
    expect(await call("one")).toEqual({ status: 200, body: "old" });
    expect(await call("two")).toEqual({ status: 200, body: 2 });

    await rename(`${path}-lost`, path);
    await client.reconcile("test", { namespace: "default" });
    await synced(commit);
    await readyReason("ReconciliationSucceeded");
    expect(await call("one")).toEqual({ status: 200, body: "new" });
  });

  it("has a corrupt pack after a restart says so, and what ran runs; mended, it is followed", async () => {
    const repository = await gitRepository(ONE);
    const first = await startTestApp(repository);
    await first.app.settled();
    await first.app.close();
    const commit = await repository.commit("new", PUSH);
    await repository.git("gc", "--quiet");
    const folder = join(repository.dir, ".git/objects/pack");
    const pack = join(folder, (await readdir(folder)).find((name) => name.endsWith(".pack"))!);
    await rename(pack, `${pack}-good`);
    await writeFile(pack, "no pack");

    const { app, call, client, readyReason, synced } = await startTestApp(repository, { data: first.data });
    await readyReason("GitOperationFailed");
    await untilAnswers(`${app.url}/fn/default/one`, "old");
    await rename(`${pack}-good`, pack);
    await client.reconcile("test", { namespace: "default" });
    await synced(commit);
    await readyReason("ReconciliationSucceeded");
    expect(await call("one")).toEqual({ status: 200, body: "new" });
  });

  it("is forced to another history is followed there", async () => {
    const repository = await gitRepository(ONE);
    const { app, call, synced } = await startTestApp(repository);
    await app.settled();
    await repository.git("checkout", "--quiet", "--orphan", "anew");
    const commit = await repository.commit("anew", { "functions/one/handler.py": answering("forced") });
    await repository.git("branch", "--force", "main", "anew");
    await synced(commit);
    expect(await call("one")).toEqual({ status: 200, body: "forced" });
  });

  it.each([
    ["its branch", "aside", "main does not exist"],
    ["all its branches", undefined, "no commit yet"],
  ])("loses %s leaves what runs running and says so; pushed again, it is followed", async (_, other, words) => {
    const repository = await gitRepository(ONE, { bare: true });
    if (other) await repository.git("branch", other, "main");
    const { app, call, readyReason, synced } = await startTestApp(repository);
    await app.settled();
    await repository.git("update-ref", "-d", "refs/heads/main");
    expect(await readyReason("GitOperationFailed")).toContain(words);
    expect(await call("one")).toEqual({ status: 200, body: "old" });
    await synced(await repository.commit("new", PUSH));
    expect(await call("one")).toEqual({ status: 200, body: "new" });
  });

  it("is empty at first says so, and the first push is deployed", async () => {
    const repository = await gitRepository({}, { bare: true });
    const { call, readyReason, synced } = await startTestApp(repository);
    expect(await readyReason("GitOperationFailed")).toContain("no commit yet");
    await synced(await repository.commit("first", ONE));
    expect(await call("one")).toEqual({ status: 200, body: "old" });
  });

  it("is followed on another branch takes no notice of main", async () => {
    const repository = await gitRepository(ONE);
    await repository.git("checkout", "--quiet", "-b", "release/1.0");
    const commit = await repository.commit("release", { "functions/one/handler.py": answering("release") });
    await repository.git("checkout", "--quiet", "main");
    const { app, call, synced } = await startTestApp(repository, { branch: "release/1.0" });
    await app.settled();
    await synced(commit);
    expect(await call("one")).toEqual({ status: 200, body: "release" });
    await repository.commit("main goes on", PUSH);
    await repository.git("checkout", "--quiet", "release/1.0");
    await synced(await repository.commit("more", { "functions/one/handler.py": answering("more") }));
    expect(await call("one")).toEqual({ status: 200, body: "more" });
  });
});
