import { join } from "node:path";
import { expect, it } from "vitest";
import { openLocalReader } from "../../src/app/open-git-reader.ts";
import { loadRuntimes } from "../../src/runtimes/index.ts";
import { createClient } from "../../src/server/client.ts";
import { findGit } from "../../src/source/index.ts";
import { answering, pythonFunction, startTestApp, type TestApp } from "../support/embedded.ts";
import { type GitRepository, gitRepository, isolatedGitEnvironment } from "../support/git-repository.ts";
import { testCli } from "../support/test-cli.ts";

const ROOT = join(import.meta.dirname, "../..");
const git = await findGit(process.env.PATH);

/** A verb against a running server, over HTTP, in a checkout of its repository. */
function sless(app: TestApp, repository: GitRepository, ...args: string[]) {
  const deps = {
    createClient,
    openGitReader: async (path: string) => openLocalReader({ repository: path, git }),
    loadRuntimes: () => loadRuntimes(join(ROOT, "runtimes")),
  };
  const env = isolatedGitEnvironment(repository.work);
  return testCli([...args, "--endpoint", app.app.url], { deps, cwd: repository.work, env });
}

const hello = (value: unknown, spec: Record<string, unknown> = {}) => pythonFunction("hello", answering(value), spec);

it("a roll-back is pushed, builds nothing and serves the old answer", async () => {
  const repository = await gitRepository(
    { ...hello("good"), ...pythonFunction("other", answering(1)) },
    { bare: true },
  );
  const app = await startTestApp(repository);
  await app.synced(repository.head);
  const bad = await repository.commit("bad", { ...hello("bad"), ...pythonFunction("other", answering(2)) });
  await app.synced(bad);
  expect((await app.call("hello")).body).toBe("bad");

  const history = JSON.parse((await sless(app, repository, "history", "hello", "-o", "json")).stdout).items;
  expect(history).toMatchObject([
    { number: 2, revision: `main@sha1:${bad}`, source_present: true, image_present: true },
    { number: 1, revision: `main@sha1:${repository.head}`, source_present: true, image_present: true },
  ]);
  const { code, stdout, stderr } = await sless(app, repository, "rollback", "hello");
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toContain("Its image is still there: `git push` deploys it.");
  expect((await app.call("hello")).body).toBe("bad");

  app.events.length = 0;
  await app.synced(await repository.commit("pushes what is committed", {}));
  expect((await app.call("hello")).body).toBe("good");
  expect((await app.call("other")).body).toBe(2);
  const built = app.events.filter(({ step }) => step === "built");
  expect(built).toMatchObject([{ object: { name: "hello" }, reused: true }]);
  expect(app.events.some(({ step }) => step === "stored")).toBe(false);

  const after = (await app.object<"Function">("functions", "hello")).status!.history!;
  expect(after.map(({ number }) => number)).toEqual([3, 2]);
  expect(after[0]!.imageRef).toBe(history[1].image_ref);
});

it("while a newer version fails, a roll-back goes to what serves", async () => {
  const repository = await gitRepository(hello("good"), { bare: true });
  const app = await startTestApp(repository);
  await app.synced(repository.head);
  await app.synced(await repository.commit("broken", { "functions/hello/handler.py": "import nothing_such\n" }));
  const failed = await app.object<"Function">("functions", "hello");
  expect(failed.status).toMatchObject({ phase: "Failed", history: [{ number: 1 }] });
  expect((await sless(app, repository, "rollback", "hello")).code).toBe(0);
  await app.synced(await repository.commit("pushes what is committed", {}));
  const mended = await app.object<"Function">("functions", "hello");
  expect(mended.status).toMatchObject({ phase: "Ready", history: [{ number: 1 }] });
});

it("a change of memory alone is no revision, and goes with the one that it was made on", async () => {
  const repository = await gitRepository(hello(1), { bare: true });
  const app = await startTestApp(repository);
  await app.synced(repository.head);
  const larger = await repository.commit("memory", hello(1, { memoryMB: 256 }));
  await app.synced(larger);
  const { status } = await app.object<"Function">("functions", "hello");
  expect(status!.history).toMatchObject([{ number: 1, revision: `main@sha1:${larger}` }]);
  await app.synced(await repository.commit("code", hello(2, { memoryMB: 512 })));
  await sless(app, repository, "rollback", "hello");
  await app.synced(await repository.commit("pushes what is committed", {}));
  expect((await app.object<"Function">("functions", "hello")).spec.memoryMB).toBe(256);
});
